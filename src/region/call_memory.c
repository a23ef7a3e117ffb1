/* SPDX-License-Identifier: Apache-2.0 */
#include "region/call_memory.h"

#include "base/call_arguments.h"
#include "base/syscall.h"
#include "region/copy.h"

#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <trapline/event.h>

#define LONGEST_STRING 4096 /* PATH_MAX */
#define STRING_PIECE 256
#define IOV_PIECE 8
#define IOV_LIMIT 1024 /* UIO_MAXIOV */

struct walk {
	const struct region_call *call;
	region_call_visitor *visit;
	void *context;
};

static void visit(const struct walk *walk, uintptr_t first, size_t length, unsigned access)
{
	if (first && length && first + length > first)
		walk->visit(walk->context, first, length, access);
}

/* Bytes the call has moved as its result says; without limit while it is pending. */
static size_t moved(const struct region_call *call, size_t unit)
{
	if (call->result == REGION_CALL_PENDING)
		return SIZE_MAX;
	return raw_failed((long)call->result) ? 0 : (size_t)call->result * unit;
}

static size_t at_most(size_t length, size_t limit)
{
	return length < limit ? length : limit;
}

/* While pending the longest; afterwards, where it does not matter for its length to be read, too.
 */
static size_t string_length(const struct region_call *call, uintptr_t at)
{
	char piece[STRING_PIECE];
	size_t length = 0;

	if (call->result == REGION_CALL_PENDING)
		return LONGEST_STRING;
	while (length < LONGEST_STRING) {
		size_t want = STRING_PIECE - (at + length) % STRING_PIECE;

		if (!region_copy_from(piece, at + length, want))
			return length;
		for (size_t i = 0; i < want; i++)
			if (!piece[i])
				return length + i + 1;
		length += want;
	}
	return length;
}

static void walk_vector(const struct walk *walk, uintptr_t at, size_t count, unsigned access)
{
	struct iovec piece[IOV_PIECE];
	size_t left = moved(walk->call, 1);

	count = at_most(count, IOV_LIMIT);
	visit(walk, at, count * sizeof(piece[0]), TL_READ);
	while (count && left) {
		size_t here = at_most(count, IOV_PIECE);

		if (!region_copy_from(piece, at, here * sizeof(piece[0])))
			return;
		for (size_t i = 0; i < here && left; i++) {
			size_t length = at_most(piece[i].iov_len, left);

			visit(walk, (uintptr_t)piece[i].iov_base, length, access);
			left -= left == SIZE_MAX ? 0 : length;
		}
		at += here * sizeof(piece[0]);
		count -= here;
	}
}

/* recvmsg(2) writes the lengths of what it filled back to the header. */
static void walk_message(const struct walk *walk, uintptr_t at, unsigned access)
{
	struct msghdr header;

	visit(walk, at, sizeof(header), access == TL_WRITE ? TL_READ | TL_WRITE : TL_READ);
	if (!region_copy_from(&header, at, sizeof(header)) || raw_failed((long)walk->call->result))
		return;
	visit(walk, (uintptr_t)header.msg_name, header.msg_namelen, access);
	visit(walk, (uintptr_t)header.msg_control, header.msg_controllen, access);
	walk_vector(walk, (uintptr_t)header.msg_iov, header.msg_iovlen, access);
}

static void walk_argument(const struct walk *walk, const struct call_argument *memory)
{
	const struct region_call *call = walk->call;
	uintptr_t at = call->argument[memory->pointer];
	uint64_t count = call->argument[memory->count];
	unsigned access = memory->access;
	uint32_t word = 0;

	/* A call that failed has written nothing, as far as can be told. */
	if (!at || !call_argument_is_used(call->number, memory, call->argument, call->result) ||
	    (raw_failed((long)call->result) && !(access &= TL_READ)))
		return;
	switch (memory->extent) {
	case CALL_FIXED:
		visit(walk, at, memory->size, access);
		break;
	case CALL_COUNTED:
		visit(walk, at, count * memory->size, access);
		break;
	case CALL_RETURNED:
		visit(walk, at, at_most(count * memory->size, moved(call, memory->size)), access);
		break;
	case CALL_VARIABLE:
		if (region_copy_from(&word, count, sizeof(word)))
			visit(walk, at, call_variable_length(at, count, word), access);
		break;
	case CALL_STRING:
		visit(walk, at, string_length(call, at), access);
		break;
	case CALL_VECTOR:
		walk_vector(walk, at, count, access);
		break;
	case CALL_MESSAGE:
		walk_message(walk, at, access);
		break;
	case CALL_BITS:
		visit(walk, at, (count + 63) / 64 * 8, access);
		break;
	}
}

/* Waking compares nothing: the kernel only uses the address (private) or looks up its page. */
static void walk_futex(const struct walk *walk)
{
	const uint64_t *argument = walk->call->argument;

	switch (argument[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		visit(walk, argument[3], CALL_TIMESPEC, TL_READ);
		visit(walk, argument[0], 4, TL_READ);
		break;
	case FUTEX_CMP_REQUEUE:
		visit(walk, argument[0], 4, TL_READ);
		break;
	case FUTEX_WAKE_OP:
		visit(walk, argument[4], 4, TL_READ | TL_WRITE);
		break;
	case FUTEX_LOCK_PI:
	case FUTEX_TRYLOCK_PI:
	case FUTEX_UNLOCK_PI:
		visit(walk, argument[0], 4, TL_READ | TL_WRITE);
		break;
	}
}

bool region_call_memory(const struct region_call *call, region_call_visitor *visitor, void *context)
{
	const struct call_argument *arguments = call_arguments(call->number);
	struct walk walk = {call, visitor, context};

	if (call->number == SYS_futex) {
		walk_futex(&walk);
		return true;
	}
	if (!arguments)
		return false;
	for (int i = 0; i < CALL_ARGUMENTS; i++)
		walk_argument(&walk, &arguments[i]);
	return true;
}

bool region_call_maps(const struct region_call *call, uintptr_t *start, size_t *length)
{
	bool pending = call->result == REGION_CALL_PENDING;

	if ((call->number != SYS_mmap && call->number != SYS_mremap) ||
	    raw_failed((long)call->result))
		return false;
	/* Where, only the result tells. */
	*start = pending ? 0 : (uintptr_t)call->result;
	*length = pending ? SIZE_MAX : call->argument[call->number == SYS_mmap ? 1 : 2];
	return true;
}
