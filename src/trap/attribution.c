/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/attribution.h"

#include "base/syscall.h"
#include "signal/registers.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <string.h>
#include <trapline/event.h>

/*
 * A watchpoint is hit often, by few instructions: what was found out about a pc is cached in one
 * atomic word, so that no entry can be torn: 56 bits of pc, 4 of the previous instruction's length,
 * 3 of how many bytes beyond pc belong to the function (rounded down), 1 whether pc is reached
 * plainly. The previous instruction is decoded again at every hit, so code that was replaced
 * meanwhile is noticed by its bytes.
 */
#define CACHE_SIZE 4096

static uint64_t cache[CACHE_SIZE];

static const uint8_t bytes_beyond[8] = {0, 1, 2, 4, 6, 8, 12, 15};

struct lookup {
	uintptr_t pc;
	uintptr_t start, end; /* bounds last found: their bytes are mapped and readable */
	bool served;	      /* `start` and `end` came from the cache and lie around pc */
	bool reached_plainly;
};

static uint64_t *cache_entry(uintptr_t pc)
{
	return &cache[(pc ^ pc >> 12) % CACHE_SIZE];
}

static bool cache_find(struct lookup *lookup)
{
	uint64_t word = __atomic_load_n(cache_entry(lookup->pc), __ATOMIC_RELAXED);

	if (word >> 8 != lookup->pc)
		return false;
	lookup->start = lookup->pc - (word >> 4 & 15);
	lookup->end = lookup->pc + bytes_beyond[word >> 1 & 7];
	lookup->reached_plainly = word & 1;
	return true;
}

static void cache_store(uintptr_t pc, uintptr_t previous, uintptr_t end, bool reached_plainly)
{
	uint64_t beyond = end > pc ? end - pc : 0;
	unsigned code = 7;

	if (pc - previous > INSN_MAX_LENGTH || pc >> 56)
		return;
	while (bytes_beyond[code] > beyond)
		code--;
	__atomic_store_n(cache_entry(pc),
			 (uint64_t)pc << 8 | (pc - previous) << 4 | code << 1 | reached_plainly,
			 __ATOMIC_RELAXED);
}

static int find_bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
	struct lookup *lookup = context;
	uintptr_t first, last;
	int err;

	/* Nothing to look up where the last question was about the same pc, or attribute() found
	 * the bounds in the cache. */
	if (!(lookup->served && pc == lookup->pc)) {
		err = unwind_function_bounds(pc, &first, &last);
		if (err)
			return err;
		lookup->start = first;
		lookup->end = last;
		lookup->served = false;
	}
	*start = lookup->start;
	*end = lookup->end;
	return 0;
}

/* Data is read through the kernel: a handler must not touch the watched bytes, and any address may
 * be asked for, since what lies on top of the stack is tried as a return address. */
static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	const struct lookup *lookup = context;
	ssize_t got;

	if (address >= lookup->start && address < lookup->end && length <= lookup->end - address) {
		memcpy(to, (const void *)(uintptr_t)address, length);
		return 0;
	}
	got = raw_read_memory(to, address, length);
	if (got < 0)
		return (int)got;
	return (size_t)got == length ? 0 : -EFAULT;
}

static void attribute(struct lookup *lookup, const struct insn_registers *registers,
		      uintptr_t watched, size_t length, unsigned wanted, struct insn_access *access)
{
	struct insn_memory memory = {read_memory, find_bounds, lookup, lookup->reached_plainly};

	insn_attribute(registers, watched, length, wanted, &memory, access);
}

static void remember(struct lookup *lookup, const struct insn_access *access)
{
	struct insn_memory memory = {read_memory, find_bounds, lookup, false};
	bool reached_plainly;

	if (!access->decoded || access->access & (TL_GUESSED | TL_KERNEL) ||
	    access->pc + access->insn.length != lookup->pc)
		return;
	reached_plainly = insn_reached_plainly(&memory, lookup->pc);
	if (lookup->start <= access->pc && lookup->pc <= lookup->end)
		cache_store(lookup->pc, access->pc, lookup->end, reached_plainly);
}

void attribution_find(const ucontext_t *context, uintptr_t watched, size_t length, unsigned wanted,
		      struct insn_access *access)
{
	struct insn_registers registers;
	struct insn_extended extended;
	struct lookup lookup = {0};
	bool cached;

	registers_from_context(context, &registers, &extended);
	lookup.pc = registers.pc;
	cached = lookup.served = cache_find(&lookup);
	attribute(&lookup, &registers, watched, length, wanted, access);
	if (cached && access->access & TL_GUESSED) {
		lookup = (struct lookup){.pc = registers.pc};
		attribute(&lookup, &registers, watched, length, wanted, access);
		cached = false;
	}
	if (!cached)
		remember(&lookup, access);
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
	registers.pc = access->pc + (insn_arch.traps_after ? access->insn.length : 0);
	for (unsigned i = 0; i < access->insn.operand_count; i++) {
		uint64_t begin, bytes;

		if (insn_operand_trapped(&access->insn, i, &registers, &begin, &bytes))
			continue;
		if (begin < first + length && first < begin + bytes)
			kinds |= access->insn.operand[i].access;
	}
	return kinds;
}
