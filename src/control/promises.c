/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions whose memory other threads come to: worth more looks than others, as long as
 * something comes of it.
 */
#include "control/private.h"

#define INTEREST_CHANGED (3 * INTEREST_EQUAL) /* more, of one whose memory changed */
#define CHANGE_TRIES 4			      /* for each change that was seen */

static struct promise *find_promise(struct target *target, uint64_t pc)
{
	for (unsigned i = 0; i < target->promising_used; i++)
		if (target->promising[i].pc == pc)
			return &target->promising[i];
	return NULL;
}

static struct promise *keep(struct target *target, uint64_t pc, pid_t tid)
{
	struct promise *promise = find_promise(target, pc);
	unsigned place;

	if (space_is_libc(target->space, pc))
		return NULL;
	if (!promise) {
		place = target->promising_used < PROMISING_MAX
				? target->promising_used++
				: (unsigned)(control_random(target->control) % PROMISING_MAX);
		promise = &target->promising[place];
		*promise = (struct promise){.pc = pc};
	}
	promise->tid = tid;
	return promise;
}

void promises_note(struct target *target, uint64_t pc, pid_t tid)
{
	keep(target, pc, tid);
}

void promises_change(struct target *target, uint64_t pc, pid_t tid)
{
	struct promise *promise = keep(target, pc, tid);

	if (promise)
		promise->changes++;
}

/* Memory that changes under a thread is worth some tries, whatever is thought of the instruction.
 */
static unsigned interest_of(struct target *target, const struct promise *promise)
{
	unsigned interest = code_interest(target, promise->pc);

	if (promise->changes)
		interest += INTEREST_CHANGED * promise->changes /
			    (promise->changes + promise->tries / CHANGE_TRIES);
	return interest;
}

/* Each as likely as it is interesting. */
static struct promise *draw_promise(struct target *target, unsigned *interest)
{
	unsigned count = target->promising_used, drawn;
	uint64_t weight[PROMISING_MAX];

	for (unsigned i = 0; i < count; i++)
		weight[i] = interest_of(target, &target->promising[i]);
	drawn = control_draw(target->control, weight, count);
	if (drawn == count)
		return NULL;
	*interest = (unsigned)weight[drawn];
	return &target->promising[drawn];
}

struct promise *promises_choose(struct target *target, unsigned *interest)
{
	struct control *control = target->control;
	struct promise *promise;

	if (control_random(control) % 8 >= (is_scarce(control) ? 6 : 4))
		return NULL;
	promise = draw_promise(target, interest);
	return promise && control_random(control) % INTEREST_EQUAL < *interest ? promise : NULL;
}
