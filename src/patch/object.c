/* SPDX-License-Identifier: Apache-2.0 */
/* Applying and reverting: the protocol at the top of patch.h, for several functions at once. */
#include "patch/patch.h"

#include "base/counters.h"
#include "base/syscall.h"
#include "event/explain.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/hit.h>

#define ARMING_STEP_NS 10000

/* Also held across fork(), so that no child sees code half written. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct tl_patch *patches;

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&lock);
}

static void follow_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork);
}

/* ---- the breakpoint --------------------------------------------------------------------- */

static void on_entry(tl_hit *hit, void *arg)
{
	const struct patch_change *change = arg;
	uint32_t live;

	/* The thread had SIGTRAP blocked: it entered the function long ago. */
	if (tl_hit_access(hit) & TL_LATE) {
		counter_increment(COUNTER_PATCH_CALLS_MISSED);
		return;
	}
	while ((live = __atomic_load_n(&change->patch->live, __ATOMIC_SEQ_CST)) == PATCH_ARMING)
		raw_nanosleep(ARMING_STEP_NS);
	if (live == PATCH_NEW)
		tl_hit_resume_at(hit, change->target);
}

static int arm(struct patch_change *change)
{
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (const void *)change->entry,
			       .access = TL_EXEC,
			       .scope = TL_PROCESS};

	return change->event ? 0 : tl_event_open(&change->event, &spec, on_entry, change);
}

static void disarm(struct patch_change *change)
{
	if (change->event)
		tl_event_close(change->event);
	change->event = NULL;
}

static void disarm_all(struct tl_patch *patch)
{
	for (size_t i = 0; i < patch->count; i++)
		disarm(&patch->changes[i]);
}

static int arm_all(struct tl_patch *patch)
{
	int err = 0;

	for (size_t i = 0; i < patch->count && !err; i++)
		err = arm(&patch->changes[i]);
	return err;
}

/* ---- the jump --------------------------------------------------------------------------- */

static int write_jump(struct patch_change *change)
{
	uintptr_t to = patch_reach(change->entry, change->target);
	uint8_t bytes[PATCH_JUMP_LENGTH] = {0xe9};
	int32_t distance = (int32_t)(to - (change->entry + PATCH_JUMP_LENGTH));

	if (!to)
		return -ERANGE;
	memcpy(bytes + 1, &distance, sizeof(distance));
	patch_write(change, bytes);
	change->jumps = true;
	return 0;
}

static const char *reason_to_stay(int err)
{
	switch (err) {
	case -ETIMEDOUT:
		return "a thread was interrupted inside the function's first bytes, or did not "
		       "tell in time";
	case -ERANGE:
		return "no memory is free within the reach of a jump";
	case -EAGAIN:
		return "no real-time signal is free to ask the threads where they are";
	case -ENOSYS:
	case -EINVAL:
		return "the kernel lacks membarrier(2) with SYNC_CORE";
	default:
		return "the function's page may not be made writable";
	}
}

/* Leaves a function that it cannot write on its breakpoint. Only -EBUSY is an error: then not
 * even the breakpoint redirects every thread. */
static int replace_breakpoints(struct tl_patch *patch, int writable)
{
	int err = writable ? writable : patch_check_threads(patch);

	if (err == -EBUSY)
		return explain_failure(
			-EBUSY, "a thread that runs has SIGTRAP, or the signal that asks threads "
				"where they are, blocked, so that it cannot be redirected; unblock "
				"it there, or use TL_PATCH_BREAKPOINT and leave that thread out");
	for (size_t i = 0; i < patch->count && !err; i++) {
		err = write_jump(&patch->changes[i]);
		if (!err)
			disarm(&patch->changes[i]);
	}
	if (err) {
		patch->reason = reason_to_stay(err);
		counter_increment(COUNTER_PATCHES_ON_BREAKPOINT);
	}
	return 0;
}

/* ---- checking --------------------------------------------------------------------------- */

static bool overlaps(const struct patch_change *a, const struct patch_change *b)
{
	return a->entry < b->entry + PATCH_JUMP_LENGTH && b->entry < a->entry + PATCH_JUMP_LENGTH;
}

static int check_against(const struct patch_change *change, const struct tl_patch *patch)
{
	for (size_t i = 0; i < patch->count; i++) {
		const struct patch_change *other = &patch->changes[i];

		if (change == other)
			continue;
		if (overlaps(change, other))
			return explain_failure(-EEXIST,
					       "the old function, or one whose first bytes "
					       "overlap its own, is replaced already; "
					       "revert that patch first");
		if (change->target == other->start || change->target == other->entry)
			return explain_failure(-ELOOP, "the new function is itself replaced by "
						       "another; name that one, or revert first");
	}
	return 0;
}

static int check_change(struct patch_change *change, unsigned flags)
{
	int err;

	if (!change->start || !change->target)
		return explain_failure(-EINVAL, "the old or the new function is NULL");
	err = patch_examine(change, !(flags & TL_PATCH_BREAKPOINT));
	if (!err && (change->target == change->start || change->target == change->entry))
		return explain_failure(-EINVAL, "the old and the new function are the same");
	for (const struct tl_patch *other = patches; other && !err; other = other->next)
		err = check_against(change, other);
	return err;
}

