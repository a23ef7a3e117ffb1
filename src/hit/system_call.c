/* SPDX-License-Identifier: Apache-2.0 */
#include "hit/system_call.h"

#include <trapline/event.h>

#include <string.h>
#include <sys/syscall.h>

#define BUFFER insn_arch.call_argument[1]
#define COUNT insn_arch.call_argument[2]
#define VECTORS_MAX 64 /* of a vectored call that are looked at */

enum shape {
	PLAIN,	 /* a buffer and its length */
	VECTORS, /* an array of struct iovec and their number */
	MESSAGE, /* a struct msghdr, which holds the two */
};

/* Others are not known to be plain copies: futex(2) works on its word
 * atomically. */
static const struct call {
	int number;
	unsigned access; /* to the thread's memory */
	enum shape shape;
} calls[] = {
	{SYS_read, TL_WRITE, PLAIN},	  {SYS_pread64, TL_WRITE, PLAIN},
	{SYS_recvfrom, TL_WRITE, PLAIN},  {SYS_readv, TL_WRITE, VECTORS},
	{SYS_recvmsg, TL_WRITE, MESSAGE}, {SYS_write, TL_READ, PLAIN},
	{SYS_pwrite64, TL_READ, PLAIN},	  {SYS_sendto, TL_READ, PLAIN},
	{SYS_writev, TL_READ, VECTORS},	  {SYS_sendmsg, TL_READ, MESSAGE},
};

static int call_number(const struct insn_memory *memory, uint64_t call_pc)
{
	uint8_t code[16];
	const uint8_t length = insn_arch.call_number_code;

	_Static_assert(sizeof(code) >= INSN_MAX_LENGTH, "as much as any one instruction");
	if (memory->read(memory->context, call_pc - length, code, length))
		return -1;
	return insn_arch.call_number_before(code);
}

static const struct call *find_call(const struct insn_memory *memory, uint64_t call_pc)
{
	int number = call_number(memory, call_pc);

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

/* The part of `buffer` that lies in `watched`; false: none. */
static bool cut(const struct insn_bytes *buffer, const struct insn_bytes *watched,
		struct insn_bytes *bytes)
{
	uint64_t first = buffer->address > watched->address ? buffer->address : watched->address;
	uint64_t end = buffer->address + buffer->length;

	if (end > watched->address + watched->length)
		end = watched->address + watched->length;
	if (first >= end)
		return false;
	*bytes = (struct insn_bytes){first, end - first};
	return true;
}

/* `moved`: how much the call copied, in the vectors' order. */
static bool cut_vectors(const struct insn_memory *memory, uint64_t vectors, uint64_t count,
			uint64_t moved, const struct insn_bytes *watched, struct insn_bytes *bytes)
{
	for (uint64_t i = 0; i < count && i < VECTORS_MAX && moved; i++) {
		struct insn_bytes vector; /* as struct iovec is: address, length */

		if (memory->read(memory->context, vectors + i * sizeof(vector), &vector,
				 sizeof(vector)))
			return false;
		if (vector.length > moved)
			vector.length = moved;
		if (cut(&vector, watched, bytes))
			return true;
		moved -= vector.length;
	}
	return false;
}

static bool cut_message(const struct insn_memory *memory, uint64_t message, uint64_t moved,
			const struct insn_bytes *watched, struct insn_bytes *bytes)
{
	uint64_t vectors[2]; /* msg_iov and msg_iovlen, behind msg_name and msg_namelen */

	return !memory->read(memory->context, message + 16, vectors, sizeof(vectors)) &&
	       cut_vectors(memory, vectors[0], vectors[1], moved, watched, bytes);
}

static bool cut_buffer(const struct call *call, const struct insn_registers *after,
		       const struct insn_memory *memory, const struct insn_bytes *watched,
		       struct insn_bytes *bytes)
{
	/* What failed may have copied a part before it did. */
	bool failed = (int64_t)after->general[insn_arch.call_result] < 0;
	uint64_t moved = failed ? UINT64_MAX : after->general[insn_arch.call_result];
	struct insn_bytes buffer = {after->general[BUFFER], after->general[COUNT]};

	switch (call->shape) {
	case VECTORS:
		return cut_vectors(memory, after->general[BUFFER], after->general[COUNT], moved,
				   watched, bytes);
	case MESSAGE:
		return cut_message(memory, after->general[BUFFER], moved, watched, bytes);
	default:
		/* recv() with MSG_TRUNC returns more than there was room for. */
		if (buffer.length > moved)
			buffer.length = moved;
		return cut(&buffer, watched, bytes);
	}
}

/* A thread's arguments are where it left them. NULL: it has not just returned from such a call. */
static const struct call *call_before(const struct insn_registers *after,
				      const struct insn_memory *memory)
{
	uint8_t code[sizeof(insn_arch.call_code)];
	const uint64_t call_pc = after->pc - insn_arch.call_length;

	if (!insn_arch.call_returned(after->general, after->pc) ||
	    memory->read(memory->context, call_pc, code, insn_arch.call_length) ||
	    memcmp(code, insn_arch.call_code, insn_arch.call_length) != 0)
		return NULL;
	return find_call(memory, call_pc);
}

bool system_call_copied(const struct insn_registers *after, const struct insn_memory *memory,
			const struct insn_bytes *watched, unsigned *access,
			struct insn_bytes *bytes)
{
	const struct call *call = call_before(after, memory);

	if (!call)
		return false;
	*access = call->access;
	if (!cut_buffer(call, after, memory, watched, bytes))
		*bytes = *watched;
	return true;
}

bool system_call_copied_within(const struct insn_registers *after, const struct insn_memory *memory,
			       const struct insn_bytes *within, struct insn_bytes *bytes)
{
	const struct call *call = call_before(after, memory);

	return call && cut_buffer(call, after, memory, within, bytes);
}
