/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/origin.h"

#include "insn/length.h"
#include "insn/origin_step.h"

#include <errno.h>
#include <string.h>

struct follow {
	const uint8_t *code;
	size_t length;
	struct insn_origin_work *work;
	bool likely;
};

static bool is_same(const struct insn_origin *a, const struct insn_origin *b)
{
	return a->number == b->number && (a->number < 0 || a->offset == b->offset);
}

/* What holds here and there. True: less than before. */
static bool join(struct insn_origin here[INSN_GENERAL],
		 const struct insn_origin there[INSN_GENERAL])
{
	bool changed = false;

	for (int i = 0; i < INSN_GENERAL; i++)
		if (here[i].number >= 0 && !is_same(&here[i], &there[i])) {
			here[i].number = INSN_ORIGIN_NONE;
			changed = true;
		}
	return changed;
}

static void enqueue(struct insn_origin_work *work, size_t at)
{
	if (work->waiting[at])
		return;
	work->waiting[at] = 1;
	work->queue[work->queued++] = (uint16_t)at;
}

static void reach(const struct follow *follow, uint64_t at,
		  const struct insn_origin state[INSN_GENERAL])
{
	struct insn_origin_work *work = follow->work;

	if (at >= follow->length)
		return; /* a call that does not return here */
	if (!work->reached[at]) {
		work->reached[at] = 1;
		memcpy(work->at[at], state, sizeof(work->at[at]));
		enqueue(work, at);
	} else if (join(work->at[at], state)) {
		enqueue(work, at);
	}
}

static void after_call(struct insn_origin state[INSN_GENERAL])
{
	for (int i = 0; i < INSN_GENERAL; i++)
		if (!(INSN_KEPT_BY_CALLS >> i & 1))
			state[i].number = INSN_ORIGIN_NONE;
}

static void know_nothing(struct insn_origin state[INSN_GENERAL])
{
	for (int i = 0; i < INSN_GENERAL; i++)
		state[i].number = INSN_ORIGIN_NONE;
}

/* What holds in each state that was gathered. */
static void gather(struct insn_origin to[INSN_GENERAL], uint8_t *any,
		   const struct insn_origin state[INSN_GENERAL])
{
	if (*any)
		join(to, state);
	else
		memcpy(to, state, sizeof(*to) * INSN_GENERAL);
	*any = 1;
}

static int step(const struct follow *follow, size_t at)
{
	struct insn_origin_work *work = follow->work;
	struct insn_origin *state = work->current;
	struct insn_origin_next next;
	size_t behind;

	memcpy(state, work->at[at], sizeof(work->current));
	if (insn_origin_step(follow->code + at, follow->length - at, state, &next))
		return -EILSEQ;
	behind = at + next.length;
	if (next.calls) {
		after_call(state);
		gather(work->behind_calls, &work->calls, state);
	}
	if (next.jumps_anywhere)
		gather(work->anywhere, &work->jumps_anywhere, state);
	else if (next.jumps)
		reach(follow, behind + next.offset, state);
	if (!next.ends)
		reach(follow, behind, state);
	return 0;
}

static int settle(const struct follow *follow)
{
	struct insn_origin_work *work = follow->work;
	int err = 0;

	while (work->queued && !err) {
		size_t at = work->queue[--work->queued];

		work->waiting[at] = 0;
		err = step(follow, at);
	}
	return err;
}

/* A jump to where a register says may lead to each instruction of the function, as they stand one
 * behind the other. Likely is that it leads to where nothing else does: to the cases of a switch.
 */
static int spread(const struct follow *follow)
{
	int length, err = 0;

	for (size_t at = 0; at < follow->length && !err; at += (size_t)length) {
		length = insn_length(follow->code + at, follow->length - at);
		if (length <= 0)
			return -EILSEQ;
		if (follow->likely && follow->work->reached[at])
			continue;
		reach(follow, at, follow->work->anywhere);
		err = follow->likely ? settle(follow) : 0;
	}
	return err;
}

/* One time through the code: landing pads are entered as any call leaves the registers, and with
 * one so is what stands behind each call. */
static int enter_pads(const struct follow *follow, bool *divided)
{
	struct insn_origin_work *work = follow->work;
	struct insn_origin state[INSN_GENERAL];
	struct insn_origin_next next;
	int err = 0;

	for (size_t at = 0; at < follow->length && !err; at += next.length) {
		know_nothing(state);
		if (insn_origin_step(follow->code + at, follow->length - at, state, &next))
			return -EILSEQ;
		know_nothing(state);
		if (!work->reached[at] && !next.pads) {
			reach(follow, at, work->calls ? work->behind_calls : state);
			work->reached[at] = 2;
			*divided = true;
		} else if (work->reached[at] == 2 && work->calls) {
			reach(follow, at, work->behind_calls);
		} else if (work->reached[at] && next.calls && *divided) {
			reach(follow, at + next.length, work->behind_calls);
		}
		err = settle(follow);
	}
	return err;
}

static int enter_elsewhere(const struct follow *follow, const struct insn_entries *entries)
{
	struct insn_origin_work *work = follow->work;
	struct insn_origin unknown[INSN_GENERAL];
	bool divided = false, again;
	int err;

	know_nothing(unknown);
	for (unsigned i = 0; entries && i < entries->count; i++)
		reach(follow, entries->at[i], unknown);
	err = settle(follow);
	if (follow->likely || work->jumps_anywhere)
		return err;
	do {
		struct insn_origin before[INSN_GENERAL];
		bool had = divided, called = work->calls;

		memcpy(before, work->behind_calls, sizeof(before));
		err = err ? err : enter_pads(follow, &divided);
		again = !err && (divided != had || (called && join(before, work->behind_calls)) ||
				 called != work->calls);
	} while (again);
	return err;
}

static int find_origins(const struct follow *of, size_t place, const struct insn_entries *entries,
			struct insn_origin origin[INSN_GENERAL])
{
	const struct follow follow = *of;
	struct insn_origin_work *work = follow.work;
	size_t length = follow.length;
	struct insn_origin entry[INSN_GENERAL];
	struct insn_origin before[INSN_GENERAL];
	int err;

	if (length > INSN_ORIGIN_CODE || place >= length)
		return -E2BIG;
	memset(work->reached, 0, length);
	memset(work->waiting, 0, length);
	work->queued = 0;
	work->jumps_anywhere = work->calls = 0;
	for (int i = 0; i < INSN_GENERAL; i++)
		entry[i] = (struct insn_origin){.number = (int8_t)i};
	reach(&follow, 0, entry);
	err = settle(&follow);
	if (!err)
		err = enter_elsewhere(&follow, entries);
	while (!err && work->jumps_anywhere) {
		memcpy(before, work->anywhere, sizeof(before));
		err = spread(&follow);
		if (!err)
			err = settle(&follow);
		if (!join(before, work->anywhere))
			break;
	}
	if (err)
		return err;
	if (work->reached[place] != 1)
		return -ENOENT;
	memcpy(origin, work->at[place], sizeof(work->at[place]));
	return 0;
}

int insn_origins(const uint8_t *code, size_t length, size_t place,
		 const struct insn_entries *entries, struct insn_origin_work *work,
		 struct insn_origin origin[INSN_GENERAL])
{
	const struct follow follow = {code, length, work, false};

	return find_origins(&follow, place, entries, origin);
}

int insn_origins_likely(const uint8_t *code, size_t length, struct insn_origin_work *work)
{
	const struct follow follow = {code, length, work, true};
	struct insn_origin entry[INSN_GENERAL];

	return find_origins(&follow, 0, NULL, entry);
}
