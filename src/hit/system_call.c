/* SPDX-License-Identifier: Apache-2.0 */
#include "hit/system_call.h"

#include <trapline/event.h>

#include <string.h>

#define VECTORS_MAX 64 /* of a vectored call that are looked at */

/* Registers as src/insn numbers them, by what the kernel's calling convention uses them for. */
enum { RESULT = 0, RETURN_ADDRESS = 1, COUNT = 2, BUFFER = 6 };

enum shape {
	PLAIN,	 /* a buffer and its length */
	VECTORS, /* an array of struct iovec and their number */
	MESSAGE, /* a struct msghdr, which holds the two */
};

/* By number (asm/unistd_64.h). Others are not known to be plain copies: futex(2) works on its word
 * atomically. */
static const struct call {
	int number;
	unsigned access; /* to the thread's memory */
	enum shape shape;
} calls[] = {
	{0, TL_WRITE, PLAIN},	 /* read */
	{17, TL_WRITE, PLAIN},	 /* pread64 */
	{45, TL_WRITE, PLAIN},	 /* recvfrom */
	{19, TL_WRITE, VECTORS}, /* readv */
	{47, TL_WRITE, MESSAGE}, /* recvmsg */
	{1, TL_READ, PLAIN},	 /* write */
	{18, TL_READ, PLAIN},	 /* pwrite64 */
	{44, TL_READ, PLAIN},	 /* sendto */
	{20, TL_READ, VECTORS},	 /* writev */
	{46, TL_READ, MESSAGE},	 /* sendmsg */
};

/* The number loaded just before the instruction: `mov $n,%eax` or, for 0, `xor %eax,%eax`. */
static int call_number(const struct insn_memory *memory, uint64_t syscall_pc)
{
	uint8_t bytes[5];
	int number;

	if (memory->read(memory->context, syscall_pc - 5, bytes, 5))
		return -1;
	if (bytes[0] == 0xb8) {
		memcpy(&number, bytes + 1, sizeof(number));
		return number;
	}
	return bytes[3] == 0x31 && bytes[4] == 0xc0 ? 0 : -1;
}

static const struct call *find_call(const struct insn_memory *memory, uint64_t syscall_pc)
{
	int number = call_number(memory, syscall_pc);

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
	bool failed = (int64_t)after->general[RESULT] < 0;
	uint64_t moved = failed ? UINT64_MAX : after->general[RESULT];
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

/*
 * Right after a system call rcx is the return address (the instruction leaves it there): then the
 * trap cannot have another cause, whatever else leads to this place. A thread's other arguments are
 * where it left them.
 */
bool system_call_copied(const struct insn_registers *after, const struct insn_memory *memory,
			const struct insn_bytes *watched, unsigned *access,
			struct insn_bytes *bytes)
{
	const struct call *call;
	uint8_t code[2];

	if (after->general[RETURN_ADDRESS] != after->pc ||
	    memory->read(memory->context, after->pc - 2, code, 2) || code[0] != 0x0f ||
	    code[1] != 0x05)
		return false;
	call = find_call(memory, after->pc - 2);
	if (!call)
		return false;
	*access = call->access;
	if (!cut_buffer(call, after, memory, watched, bytes))
		*bytes = *watched;
	return true;
}
