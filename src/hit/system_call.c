/* SPDX-License-Identifier: Apache-2.0 */
#include "hit/system_call.h"

#include "base/call_arguments.h"

#include <trapline/event.h>

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/syscall.h>

#define DESCRIPTOR 0	 /* the argument's number, of all that send */
#define PARTS_MAX 64	 /* vectors and messages of one call that are looked at */
#define MESSAGE_BYTES 56 /* of struct msghdr; struct mmsghdr has the message's length behind it */
#define MESSAGES_STRIDE 64

enum shape {
	PLAIN,	  /* a buffer and its length */
	ADDRESS,  /* the same, and the peer's address by the fifth and sixth argument */
	VECTORS,  /* an array of struct iovec and their number */
	MESSAGE,  /* a struct msghdr, which holds the two */
	MESSAGES, /* an array of struct mmsghdr and their number */
};

/* These move data, whose extent the result tells. What others read or write is in the table of
 * base/call_arguments.h. futex(2), which works on its word atomically, is in neither. */
static const struct call {
	int number;
	unsigned access; /* to the thread's buffers */
	enum shape shape;
	uint8_t at; /* the argument's number */
} calls[] = {
#ifdef SYS_readlink /* older architectures */
	{SYS_getdents, TL_WRITE, PLAIN, 1},   {SYS_readlink, TL_WRITE, PLAIN, 1},
#endif
	{SYS_read, TL_WRITE, PLAIN, 1},	      {SYS_pread64, TL_WRITE, PLAIN, 1},
	{SYS_getdents64, TL_WRITE, PLAIN, 1}, {SYS_readlinkat, TL_WRITE, PLAIN, 2},
	{SYS_getcwd, TL_WRITE, PLAIN, 0},     {SYS_getrandom, TL_WRITE, PLAIN, 0},
	{SYS_recvfrom, TL_WRITE, ADDRESS, 1}, {SYS_readv, TL_WRITE, VECTORS, 1},
	{SYS_preadv, TL_WRITE, VECTORS, 1},   {SYS_preadv2, TL_WRITE, VECTORS, 1},
	{SYS_recvmsg, TL_WRITE, MESSAGE, 1},  {SYS_recvmmsg, TL_WRITE, MESSAGES, 1},
	{SYS_write, TL_READ, PLAIN, 1},	      {SYS_pwrite64, TL_READ, PLAIN, 1},
	{SYS_sendto, TL_READ, ADDRESS, 1},    {SYS_writev, TL_READ, VECTORS, 1},
	{SYS_pwritev, TL_READ, VECTORS, 1},   {SYS_pwritev2, TL_READ, VECTORS, 1},
	{SYS_sendmsg, TL_READ, MESSAGE, 1},   {SYS_sendmmsg, TL_READ, MESSAGES, 1},
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

static const struct call *find_call(int number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

/* The search for the first of a call's accesses that touches what is watched. */
struct search {
	const struct call *call; /* NULL: the call is none that moves data */
	const struct call_argument
		*argument; /* of a call that moves none; NULL: the call is not known at all */
	const struct insn_registers *after;
	const struct insn_memory *memory;
	const struct insn_bytes *watched;
	bool failed; /* the call did, perhaps after it had copied a part */
	bool whole;  /* search all of each buffer, not only as much as the result says was copied */
	bool blind;  /* not all of what describes the accesses could be read */
	bool mixed;  /* a call that moves no data has both read and written there */
	bool both;   /* what is read and then written counts, too */
	bool found;
	unsigned wanted; /* TL_READ, TL_WRITE: others do not count */
	int number;
	struct system_call_copy copy; /* of the part in what is watched */
};

static uint64_t argument(const struct search *search, unsigned number)
{
	return search->after->general[insn_arch.call_argument[number]];
}

static bool get(struct search *search, uint64_t address, void *to, size_t length)
{
	if (!search->memory->read(search->memory->context, address, to, length))
		return true;
	search->blind = true;
	return false;
}

static void meet(struct search *search, uint64_t address, uint64_t length, unsigned access)
{
	const struct insn_bytes *watched = search->watched;
	uint64_t first = address > watched->address ? address : watched->address;
	uint64_t end = length < UINT64_MAX - address ? address + length : UINT64_MAX;

	if (end > watched->address + watched->length)
		end = watched->address + watched->length;
	if (first >= end || !(access & search->wanted))
		return;
	if (search->found) {
		search->mixed |= search->argument && access != search->copy.access;
		return;
	}
	search->found = true;
	search->copy = (struct system_call_copy){.access = access, .bytes = {first, end - first}};
}

/* Of the data that the call moves; other accesses are to what describes these. */
static void meet_content(struct search *search, uint64_t address, uint64_t length)
{
	bool before = search->found;

	meet(search, address, length, search->call->access);
	if (search->found && !before)
		search->copy.content = !search->whole;
}

/* `moved`: how much the call copied, in the vectors' order. */
static void meet_vectors(struct search *search, uint64_t vectors, uint64_t count, uint64_t moved)
{
	struct insn_bytes vector; /* as struct iovec is: address, length */
	uint64_t i;

	for (i = 0; i < count && i < PARTS_MAX && moved; i++) {
		if (!get(search, vectors + i * sizeof(vector), &vector, sizeof(vector)))
			break;
		if (vector.length > moved)
			vector.length = moved;
		meet_content(search, vector.address, vector.length);
		moved -= vector.length;
	}
	search->blind |= moved && i == PARTS_MAX && count > i;
	if (count <= IOV_MAX)
		meet(search, vectors, count * sizeof(vector), TL_READ);
}

/* A call that receives writes the lengths of the address and of the ancillary data, and flags. */
static void meet_message(struct search *search, uint64_t message, uint64_t moved)
{
	uint64_t word[MESSAGE_BYTES / 8]; /* struct msghdr */

	if (get(search, message, word, sizeof(word))) {
		meet_vectors(search, word[2], word[3], moved);
		meet(search, word[0],
		     word[0] ? call_variable_length(word[0], message + 8, (uint32_t)word[1]) : 0,
		     search->call->access);
		meet(search, word[4], word[4] ? word[5] : 0, search->call->access);
		if (search->call->access == TL_WRITE && !search->failed) {
			meet(search, message + 8, word[0] ? 4 : 0, TL_WRITE);
			meet(search, message + 40, 12, TL_WRITE);
		}
	}
	/* Not its padding, nor the flags, which it does not look at. */
	meet(search, message, 12, TL_READ);
	meet(search, message + 16, 32, TL_READ);
}

/* The result is how many messages were copied; each has its length beside it then. */
static void meet_messages(struct search *search, uint64_t messages, uint64_t count, uint64_t done)
{
	search->blind |= count > PARTS_MAX;
	for (uint64_t i = 0; i < count && i < PARTS_MAX; i++) {
		uint64_t message = messages + i * MESSAGES_STRIDE;
		uint32_t moved = 0;

		if (!search->whole && i >= done)
			return;
		if (i < done && !get(search, message + MESSAGE_BYTES, &moved, sizeof(moved)))
			return;
		meet_message(search, message, search->whole ? UINT64_MAX : moved);
		meet(search, message + MESSAGE_BYTES, i < done ? sizeof(moved) : 0, TL_WRITE);
	}
}

static void meet_plain(struct search *search, uint64_t buffer, uint64_t length, uint64_t moved)
{
	/* recv() with MSG_TRUNC returns more than there was room for. */
	meet_content(search, buffer, length < moved ? length : moved);
}

static void meet_address(struct search *search)
{
	uint64_t peer = argument(search, 4), length = argument(search, 5);
	uint32_t received;

	if (!peer)
		return;
	if (search->call->access == TL_READ) {
		meet(search, peer, (uint32_t)length, TL_READ);
	} else if (length && get(search, length, &received, sizeof(received))) {
		meet(search, peer, call_variable_length(peer, length, received), TL_WRITE);
		meet(search, length, sizeof(received), search->failed ? TL_READ : TL_WRITE);
	}
}

/* A string's end is not looked for: the kernel copies it by whole words. */
static uint64_t extent_of(struct search *search, const struct call_argument *memory)
{
	uint64_t address = argument(search, memory->pointer);
	uint64_t count = argument(search, memory->count);
	uint64_t result = search->after->general[insn_arch.call_result];
	uint64_t length = 0;
	uint32_t word = 0;

	switch (memory->extent) {
	case CALL_FIXED:
		return memory->size;
	case CALL_VARIABLE:
		return get(search, count, &word, sizeof(word))
			       ? call_variable_length(address, count, word)
			       : 0;
	case CALL_RETURNED:
		if (!search->whole && result < count)
			count = result;
		__attribute__((fallthrough));
	case CALL_COUNTED:
		return __builtin_mul_overflow(count, memory->size, &length) ? UINT64_MAX : length;
	default:
		return 0;
	}
}

static bool is_used(const struct search *search, const struct call_argument *memory)
{
	uint64_t arguments[INSN_SYSTEM_CALL_ARGUMENTS];

	for (unsigned i = 0; i < INSN_SYSTEM_CALL_ARGUMENTS; i++)
		arguments[i] = argument(search, i);
	return call_argument_is_used((uint64_t)search->number, memory, arguments,
				     (int64_t)search->after->general[insn_arch.call_result]);
}

static void meet_argument(struct search *search, const struct call_argument *memory)
{
	uint64_t address = argument(search, memory->pointer);
	bool both = memory->access == (TL_READ | TL_WRITE);

	if (address && memory->access && (!both || search->both) && is_used(search, memory))
		meet(search, address, extent_of(search, memory), memory->access);
}

static void look(struct search *search)
{
	const unsigned at = search->call ? search->call->at : 0;
	uint64_t result = search->after->general[insn_arch.call_result];
	uint64_t moved = search->whole ? UINT64_MAX : result;

	for (unsigned i = 0; search->argument && i < CALL_ARGUMENTS; i++)
		meet_argument(search, &search->argument[i]);
	if (!search->call)
		return;
	switch (search->call->shape) {
	case ADDRESS:
		meet_plain(search, argument(search, at), argument(search, at + 1), moved);
		meet_address(search);
		break;
	case VECTORS:
		meet_vectors(search, argument(search, at), argument(search, at + 1), moved);
		break;
	case MESSAGE:
		meet_message(search, argument(search, at), moved);
		break;
	case MESSAGES:
		meet_messages(search, argument(search, at), argument(search, at + 1),
			      search->failed ? 0 : result);
		break;
	default:
		meet_plain(search, argument(search, at), argument(search, at + 1), moved);
		break;
	}
}

int system_call_number(const struct insn_registers *after, const struct insn_memory *memory)
{
	uint8_t code[sizeof(insn_arch.call_code)];
	const uint64_t call_pc = after->pc - insn_arch.call_length;
	int number;

	if (!insn_arch.call_returned(after->general, after->pc) ||
	    memory->read(memory->context, call_pc, code, insn_arch.call_length) ||
	    memcmp(code, insn_arch.call_code, insn_arch.call_length) != 0)
		return -ENOENT;
	number = call_number(memory, call_pc);
	return number < 0 ? -ENODATA : number;
}

/* The argument registers still hold what the thread called with. False: the thread has not just
 * returned from a call that is known. */
static bool begin(struct search *search, int number, const struct insn_registers *after,
		  const struct insn_memory *memory, const struct insn_bytes *watched)
{
	*search = (struct search){.after = after,
				  .memory = memory,
				  .watched = watched,
				  .wanted = TL_READ | TL_WRITE,
				  .number = number};
	if (number < 0)
		return false;
	search->call = find_call(number);
	search->argument = search->call ? NULL : call_arguments((unsigned)number);
	search->failed = (int64_t)after->general[insn_arch.call_result] < 0;
	search->whole = search->failed;
	return search->call || search->argument;
}

bool system_call_copied_by(int number, const struct insn_registers *after,
			   const struct insn_memory *memory, const struct insn_bytes *watched,
			   unsigned wanted, struct system_call_copy *copy)
{
	struct search search;

	if (!begin(&search, number, after, memory, watched))
		return false;
	search.wanted = wanted;
	look(&search);
	/* The kernel may copy more than the result says, as where a message is cut off. */
	search.whole = true;
	look(&search);
	if (search.mixed ||
	    (!search.found && !(search.call && search.blind && search.call->access & wanted)))
		return false;
	*copy = search.copy;
	if (!search.found)
		*copy = (struct system_call_copy){.access = search.call->access, .bytes = *watched};
	return true;
}

bool system_call_copied_within(int number, const struct insn_registers *after,
			       const struct insn_memory *memory, const struct insn_bytes *within,
			       struct system_call_copy *copy)
{
	struct search search;

	if (!begin(&search, number, after, memory, within))
		return false;
	search.both = true;
	look(&search);
	*copy = search.copy;
	return search.found;
}

int system_call_sent_by(int number, const struct insn_registers *after,
			const struct insn_memory *memory)
{
	struct search search;

	if (!begin(&search, number, after, memory, NULL) || !search.call ||
	    search.call->access != TL_READ || (int64_t)after->general[insn_arch.call_result] <= 0)
		return -1;
	return (int)argument(&search, DESCRIPTOR);
}
