/* SPDX-License-Identifier: Apache-2.0 */
#include "slice/slice.h"

#include "slice/again.h"
#include "slice/bits.h"
#include "slice/bytes.h"
#include "slice/carry.h"
#include "slice/code.h"
#include "slice/disjoint.h"
#include "slice/gather.h"
#include "slice/guard.h"
#include "slice/passes.h"

#include <errno.h>
#include <string.h>
#include <trapline/event.h>

#define RAX 0
#define RDX 2
#define RSP 4

/* Widens one end to the bytes of another: both are the same load, from the same byte on. Bits can
 * only be compared if both have the same length. */
static void widen(struct flow_end *end, const struct flow_end *other)
{
	if (end->length == other->length) {
		end->bits |= other->bits;
		return;
	}
	end->bits = UINT64_MAX;
	if (!other->length || (end->length && end->length < other->length))
		end->length = other->length;
}

static void add_end(struct flow_slice *slice, const struct flow_end *end)
{
	for (unsigned i = 0; i < slice->ends; i++) {
		struct flow_end *other = &slice->end[i];

		if (other->kind == end->kind && other->pc == end->pc &&
		    other->operand == end->operand && other->constant == end->constant &&
		    other->first == end->first && other->place.number == end->place.number &&
		    other->place.kind == end->place.kind) {
			widen(other, end);
			return;
		}
	}
	if (slice->ends == FLOW_SLICE_ENDS)
		slice->more = true;
	else
		slice->end[slice->ends++] = *end;
}

static void add_unknown(struct flow_slice *slice, uint64_t pc, const char *reason)
{
	const struct flow_end end = {.kind = FLOW_END_UNKNOWN, .pc = pc, .reason = reason};

	add_end(slice, &end);
}

/* Puts into the queue that `place` is looked for before instruction `index`, for the sake of these
 * bits of its register. */
