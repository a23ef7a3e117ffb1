/* SPDX-License-Identifier: Apache-2.0 */
/* A function's instructions, and what was looked for where, for slices in both directions. */
#include "slice/code.h"

#include "slice/bits.h"
#include "slice/constants.h"
#include "slice/table.h"

#include <errno.h>
#include <string.h>

/* General registers 0 to 15, vectors 16 to 47, masks 48 to 55; others are not followed. */
int slice_register(const struct insn_place *place)
{
	switch (place->kind) {
	case INSN_PLACE_GENERAL:
		return place->number < 16 ? place->number : -1;
	case INSN_PLACE_VECTOR:
		return place->number < 32 ? 16 + place->number : -1;
	case INSN_PLACE_MASK:
		return place->number < 8 ? 48 + place->number : -1;
	default:
		return -1;
	}
}

int slice_decode(const uint8_t *code, size_t length, uint64_t start, struct flow_slice_work *work)
{
	size_t offset = 0;

	if (length > FLOW_SLICE_CODE)
		return -E2BIG;
	memset(work->at, 0, sizeof(work->at));
	work->count = 0;
	work->code = code;
	work->length = length;
	while (offset < length) {
		struct insn_effect *effect = &work->effect[work->count];

		if (work->count == FLOW_SLICE_INSNS)
			return -E2BIG;
		if (insn_effect_decode(code + offset, length - offset, start + offset, effect)) {
			offset++; /* no instruction: a table within the code, or padding */
			continue;
		}
		if (effect->insn.flow == INSN_FLOW_CALL && work->never_returned &&
		    work->never_returned(work->context, (uint64_t)effect->insn.target))
			effect->insn.flow = INSN_FLOW_TRAP;
		work->pc[work->count] = start + offset;
		work->at[offset] = (uint16_t)(work->count + 1);
		work->count++;
		offset += effect->insn.length;
	}
	memset(work->visited, 0, sizeof(work->visited));
	memset(work->select, 0, work->count);
	work->selects = false;
	work->queued = 0;
	slice_find_labels(work, start);
	slice_fold_constants(work, start);
	return 0;
}

bool slice_is_copy(const struct insn_result *result)
{
	return result->operation == INSN_COPY || result->operation == INSN_COPY_SIGN ||
	       result->operation == INSN_CONSTANT || result->operation == INSN_SELECT;
}

bool slice_was_visited(struct flow_slice_work *work, uint64_t key)
{
	uint64_t hash = key * 0x9e3779b97f4a7c15ull >> 44;
	bool was = work->visited[hash / 64] >> hash % 64 & 1;

	_Static_assert(FLOW_SLICE_VISITED == 1u << 20, "the hash has 20 bits");
	work->visited[hash / 64] |= 1ull << hash % 64;
	return was;
}

bool slice_come(struct flow_slice_work *work, unsigned *count, uint16_t index, uint64_t held)
{
	if (index == SLICE_NOWHERE)
		return false;
	if (slice_was_visited(work, slice_way_key(index, held)))
		return true;
	if (*count == FLOW_SLICE_PASSES)
		return false;
	work->pass[*count].index = index;
	work->pass[(*count)++].held = held;
	return true;
}

/* Narrows `*bits` to none if the place was entered at this instruction with these bits already, and
 * widens them to all if it was entered with others: so a place is entered twice at most. */
static void meet_bits(const struct flow_slice_work *work, uint16_t index,
		      const struct insn_place *place, uint64_t *bits)
{
	for (unsigned i = 0; i < work->queued && *bits && *bits != SLICE_ALL_BITS; i++) {
		const struct insn_place *other = &work->queue[i].place;

		if (work->queue[i].index == index && other->kind == place->kind &&
		    other->number == place->number && other->first == place->first &&
		    other->length == place->length)
			*bits = *bits & ~work->queue[i].bits ? SLICE_ALL_BITS : 0;
	}
}

int slice_enter(struct flow_slice_work *work, uint16_t index, const struct insn_place *place,
		uint64_t bits)
{
	int bit = slice_register(place);

	if (bit < 0)
		return -EINVAL;
	meet_bits(work, index, place, &bits);
	if (!bits)
		return 0;
	if (bits == SLICE_ALL_BITS &&
	    slice_was_visited(work, (uint64_t)index << 32 | (uint64_t)bit << 24 |
					    (uint64_t)place->first << 16 | place->length))
		return 0;
	if (work->queued == sizeof(work->queue) / sizeof(work->queue[0]))
		return -ENOSPC;
	work->queue[work->queued].index = index;
	work->queue[work->queued].bits = bits;
	work->queue[work->queued++].place = *place;
	return 0;
}

bool slice_is_kept_by_calls(const struct insn_place *place)
{
	return place->kind == INSN_PLACE_GENERAL && INSN_KEPT_BY_CALLS >> place->number & 1;
}
