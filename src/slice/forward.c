/* SPDX-License-Identifier: Apache-2.0 */
#include "slice/forward.h"

#include "slice/bits.h"
#include "slice/bytes.h"
#include "slice/carry.h"
#include "slice/code.h"

#include <errno.h>
#include <string.h>

#define RSP 4
#define RBP 5

static void add_use(struct flow_uses *uses, const struct flow_use *use)
{
	for (unsigned i = 0; i < uses->count; i++)
		if (uses->use[i].kind == use->kind && uses->use[i].pc == use->pc &&
		    uses->use[i].place.number == use->place.number &&
		    uses->use[i].place.kind == use->place.kind)
			return;
	if (uses->count == FLOW_USES)
		uses->more = true;
	else
		uses->use[uses->count++] = *use;
}

/* Notes that the place holds the value before each instruction that may follow `index`. */
static void go_on(struct flow_slice_work *work, struct flow_uses *uses, uint64_t start,
		  uint16_t index, const struct insn_place *place)
{
	const struct insn *insn = &work->effect[index].insn;
	uint16_t next = slice_index(work, start, work->pc[index] + insn->length);

	if (slice_falls_through(insn) && next != SLICE_NOWHERE &&
	    slice_enter(work, next, place, SLICE_ALL_BITS) == -ENOSPC)
		uses->more = true;
	if (insn->flow != INSN_FLOW_BRANCH)
		return;
	next = slice_index(work, start, (uint64_t)insn->target);
	if (next != SLICE_NOWHERE && slice_enter(work, next, place, SLICE_ALL_BITS) == -ENOSPC)
		uses->more = true;
}

static bool is_of(const struct insn_place *source, const struct insn_place *place)
{
	return source->kind == place->kind && source->number == place->number &&
	       source->first < place->first + place->length &&
	       place->first < source->first + source->length;
}

static bool only_sets_flags(const struct insn_effect *effect)
{
	for (unsigned i = 0; i < effect->count; i++)
		if (effect->result[i].to.kind != INSN_PLACE_FLAGS)
			return false;
	return effect->count > 0;
}

static void arrive(struct flow_slice_work *work, struct flow_uses *uses, uint64_t start,
		   uint16_t index, const struct insn_place *to)
{
	struct flow_use use = {.pc = work->pc[index]};

	if (to->kind == INSN_PLACE_MEMORY) {
		use.kind = FLOW_USE_STORE;
		use.operand = to->number;
		use.first = to->first;
		use.length = to->length;
		add_use(uses, &use);
	} else if (to->kind == INSN_PLACE_FLAGS) {
		use.kind = FLOW_USE_COMPARE;
		if (only_sets_flags(&work->effect[index]))
			add_use(uses, &use);
	} else {
		go_on(work, uses, start, index, to);
	}
}

/* Follows the bytes of the result that are made of the source, whose bytes `held` hold the
 * value. */
static void pass_source(struct flow_slice_work *work, struct flow_uses *uses, uint64_t start,
			uint16_t index, const struct insn_result *result, unsigned source,
			uint64_t held)
{
	uint64_t made = slice_bytes_made(result, source, held);
	struct insn_place to = result->to;
	unsigned first, length;

	if (to.kind == INSN_PLACE_FLAGS)
		arrive(work, uses, start, index, &to);
	else
		uses->copies &= slice_is_copy(result);
	while (slice_bytes_next(&made, &first, &length)) {
		to.first = (uint8_t)(result->to.first + first);
		to.length = (uint16_t)length;
		arrive(work, uses, start, index, &to);
	}
}

/* Follows what the instruction makes of the place, and the place itself if the instruction leaves
 * it as it is. */
static void pass_results(struct flow_slice_work *work, struct flow_uses *uses, uint64_t start,
			 uint16_t index, const struct insn_place *place)
{
	const struct insn_effect *effect = &work->effect[index];
	bool overwritten = false;

	for (unsigned i = 0; i < effect->count; i++) {
		const struct insn_result *result = &effect->result[i];

		for (unsigned j = 0; j < result->source_count; j++) {
			if (result->operation != INSN_CONSTANT && is_of(&result->source[j], place))
				pass_source(work, uses, start, index, result, j,
					    slice_bytes_common(&result->source[j], place));
		}
		overwritten |= !result->conditional && is_of(&result->to, place);
	}
	if (!overwritten)
		go_on(work, uses, start, index, place);
}

static void note_address(struct flow_slice_work *work, struct flow_uses *uses, uint16_t index,
			 const struct insn_place *place)
{
	const struct insn *insn = &work->effect[index].insn;
	struct flow_use use = {.kind = FLOW_USE_ADDRESS, .pc = work->pc[index]};

	if (place->kind != INSN_PLACE_GENERAL || place->number == RSP || place->number == RBP)
		return;
	for (unsigned i = 0; i < insn->operand_count; i++)
		if (insn->operand[i].access && (insn->operand[i].base == (int)place->number ||
						insn->operand[i].index == (int)place->number))
			add_use(uses, &use);
}

/* Is it a jump to another function's start, which then returns in place of this one? */
static bool leaves(const struct flow_slice_work *work, uint64_t start, const struct insn *insn)
{
	return insn->flow == INSN_FLOW_BRANCH &&
	       slice_index(work, start, (uint64_t)insn->target) == SLICE_NOWHERE;
}

