/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/attribution.h"

#include "base/syscall.h"
#include "trap/registers.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <string.h>
#include <trapline/event.h>

/*
 * A watchpoint is hit at few places and often: what was found out about a place is kept, in one
 * atomic word, so that a torn entry cannot be: 56 bits of pc, 4 of the previous instruction's
 * length, 4 of how many bytes beyond pc belong to the function. The previous instruction is decoded
 * again at every hit, so code that was replaced meanwhile is noticed by its bytes.
 */
#define CACHE_SIZE 4096

static uint64_t cache[CACHE_SIZE];

struct lookup {
	uintptr_t pc;
	uintptr_t start, end; /* bounds last found: their bytes are mapped and readable */
	bool cached;	      /* the cache may be asked */
	bool served;	      /* and had the answer */
};

static uint64_t *cache_entry(uintptr_t pc)
{
	return &cache[(pc ^ pc >> 12) % CACHE_SIZE];
}

static bool cache_find(uintptr_t pc, uintptr_t *start, uintptr_t *end)
{
	uint64_t word = __atomic_load_n(cache_entry(pc), __ATOMIC_RELAXED);

	if (word >> 8 != pc)
		return false;
	*start = pc - (word >> 4 & 15);
	*end = pc + (word & 15);
	return true;
}

static void cache_store(uintptr_t pc, uintptr_t previous, uintptr_t end)
{
	uint64_t beyond = end > pc ? end - pc : 0;

	if (pc - previous > INSN_MAX_LENGTH || pc >> 56)
		return;
	__atomic_store_n(cache_entry(pc),
			 (uint64_t)pc << 8 | (pc - previous) << 4 | (beyond > 15 ? 15 : beyond),
			 __ATOMIC_RELAXED);
}

static int find_bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
	struct lookup *lookup = context;
	uintptr_t first, last;

	if (pc == lookup->pc && lookup->cached && cache_find(pc, &first, &last)) {
		lookup->start = first;
		lookup->end = last;
		lookup->served = true;
	} else {
		int err = unwind_function_bounds(pc, &first, &last);

		if (err)
			return err;
		lookup->start = first;
		lookup->end = last;
	}
	*start = first;
	*end = last;
	return 0;
}

/* The watched bytes must not be touched by a handler, so data is read through the kernel. */
static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	const struct lookup *lookup = context;
	ssize_t got;

	if (address >= lookup->start && address + length <= lookup->end) {
		memcpy(to, (const void *)(uintptr_t)address, length);
		return 0;
	}
	got = raw_read_memory(raw_getpid(), to, address, length);
	if (got < 0)
		return (int)got;
	return (size_t)got == length ? 0 : -EFAULT;
}

static void attribute(struct lookup *lookup, const struct insn_registers *registers,
		      uintptr_t watched, size_t length, unsigned wanted, struct insn_access *access)
{
	struct insn_memory memory = {read_memory, find_bounds, lookup};

	lookup->start = lookup->end = 0;
	insn_attribute(registers, watched, length, wanted, &memory, access);
}

void attribution_find(const ucontext_t *context, uintptr_t watched, size_t length, unsigned wanted,
		      struct insn_access *access)
{
	struct insn_registers registers;
	struct insn_extended extended;
	struct lookup lookup = {.cached = true};

	registers_from_context(context, &registers, &extended);
	lookup.pc = registers.pc;
	attribute(&lookup, &registers, watched, length, wanted, access);
	if (access->access & TL_GUESSED && lookup.served) {
		lookup.cached = false;
		lookup.served = false;
		attribute(&lookup, &registers, watched, length, wanted, access);
	}
	if (!lookup.served && access->decoded && !(access->access & (TL_GUESSED | TL_KERNEL)) &&
	    access->pc + access->insn.length == registers.pc && lookup.start <= access->pc)
		cache_store(registers.pc, access->pc, lookup.end);
}

unsigned attribution_also_touches(const ucontext_t *context, const struct insn_access *access,
				  uintptr_t first, size_t length)
{
	struct insn_registers registers;
	struct insn_extended extended;
	unsigned kinds = 0;

	if (!access->decoded || access->access & TL_KERNEL)
		return 0;
	registers_from_context(context, &registers, &extended);
	/* Operands relative to pc count from the end of the instruction, even where it jumped. */
	registers.pc = access->pc + access->insn.length;
	for (unsigned i = 0; i < access->insn.operand_count; i++) {
		uint64_t begin, bytes;

		if (insn_operand_after(&access->insn, i, &registers, &begin, &bytes))
			continue;
		if (begin < first + length && first < begin + bytes)
			kinds |= access->insn.operand[i].access;
	}
	return kinds;
}
