/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is a value that is stored what its load has loaded last? Not where a loop loads many and keeps
 * one:
 *
 *	for (i = 0; i < n; i++) { x = *p++; if (i == 1) kept = x; }
 *	stored = kept;
 *
 * Backwards from the store along every way, one at a time, with the registers that hold the value
 * there: a way that passes the load while they hold it already, and comes to the load again as what
 * has made it, is such a loop.
 */
#include "slice/passes.h"

#include "slice/code.h"

#include <string.h>

#define RAX 0
#define RCX 1
#define RSP 4
#define R11 11

static void chain(struct flow_slice_work *work, uint16_t from, uint16_t to, unsigned way)
{
	if (to == SLICE_NOWHERE)
		return;
	work->before[way][from] = work->chain[to];
	work->chain[to] = (uint16_t)(2 * from + way);
}

/* Makes, for each instruction, the chain of those that lead to it. An element is twice the index of
 * such an instruction, plus 1 if it jumps there. */
static void find_ways(struct flow_slice_work *work, uint64_t start)
{
	_Static_assert(2 * FLOW_SLICE_INSNS < SLICE_NOWHERE, "elements of chains have 16 bits");
	memset(work->chain, 0xff, sizeof(work->chain));
	for (unsigned i = 0; i < work->count; i++) {
		const struct insn *insn = &work->effect[i].insn;

		if (slice_falls_through(insn))
			chain(work, (uint16_t)i,
			      slice_index(work, start, work->pc[i] + insn->length), 0);
		if (insn->flow == INSN_FLOW_BRANCH)
			chain(work, (uint16_t)i, slice_index(work, start, (uint64_t)insn->target),
			      1);
	}
}

/* Does the result leave nothing of what the register held before? */
static bool replaces(const struct insn_result *result)
{
	unsigned whole = result->to.kind == INSN_PLACE_VECTOR ? 16 : 8;

	return result->to.first == 0 && (result->clears || result->to.length >= whole);
}

static bool is_of_two(const struct insn_result *result)
{
	return result->operation == INSN_SELECT || result->conditional;
}

static uint64_t kept_by_calls(uint64_t held)
{
	uint64_t kept = 0;

	for (uint8_t i = 0; i < 16; i++) {
		const struct insn_place place = {
			.kind = INSN_PLACE_GENERAL, .number = i, .length = 8};

		if (slice_is_kept_by_calls(&place))
			kept |= 1ull << i;
	}
	return held & kept;
}

/*
 * The registers that hold, before the instruction, what `held` holds after it. Of an instruction
 * that writes one of two sources, or perhaps nothing, `second` chooses which case.
 */
static uint64_t before(const struct insn_effect *effect, uint64_t held, bool second, bool *of_two)
{
	uint64_t killed = 0, made = 0;

	if (slice_is_call(&effect->insn))
		return kept_by_calls(held);
	if (effect->insn.flow == INSN_FLOW_SYSCALL)
		return held & ~(1ull << RAX | 1ull << RCX | 1ull << R11);
	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];
		bool select = result->operation == INSN_SELECT;

		if (!(held & slice_bit(&result->to)))
			continue;
		*of_two |= is_of_two(result);
		if (!select && result->conditional && second)
			continue;
		if (select || replaces(result))
			killed |= slice_bit(&result->to);
		for (unsigned j = 0; j < result->source_count; j++)
			if (result->operation != INSN_CONSTANT && (!select || j == second))
				made |= slice_bit(&result->source[j]);
	}
	return (held & ~killed) | made;
}

static bool enter(struct flow_slice_work *work, unsigned *count, uint16_t index, uint64_t held,
		  bool passed)
{
	if (!held || slice_was_visited(work, slice_way_key(2ull * index + passed, held)))
		return true;
	if (*count == FLOW_SLICE_PASSES)
		return false;
	work->pass[*count].index = index;
	work->pass[*count].held = held;
	work->pass[(*count)++].passed = passed;
	return true;
}

static bool makes(const struct insn_effect *effect, uint64_t held)
{
	static const struct insn_place vector = {
		.kind = INSN_PLACE_VECTOR, .number = 0, .length = 16};

	if (slice_is_call(&effect->insn))
		return held & (1ull << RAX | slice_bit(&vector));
	for (unsigned i = 0; i < effect->count; i++)
		for (unsigned j = 0; j < effect->result[i].source_count; j++)
			if (effect->result[i].source[j].kind == INSN_PLACE_MEMORY &&
			    held & slice_bit(&effect->result[i].to))
				return true;
	return false;
}

uint16_t slice_changed_by(const struct insn_effect *effect)
{
	if (slice_is_call(&effect->insn))
		return (uint16_t) ~(INSN_KEPT_BY_CALLS | 1u << RSP);
	if (effect->insn.flow == INSN_FLOW_SYSCALL)
		return 1u << RAX | 1u << RCX | 1u << R11;
	return (uint16_t)effect->insn.written_registers;
}

/* Goes back over instruction `index`, after which `held` holds the value. True: the value is older
 * than the last run of the load, or there are more ways than there is room for. */
static bool pass(struct flow_slice_work *work, unsigned *count, uint16_t load, uint16_t index,
		 uint64_t held, bool passed)
{
	const struct insn_effect *effect = &work->effect[index];
	bool of_two = false;
	uint64_t earlier;

	work->changed |= slice_changed_by(effect);
	if (index == load && makes(effect, held))
		return passed;
	passed |= index == load;
	earlier = before(effect, held, false, &of_two);
	if (!enter(work, count, index, earlier, passed))
		return true;
	return of_two && !enter(work, count, index, before(effect, held, true, &of_two), passed);
}

bool slice_outlives_load(struct flow_slice_work *work, uint64_t start, uint16_t load, uint16_t last,
			 uint64_t held)
{
	unsigned count = 0;

	memset(work->visited, 0, sizeof(work->visited));
	work->changed = slice_changed_by(&work->effect[last]);
	find_ways(work, start);
	enter(work, &count, last, held, false);
	for (unsigned i = 0; i < count; i++) {
		uint16_t way = work->chain[work->pass[i].index];

		for (; way != SLICE_NOWHERE; way = work->before[way % 2][way / 2])
			if (way / 2 != last && pass(work, &count, load, way / 2, work->pass[i].held,
						    work->pass[i].passed))
				return true;
	}
	return false;
}