static void look_before(struct flow_slice_work *work, struct flow_slice *slice, uint16_t index,
			const struct insn_place *place, uint64_t bits)
{
	int err = slice_enter(work, index, place, bits);

	if (err == -EINVAL)
		add_unknown(slice, work->pc[index], "a register that is not followed");
	else if (err)
		slice->more = true;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned most(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static void follow_bytes(struct flow_slice_work *work, struct flow_slice *slice, uint16_t index,
			 const struct insn_place *source, unsigned first, unsigned length,
			 uint64_t bits)
{
	struct flow_end end = {.kind = FLOW_END_LOAD,
			       .pc = work->pc[index],
			       .operand = source->number,
			       .first = (uint16_t)(source->first + first),
			       .length = (uint16_t)length,
			       .bits = slice_bits_part(bits, first, length)};
	struct insn_place place = *source;

	if (source->kind == INSN_PLACE_MEMORY) {
		add_end(slice, &end);
		return;
	}
	place.first = (uint8_t)(source->first + first);
	place.length = (uint16_t)length;
	place.shift = 0;
	look_before(work, slice, index, &place, slice_bits_behind(end.bits, place.first));
}

/* The value of these bytes of the result, which depend on no byte of a source. */
static uint64_t constant_of(const struct insn_result *result, uint64_t bytes)
{
	unsigned first, length;

	switch (result->operation) {
	case INSN_AND:
	case INSN_OR:
		if (!slice_bytes_next(&bytes, &first, &length) || first >= 8)
			return 0;
		return result->constant >> 8 * first &
		       (length < 8 ? (1ull << 8 * length) - 1 : UINT64_MAX);
	case INSN_SHIFT_LEFT:
	case INSN_SHIFT_RIGHT:
	case INSN_SHUFFLE:
	case INSN_CONVERT:
		return 0;
	default:
		return result->constant;
	}
}

/* Follows the bytes of the source that make the wanted ones; `bits` are the bits of the source that
 * do. */
static void follow_source(struct flow_slice_work *work, struct flow_slice *slice, uint16_t index,
			  const struct insn_place *source, uint64_t bytes, uint64_t bits)
{
	unsigned first, length;

	while (slice_bytes_next(&bytes, &first, &length))
		follow_bytes(work, slice, index, source, first, length, bits);
}

/* Ends the slice at a result that has no source to follow: it is a constant, or the flags or the
 * processor itself make it. */
static void end_here(struct flow_slice *slice, uint64_t pc, const struct insn_result *result,
		     uint64_t bytes)
{
	const struct flow_end end = {
		.kind = FLOW_END_CONSTANT, .pc = pc, .constant = constant_of(result, bytes)};
	bool constant = result->operation == INSN_CONSTANT;

	for (unsigned i = 0; i < result->source_count; i++) {
		if (result->source[i].kind == INSN_PLACE_FLAGS) {
			add_unknown(slice, pc, "the outcome of a comparison");
			return;
		}
		constant = true;
	}
	if (constant)
		add_end(slice, &end);
	else
		add_unknown(slice, pc,
			    "an instruction of which is not known what it makes its result of");
}

/* Are these few bits of the result always zero? Beside other bits, which make the value, they tell
 * nothing. */
static bool is_nothing(const struct insn_result *result, uint64_t bits)
{
	if (bits == SLICE_ALL_BITS)
		return false;
	return result->operation == INSN_SHIFT_LEFT || result->operation == INSN_SHIFT_RIGHT ||
	       (result->operation == INSN_AND && !(result->constant & bits));
}

/* Follows the sources of one result of instruction `index`, as far as they make the wanted bytes
 * and bits. */
static void follow(struct flow_slice_work *work, struct flow_slice *slice, uint16_t index,
		   const struct insn_result *made, const struct insn_place *wanted, uint64_t bits)
{
	uint64_t of_result = slice_bits_part(bits, made->to.first, made->to.length);
	uint64_t bytes = slice_bytes_common(&made->to, wanted) & slice_bits_bytes(of_result);
	struct insn_result result = *made;
	bool followed = false;

	if (slice_is_disjoint(work, index, made))
		result.operation = INSN_OR;
	if (!slice_is_copy(made))
		slice->copies = false;
	if (slice_selects(made))
		work->select[index] = work->selects = true;
	for (unsigned i = 0; i < result.source_count && result.operation != INSN_CONSTANT; i++) {
		const struct insn_place *source = &result.source[i];
		uint64_t of_source = slice_bits_needed(&result, i, of_result);
		uint64_t needed = slice_bytes_needed(&result, i, bytes) &
				  slice_bits_bytes(of_source);

		if (source->kind == INSN_PLACE_CONSTANT || source->kind == INSN_PLACE_FLAGS)
			continue;
		follow_source(work, slice, index, source, needed, of_source);
		followed |= needed;
	}
	if (!followed && !is_nothing(&result, of_result))
		end_here(slice, work->pc[index], &result, bytes);
}

static bool writes(const struct insn_result *result, const struct insn_place *place)
{
	return result->to.kind == place->kind && result->to.number == place->number &&
	       result->to.first < place->first + place->length &&
	       place->first < result->to.first + result->to.length;
}

/* Does the instruction set the bytes above its result to zero, with the place among them? */
static bool clears(const struct insn_result *result, const struct insn_place *place)
{
	return result->to.kind == place->kind && result->to.number == place->number &&
	       result->clears && place->first >= result->to.first + result->to.length;
}

/* Does the instruction leave nothing of what the place held before? */
static bool kills(const struct insn_result *result, const struct insn_place *place)
{
	return !result->conditional &&
	       ((result->clears && result->to.first <= place->first) ||
		(result->to.first <= place->first &&
		 result->to.first + result->to.length >= place->first + place->length));
}

static unsigned covered_by(const struct insn_result *result, const struct insn_place *place)
{
	unsigned first = most(result->to.first, place->first);
	unsigned end = least(result->to.first + result->to.length, place->first + place->length);

	return result->conditional || end < first ? 0 : end - first;
}

/* rax and rdx, xmm0 and xmm1: two words of a structure come in two registers. */
static bool is_result_of_call(const struct insn_place *place)
{
	return (place->kind == INSN_PLACE_GENERAL &&
		(place->number == RAX || place->number == RDX)) ||
	       (place->kind == INSN_PLACE_VECTOR && place->number < 2);
}

/* Looks at a call. True: the place does not hold what it held before the call, so the search ends
 * here. */
static bool meet_call(struct flow_slice_work *work, struct flow_slice *slice, uint16_t index,
		      const struct insn_place *place)
{
	const struct insn *insn = &work->effect[index].insn;
	struct flow_end end = {.pc = work->pc[index], .place = *place};

	if (slice_is_kept_by_calls(place))
		return false;
	if (!is_result_of_call(place)) {
		add_unknown(slice, end.pc, "a register that the call before it may change");
		return true;
	}
	end.kind = FLOW_END_RETURN;
	end.target = insn->flow == INSN_FLOW_CALL ? (uint64_t)insn->target : 0;
	add_end(slice, &end);
	return true;
}

/* The place is looked for behind instruction `index`. True: this instruction has made all of it. */
static bool made_by(struct flow_slice_work *work, struct flow_slice *slice, uint16_t index,
		    const struct insn_place *place, uint64_t bits)
{
	const struct insn_effect *effect = &work->effect[index];
	unsigned covered = 0;
	bool killed = false;

	if (slice_is_call(&effect->insn))
		return meet_call(work, slice, index, place);
	if (effect->insn.flow == INSN_FLOW_SYSCALL && place->kind == INSN_PLACE_GENERAL &&
	    place->number == RAX) {
		const struct flow_end end = {.kind = FLOW_END_KERNEL, .pc = work->pc[index]};

		add_end(slice, &end);
		return true;
	}
	for (unsigned i = 0; i < effect->count; i++)
		if (writes(&effect->result[i], place)) {
			follow(work, slice, index, &effect->result[i], place, bits);
			killed |= kills(&effect->result[i], place);
			covered += covered_by(&effect->result[i], place);
		} else if (clears(&effect->result[i], place)) {
			killed = true;
		}
	/* Together, several results of one instruction may write the whole place. */
	killed |= covered >= place->length;
	if (!killed && effect->more && place->kind == INSN_PLACE_GENERAL &&
	    effect->insn.written_registers >> place->number & 1) {
		add_unknown(slice, work->pc[index], "an instruction that writes much");
		return true;
	}
	return killed;
}

/* Can control come from `from` to `to`? A jump to where a register says may go to any label of a
 * table of jumps, and to the start of any block that nothing else leads to. */
static bool leads_to(const struct flow_slice_work *work, uint16_t from, uint16_t to, bool orphan)
{
	const struct insn *insn = &work->effect[from].insn;

	if (slice_falls_through(insn) && work->pc[from] + insn->length == work->pc[to])
		return true;
	if (insn->flow == INSN_FLOW_BRANCH && (uint64_t)insn->target == work->pc[to])
		return true;
	return (orphan || work->label[to]) && insn->flow == INSN_FLOW_JUMP_INDIRECT;
}

static bool is_orphan(const struct flow_slice_work *work, uint16_t index)
{
	for (unsigned i = 0; i < work->count; i++)
		if (leads_to(work, i, index, false))
			return false;
	return true;
}

static void reach_start(const struct flow_slice_work *work, struct flow_slice *slice,
			const struct insn_place *place)
{
	struct flow_end end = {.kind = FLOW_END_ARGUMENT, .pc = work->pc[0], .place = *place};
	bool argument = place->kind == INSN_PLACE_VECTOR
				? place->number < 8
				: place->kind == INSN_PLACE_GENERAL &&
					  (SLICE_ARGUMENTS >> place->number & 1);

	if (argument || slice_is_kept_by_calls(place))
		add_end(slice, &end);
	else
		add_unknown(slice, work->pc[0], "a register that nobody has set");
}

/* Is it padding, which aligns the target of a jump? Behind a jump, control never comes to it. */
static bool is_padding(const struct insn_effect *effect)
{
	return effect->insn.flow == INSN_FLOW_NEXT && !effect->count && !effect->more;
}

static void go_back(struct flow_slice_work *work, struct flow_slice *slice, uint16_t index,
		    const struct insn_place *place, uint64_t bits)
{
	bool orphan = index && is_orphan(work, index), came = false;

	if (index == 0)
		reach_start(work, slice, place);
	for (unsigned i = 0; i < work->count; i++) {
		if (!leads_to(work, i, index, orphan))
			continue;
		came = true;
		if (!made_by(work, slice, i, place, bits))
			look_before(work, slice, i, place, bits);
	}
	if (!came && index && !is_padding(&work->effect[index]))
		add_unknown(slice, work->pc[index], "no way is known that leads here");
}

/* Works off the queue. `last`: the slice's instruction, or SLICE_NOWHERE. */
static void run(struct flow_slice_work *work, struct flow_slice *slice, uint64_t start,
		uint16_t last)
{
	for (unsigned i = 0; i < work->queued; i++) {
		struct insn_place place = work->queue[i].place;

		go_back(work, slice, work->queue[i].index, &place, work->queue[i].bits);
	}
	for (unsigned i = 0; i < slice->ends && !slice->more; i++)
		if (slice->end[i].kind == FLOW_END_LOAD)
			slice_note_barred(work, start, &slice->end[i], last);
}

/* Marks as reached all that can run between instruction `from` and `last`, without these two. */
static void reach(struct flow_slice_work *work, uint16_t from, uint16_t last)
{
	bool changed = true;

	memset(work->reached, 0, work->count);
	work->reached[from] = 1;
	while (changed) {
		changed = false;
		for (unsigned i = 0; i < work->count; i++) {
			if (!work->reached[i] || i == last)
				continue;
			for (unsigned j = 0; j < work->count; j++)
				if (!work->reached[j] && leads_to(work, i, j, false)) {
					work->reached[j] = 1;
					changed = true;
				}
		}
	}
}

static bool changes(const struct insn *insn, int number)
{
	if (number < 0 || number > 15)
		return false;
	if (slice_is_call(insn))
		return number != RSP && !(INSN_KEPT_BY_CALLS >> number & 1);
	return insn->written_registers >> number & 1;
}

/*
 * Is the address of the load still the same at `last`? Yes, if no instruction that can run between
 * the two changes a register that the address is made of. Accepted loss: addresses relative to %gs
 * or made of vectors are not judged.
 */
static bool is_address_kept(struct flow_slice_work *work, uint16_t load, uint16_t last,
			    unsigned operand)
{
	const struct insn_operand *from = &work->effect[load].insn.operand[operand];

	if (from->segment == 2 || from->vector_index >= 0)
		return false;
	if (load == last)
		return true;
	reach(work, load, last);
	for (unsigned i = 0; i < work->count; i++) {
		const struct insn *insn = &work->effect[i].insn;

		if (work->reached[i] && i != last &&
		    (changes(insn, from->base) || changes(insn, from->index)))
			return false;
	}
	return true;
}

/* Notes for each load or call what a watch has to know of it. `held`: the registers that the slice
 * looked for before `last`. */
static void finish(struct flow_slice_work *work, struct flow_slice *slice, uint64_t start,
		   uint16_t last, uint64_t held)
{
	for (unsigned i = 0; i < slice->ends; i++) {
		struct flow_end *end = &slice->end[i];
		uint16_t load = slice_index(work, start, end->pc);

		if ((end->kind != FLOW_END_LOAD && end->kind != FLOW_END_RETURN) ||
		    load == SLICE_NOWHERE || last == SLICE_NOWHERE)
			continue;
		end->address_kept = end->kind == FLOW_END_LOAD &&
				    is_address_kept(work, load, last, end->operand);
		end->earlier_pass = !end->address_kept &&
				    slice_outlives_load(work, start, load, last, held);
		if (!end->address_kept && !end->earlier_pass)
			end->kept = (uint16_t)~work->changed;
	}
}

static uint64_t registers_of(const struct insn_result *result)
{
	uint64_t held = 0;

	for (unsigned i = 0; i < result->source_count; i++) {
		int bit = slice_register(&result->source[i]);

		held |= bit < 0 ? 0 : 1ull << bit;
	}
	return held;
}

/* Decodes the function and empties the slice. *index: the instruction at `pc`. */
static int begin(const uint8_t *code, size_t length, uint64_t start, uint64_t pc,
		 struct flow_slice_work *work, struct flow_slice *slice, uint16_t *index)
{
	int err = slice_decode(code, length, start, work);

	memset(slice, 0, sizeof(*slice));
	slice->copies = true;
	if (err)
		return err;
	*index = slice_index(work, start, pc);
	return *index == SLICE_NOWHERE ? -EILSEQ : 0;
}

static bool is_made_here(const struct flow_end *end)
{
	return end->kind == FLOW_END_LOAD || end->kind == FLOW_END_RETURN;
}

/* Notes for each end whether all that it brings arrives, and whether the value may be made of
 * another thing instead. */
static void find_always(struct flow_slice_work *work, struct flow_slice *slice, uint64_t start,
			const struct slice_arrival *arrival)
{
	for (unsigned i = 0; i < slice->ends; i++) {
		struct flow_end *end = &slice->end[i];

		end->always =
			is_made_here(end) &&
			slice_arrives(work, start, slice_index(work, start, end->pc), arrival);
		end->gathers = end->kind == FLOW_END_LOAD && end->earlier_pass &&
			       slice_gathers(work, start, end, arrival);
		if (end->gathers)
			end->kept = (uint16_t)~work->changed;
		end->one_of_two = work->selects && !end->always &&
				  slice_is_one_of_two(work, start, end);
	}
}

int flow_slice_store(const uint8_t *code, size_t length, uint64_t start, uint64_t pc,
		     const struct flow_stored *stored, struct flow_slice_work *work,
		     struct flow_slice *slice)
{
	const struct insn_place wanted = {.kind = INSN_PLACE_MEMORY,
					  .number = (uint8_t)stored->operand,
					  .first = (uint8_t)stored->first,
					  .length = (uint16_t)stored->length};
	uint64_t held = 0;
	bool found = false;
	uint16_t index;
	int err = begin(code, length, start, pc, work, slice, &index);

	if (err)
		return err;
	for (unsigned i = 0; i < work->effect[index].count; i++) {
		const struct insn_result *result = &work->effect[index].result[i];

		if (result->to.kind != INSN_PLACE_MEMORY || result->to.number != stored->operand)
			continue;
		follow(work, slice, index, result, &wanted,
		       stored->bits ? slice_bits_behind(stored->bits, stored->first)
				    : SLICE_ALL_BITS);
		held |= registers_of(result);
		found = true;
	}
	run(work, slice, start, index);
	slice->again = slice_runs_again(work, slice, start, index);
	finish(work, slice, start, index, held);
	find_always(work, slice, start,
		    &(struct slice_arrival){
			    .index = index, .stored = true, .operand = stored->operand});
	return found ? 0 : -ENOENT;
}

int flow_slice_place(const uint8_t *code, size_t length, uint64_t start, uint64_t pc,
		     struct insn_place place, struct flow_slice_work *work,
		     struct flow_slice *slice)
{
	uint16_t index;
	int err = begin(code, length, start, pc, work, slice, &index);

	if (err)
		return err;
	look_before(work, slice, index, &place, SLICE_ALL_BITS);
	run(work, slice, start, index);
	finish(work, slice, start, index, slice_bit(&place));
	find_always(work, slice, start,
		    &(struct slice_arrival){.index = index, .wanted = slice_bit(&place)});
	return 0;
}

/* Adds as ends the functions that this one ends by jumping to: it returns what they return. */
static void add_jumps(const struct flow_slice_work *work, struct flow_slice *slice, uint64_t start,
		      size_t length, const struct insn_place *place)
{
	for (unsigned i = 0; i < work->count; i++) {
		const struct insn *insn = &work->effect[i].insn;
		const struct flow_end end = {.kind = FLOW_END_RETURN,
					     .pc = work->pc[i],
					     .place = *place,
					     .target = (uint64_t)insn->target};

		if (insn->flow == INSN_FLOW_BRANCH && (uint64_t)insn->target - start >= length)
			add_end(slice, &end);
	}
}

int flow_slice_return(const uint8_t *code, size_t length, uint64_t start, struct insn_place place,
		      struct flow_slice_work *work, struct flow_slice *slice)
{
	int err = slice_decode(code, length, start, work);

	memset(slice, 0, sizeof(*slice));
	slice->copies = true;
	if (err)
		return err;
	for (unsigned i = 0; i < work->count; i++)
		if (work->effect[i].insn.flow == INSN_FLOW_RETURN)
			look_before(work, slice, i, &place, SLICE_ALL_BITS);
	run(work, slice, start, SLICE_NOWHERE);
	add_jumps(work, slice, start, length, &place);
	for (unsigned i = 0; i < slice->ends; i++)
		for (unsigned j = 0; j < work->count && is_made_here(&slice->end[i]); j++)
			if (work->effect[j].insn.flow == INSN_FLOW_RETURN)
				slice->end[i].earlier_pass |= slice_outlives_load(
					work, start, slice_index(work, start, slice->end[i].pc),
					(uint16_t)j, slice_bit(&place));
	find_always(work, slice, start,
		    &(struct slice_arrival){.index = SLICE_NOWHERE, .wanted = slice_bit(&place)});
	return slice->ends ? 0 : -ENOENT;
}
