/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an access was, to the byte. A load over its own base, mov (%rax),%rax, as compilers make
 * them without optimisation, leaves nothing to compute its address from. The controller takes it
 * for aligned then, since another thread may have changed what was loaded; around a guarded block
 * there is more to go by. Of what a system call copies the watches see their own bytes, in the
 * order in which the kernel looks at them; its arguments tell where it left the block.
 */
#include "heap/place.h"

#include "heap/state.h"
#include "hit/system_call.h"
#include "insn/insn.h"
#include "tool/registers.h"

#include <string.h>

#define WORD 8u

/* Of the first hit by the thread whose fault the watch is for, the kernel has told the first byte.
 */
static bool place_by_fault(const struct heap_watch *watch, struct tl_access *access)
{
	if (!watch->touched || access->tid != watch->toucher || !(access->access & TL_GUESSED))
		return false;
	access->address = watch->touched;
	access->access &= ~TL_GUESSED;
	return true;
}

/* A plain load of some bytes, of whose address nothing is left. */
static bool is_over_base(const struct heap *heap, const struct tl_access *access, struct insn *load)
{
	uint8_t code[INSN_MAX_LENGTH];
	ssize_t got = heap->services->read(heap->host, access->pid, access->pc, code, sizeof(code));
	const struct insn_operand *operand = &load->operand[0];

	if (got <= 0 || insn_decode(code, (size_t)got, access->pc, load) || !load->plain_move ||
	    load->operand_count != 1 || load->loaded < 0 || operand->size != access->length)
		return false;
	return (operand->base >= 0 && operand->base < INSN_GENERAL &&
		load->written_registers >> operand->base & 1) ||
	       (operand->index >= 0 && operand->index < INSN_GENERAL &&
		load->written_registers >> operand->index & 1);
}

static bool holds(const struct heap *heap, const struct tl_access *access, uint64_t address,
		  uint64_t value)
{
	uint8_t bytes[WORD];

	return heap->services->read(heap->host, access->pid, address, bytes, access->length) ==
		       (ssize_t)access->length &&
	       memcmp(bytes, &value, access->length) == 0;
}

/* What lies around a block is like nothing else: where the value that was loaded stands once among
 * the bytes that the watch can have been tripped by, it was loaded from there. Some of them may be
 * on the empty page behind. A thread that has gone on by the end of the search may have put the
 * value elsewhere. */
static void place_by_value(const struct heap *heap, const struct heap_watch *watch,
			   struct tl_access *access)
{
	uint64_t lowest = watch->address - access->length + 1, found = 0;
	unsigned matches = 0;
	struct insn load;

	if (access->length < 2 || access->length > WORD || !is_over_base(heap, access, &load))
		return;
	for (uint64_t at = lowest; at < watch->address + watch->length; at++) {
		if (!holds(heap, access, at, access->registers->general[load.loaded]))
			continue;
		found = at;
		matches++;
	}
	if (matches != 1)
		return;
	if (heap->services->held(heap->host))
		access->address = found;
	else
		heap->services->count(heap->host, "heap-places-late", 1);
}

void place_access(const struct heap *heap, struct heap_watch *watch, struct tl_access *access)
{
	bool placed = access->access & TL_KERNEL || access->traits & TL_TRAIT_UNEXPLAINED ||
		      place_by_fault(watch, access);

	watch->touched = 0;
	if (!placed && (access->access & (TL_READ | TL_WRITE)) == TL_READ && access->registers)
		place_by_value(heap, watch, access);
}

struct reading {
	const struct heap *heap;
	pid_t pid;
};

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	const struct reading *reading = context;

	return reading->heap->services->read(reading->heap->host, reading->pid, address, to,
					     length) == (ssize_t)length
		       ? 0
		       : -1;
}

/* Where an access to these bytes is wrong, on the side on which the hit was, as far as nothing else
 * stands there. */
static struct insn_bytes wrong_bytes(const struct tl_guarded *block, const struct tl_access *hit)
{
	uint64_t end = block->address + block->length, last = hit->address + hit->length;

	if (block->freed && block->ended.time && hit->address >= block->address &&
	    hit->address < end)
		return (struct insn_bytes){block->address, block->length};
	if (hit->address >= end)
		return (struct insn_bytes){end, (last > block->back ? last : block->back) - end};
	if (hit->address < block->address)
		return (struct insn_bytes){block->front, block->address - block->front};
	return (struct insn_bytes){0, 0};
}

/* Was that what the watch has seen? A call that failed may have copied a part. */
static bool is_sure(const struct insn_registers *after, const struct insn_bytes *copied,
		    const struct tl_access *seen)
{
	return (int64_t)after->general[insn_arch.call_result] >= 0 &&
	       copied->address < seen->address + seen->length &&
	       seen->address < copied->address + copied->length;
}

void place_call(const struct heap *heap, const struct tl_guarded *block, struct tl_access *access)
{
	struct reading reading = {heap, access->pid};
	struct insn_memory memory = {.read = read_memory, .context = &reading};
	struct insn_bytes wrong = wrong_bytes(block, access);
	struct system_call_copy copied, more;
	struct insn_registers after;
	int number;

	if (!(access->access & TL_KERNEL) || !access->registers || !wrong.length)
		return;
	after = tool_registers(access->registers, access->registers->pc);
	number = access->call_known ? access->call : system_call_number(&after, &memory);
	if (!system_call_copied_within(number, &after, &memory, &wrong, &copied))
		return;
	/* How far it went on. */
	wrong = (struct insn_bytes){copied.bytes.address, UINT64_MAX - copied.bytes.address};
	if (access->address >= block->address + block->length &&
	    system_call_copied_within(number, &after, &memory, &wrong, &more) &&
	    more.bytes.address == copied.bytes.address)
		copied.bytes.length = more.bytes.length;
	if (access->address != copied.bytes.address)
		access->value_known = false;
	access->traits |= TL_TRAIT_BOUNDED;
	access->access = TL_KERNEL | copied.access |
			 (is_sure(&after, &copied.bytes, access) ? 0 : access->access & TL_GUESSED);
	access->address = copied.bytes.address;
	access->length = copied.bytes.length;
}