static int check_request(tl_patch **patch, const struct tl_patch_change *changes, size_t count,
			 unsigned flags)
{
	explain_clear();
	if (!patch || !changes || !count || flags & ~TL_PATCH_BREAKPOINT)
		return explain_failure(-EINVAL, "tl_patch_apply() needs a place for the patch, a "
						"function, and no flag but TL_PATCH_BREAKPOINT");
	if (count > TL_PATCH_MAX)
		return explain_failure(-E2BIG, "at most four functions can be replaced at once: "
					       "each needs a breakpoint slot");
	return 0;
}

static int adopt(struct tl_patch *patch, const struct tl_patch_change *changes, size_t count,
		 unsigned flags)
{
	int err = 0;

	for (; patch->count < count && !err; patch->count++) {
		struct patch_change *change = &patch->changes[patch->count];

		change->patch = patch;
		change->start = (uintptr_t)changes[patch->count].old_fn;
		change->target = (uintptr_t)changes[patch->count].new_fn;
		err = check_change(change, flags);
	}
	/* Against each other, once all entries are known. */
	for (size_t i = 0; i < count && !err; i++)
		err = check_against(&patch->changes[i], patch);
	return err;
}

/* ---- the interface ---------------------------------------------------------------------- */

static int apply_locked(struct tl_patch *patch, unsigned flags)
{
	bool jump = !(flags & TL_PATCH_BREAKPOINT);
	int writable = jump ? patch_write_begin(patch) : -EACCES;
	int err;

	/* One alone changes when it is armed. */
	patch->live = patch->count == 1 ? PATCH_NEW : PATCH_ARMING;
	err = arm_all(patch);
	if (!err) {
		/* The instant from which threads call the new functions. */
		__atomic_store_n(&patch->live, PATCH_NEW, __ATOMIC_SEQ_CST);
		if (jump)
			err = replace_breakpoints(patch, writable);
	}
	if (err) {
		__atomic_store_n(&patch->live, PATCH_OLD, __ATOMIC_SEQ_CST);
		disarm_all(patch);
	}
	if (!writable)
		patch_write_end(patch);
	if (err)
		return err;
	patch->next = patches;
	patches = patch;
	return 0;
}

int tl_patch_apply_all(tl_patch **patch, const struct tl_patch_change *changes, size_t count,
		       unsigned flags)
{
	struct tl_patch *created;
	int err = check_request(patch, changes, count, flags);

	if (err)
		return err;
	created = calloc(1, sizeof(*created));
	if (!created)
		return -ENOMEM;
	pthread_once(&once, follow_forks);
	pthread_mutex_lock(&lock);
	err = adopt(created, changes, count, flags);
	if (!err)
		err = apply_locked(created, flags);
	pthread_mutex_unlock(&lock);
	if (err)
		free(created);
	else
		*patch = created;
	return err;
}

int tl_patch_apply(tl_patch **patch, void *old_fn, void *new_fn, unsigned flags)
{
	struct tl_patch_change change = {old_fn, new_fn};

	return tl_patch_apply_all(patch, &change, 1, flags);
}

/* When not all can be armed, those made of jumps stay so: all stay in force. */
static int arm_for_revert(struct tl_patch *patch)
{
	int err = arm_all(patch);

	if (err)
		for (size_t i = 0; i < patch->count; i++)
			if (patch->changes[i].jumps)
				disarm(&patch->changes[i]);
	return err;
}

/* The breakpoints redirect while the bytes are put back. */
static void restore_code(struct tl_patch *patch)
{
	for (size_t i = 0; i < patch->count; i++) {
		struct patch_change *change = &patch->changes[i];

		if (change->jumps)
			patch_write(change, change->original);
		change->jumps = false;
	}
}

static bool has_jumps(const struct tl_patch *patch)
{
	for (size_t i = 0; i < patch->count; i++)
		if (patch->changes[i].jumps)
			return true;
	return false;
}

static void forget(struct tl_patch *patch)
{
	struct tl_patch **link = &patches;

	while (*link && *link != patch)
		link = &(*link)->next;
	if (*link)
		*link = patch->next;
}

static int revert_locked(struct tl_patch *patch)
{
	bool writes = has_jumps(patch);
	int err = writes ? patch_write_begin(patch) : 0;

	if (err)
		return err;
	err = arm_for_revert(patch);
	if (!err) {
		restore_code(patch);
		/* The instant from which threads call the old functions. */
		__atomic_store_n(&patch->live, PATCH_OLD, __ATOMIC_SEQ_CST);
		disarm_all(patch);
		forget(patch);
	}
	if (writes)
		patch_write_end(patch);
	return err;
}

int tl_patch_revert(tl_patch *patch)
{
	int err;

	if (!patch)
		return -EINVAL;
	explain_clear();
	pthread_mutex_lock(&lock);
	err = revert_locked(patch);
	pthread_mutex_unlock(&lock);
	if (!err)
		free(patch);
	return err;
}

int tl_patch_on_breakpoint(const tl_patch *patch)
{
	for (size_t i = 0; i < patch->count; i++)
		if (!patch->changes[i].jumps)
			return 1;
	return 0;
}

const char *tl_patch_reason(const tl_patch *patch)
{
	return patch->reason;
}