static void pass_call(struct flow_slice_work *work, struct flow_uses *uses, uint64_t start,
		      uint16_t index, const struct insn_place *place)
{
	const struct insn *insn = &work->effect[index].insn;
	bool known = insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_BRANCH;
	struct flow_use use = {.kind = FLOW_USE_ARGUMENT,
			       .pc = work->pc[index],
			       .target = known ? (uint64_t)insn->target : 0,
			       .jump = insn->flow == INSN_FLOW_BRANCH,
			       .place = *place};

	if (place->kind == INSN_PLACE_GENERAL && place->number < 16 &&
	    SLICE_ARGUMENTS >> place->number & 1)
		add_use(uses, &use);
	if (slice_is_kept_by_calls(place) || insn->conditional)
		go_on(work, uses, start, index, place);
}

static void pass(struct flow_slice_work *work, struct flow_uses *uses, uint64_t start,
		 uint16_t index, const struct insn_place *place)
{
	const struct insn *insn = &work->effect[index].insn;
	const struct flow_use returned = {
		.kind = FLOW_USE_RETURN, .pc = work->pc[index], .place = *place};

	note_address(work, uses, index, place);
	if (slice_is_call(insn) || leaves(work, start, insn)) {
		pass_call(work, uses, start, index, place);
	} else if (insn->flow == INSN_FLOW_RETURN) {
		if (place->number == 0 && place->kind != INSN_PLACE_MASK)
			add_use(uses, &returned);
	} else {
		pass_results(work, uses, start, index, place);
	}
}

static bool reach(struct flow_slice_work *work, uint64_t start, uint64_t pc)
{
	uint16_t index = slice_index(work, start, pc);

	if (index == SLICE_NOWHERE || work->reached[index])
		return false;
	work->reached[index] = 1;
	return true;
}

/* Marks where control goes on from the instruction as reached. True: some of it was not marked
 * before. */
static bool go_further(struct flow_slice_work *work, uint64_t start, uint16_t index)
{
	const struct insn *insn = &work->effect[index].insn;
	bool changed = false;

	if (slice_falls_through(insn))
		changed |= reach(work, start, work->pc[index] + insn->length);
	if (insn->flow == INSN_FLOW_BRANCH)
		changed |= reach(work, start, (uint64_t)insn->target);
	return changed;
}

/* Can control come from `begin` back to it, or leave the function, without passing the store? */
static bool is_bypassed(struct flow_slice_work *work, uint64_t start, uint16_t begin,
			uint64_t store)
{
	bool changed;

	if (work->pc[begin] == store)
		return false;
	memset(work->reached, 0, work->count);
	changed = go_further(work, start, begin);
	while (changed && !work->reached[begin]) {
		changed = false;
		for (unsigned i = 0; i < work->count; i++) {
			const struct insn *insn = &work->effect[i].insn;

			if (!work->reached[i] || work->pc[i] == store)
				continue;
			if (insn->flow == INSN_FLOW_RETURN || leaves(work, start, insn) ||
			    insn->flow == INSN_FLOW_JUMP_INDIRECT)
				return true;
			changed |= go_further(work, start, (uint16_t)i);
		}
	}
	return work->reached[begin];
}

static void run(struct flow_slice_work *work, struct flow_uses *uses, uint64_t start,
		uint16_t begin)
{
	for (unsigned i = 0; i < work->queued; i++) {
		struct insn_place place = work->queue[i].place;

		pass(work, uses, start, work->queue[i].index, &place);
	}
	for (unsigned i = 0; i < uses->count; i++)
		uses->use[i].bypassed = is_bypassed(work, start, begin, uses->use[i].pc);
}

/* Stores were marked as bypassed where the load runs again before them. If what it has loaded
 * arrives there all the same, as in a loop that adds up, they are not bypassed. */
static void find_sums(struct flow_slice_work *work, struct flow_uses *uses, uint64_t start,
		      uint16_t load)
{
	for (unsigned i = 0; i < uses->count; i++) {
		struct flow_use *use = &uses->use[i];

		if (use->kind == FLOW_USE_STORE && use->bypassed)
			use->bypassed = !slice_arrives(
				work, start, load,
				&(struct slice_arrival){.index = slice_index(work, start, use->pc),
							.stored = true,
							.operand = use->operand});
	}
}

int flow_uses_of_load(const uint8_t *code, size_t length, uint64_t start, uint64_t pc,
		      unsigned first, unsigned wanted, struct flow_slice_work *work,
		      struct flow_uses *uses)
{
	int err = slice_decode(code, length, start, work);
	uint16_t index = err ? SLICE_NOWHERE : slice_index(work, start, pc);
	const struct insn_effect *effect;

	*uses = (struct flow_uses){.copies = true};
	if (err)
		return err;
	if (index == SLICE_NOWHERE)
		return -EILSEQ;
	effect = &work->effect[index];
	for (unsigned i = 0; i < effect->count; i++)
		for (unsigned j = 0; j < effect->result[i].source_count; j++)
			if (effect->result[i].source[j].kind == INSN_PLACE_MEMORY)
				pass_source(work, uses, start, index, &effect->result[i], j,
					    slice_bytes_range(first, wanted));
	run(work, uses, start, index);
	find_sums(work, uses, start, index);
	return 0;
}

int flow_uses_of_place(const uint8_t *code, size_t length, uint64_t start, uint64_t pc,
		       struct insn_place place, struct flow_slice_work *work,
		       struct flow_uses *uses)
{
	int err = slice_decode(code, length, start, work);
	uint16_t index = err ? SLICE_NOWHERE : slice_index(work, start, pc);

	*uses = (struct flow_uses){.copies = true};
	if (err)
		return err;
	if (index == SLICE_NOWHERE)
		return -EILSEQ;
	slice_enter(work, index, &place, SLICE_ALL_BITS);
	run(work, uses, start, index);
	return 0;
}
