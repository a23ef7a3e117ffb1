/* SPDX-License-Identifier: Apache-2.0 */
/* Applying and reverting: the protocol at the top of patch.h, for several functions at once. */
#include "patch/patch.h"

#include "base/counters.h"
#include "event/explain.h"
#include "event/firing.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/hit.h>

/* Held while a patch is applied or reverted, and across fork(), so that no child sees code half
 * written. All sites and patches are written under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct tl_patch *patches; /* those in force, the newest first; under `lock` */

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

/* ---- on breakpoints --------------------------------------------------------------------- */

/* Leads the thread to the new function. A late hit comes from a thread that had SIGTRAP blocked: it
 * has long run the old function, so that call is counted as missed. */
static void on_entry(tl_hit *hit, void *arg)
{
	uintptr_t to = patch_site_destination(arg);

	if (tl_hit_access(hit) & TL_LATE)
		counter_increment(COUNTER_PATCH_CALLS_MISSED);
	else if (to)
		tl_hit_resume_at(hit, to);
}

static void disarm(struct tl_patch *patch)
{
	for (size_t i = 0; i < patch->count; i++) {
		if (patch->changes[i].event)
			tl_event_close(patch->changes[i].event);
		patch->changes[i].event = NULL;
	}
}

static int arm(struct tl_patch *patch)
{
	int err = 0;

	if (firing_is_absent(TL_EXEC))
		return explain_failure(-EOPNOTSUPP, FIRING_ABSENT);
	for (size_t i = 0; i < patch->count && !err; i++) {
		struct patch_change *change = &patch->changes[i];
		struct tl_spec spec = {.size = sizeof(spec),
				       .addr = (const void *)change->site->entry,
				       .access = TL_EXEC,
				       .scope = TL_PROCESS};

		err = tl_event_open(&change->event, &spec, on_entry, change->site);
	}
	if (err)
		disarm(patch);
	return err;
}

static uint64_t prepare(struct tl_patch *patch, bool apply)
{
	uint64_t operation = patch_site_operation();

	for (size_t i = 0; i < patch->count; i++)
		patch_site_prepare(patch->changes[i].site, operation,
				   apply ? patch->changes[i].target : 0);
	return operation;
}

static int apply_breakpoints(struct tl_patch *patch)
{
	uint64_t operation = prepare(patch, true);
	int err = arm(patch);

	if (err)
		operation = prepare(patch, false);
	patch_site_instant(operation);
	return err;
}

static int revert_breakpoints(struct tl_patch *patch)
{
	patch_site_instant(prepare(patch, false));
	disarm(patch);
	return 0;
}

/* ---- by jumps --------------------------------------------------------------------------- */

static int check_bytes(const struct tl_patch *patch, bool jump)
{
	for (size_t i = 0; i < patch->count; i++)
		if (!patch_is_written(patch->changes[i].site, jump))
			return explain_failure(-EBUSY,
					       "the function's first bytes are not those "
					       "expected: a debugger or another patcher has "
					       "changed them; undo that first");
	return 0;
}

/* 0: the pages of all jumps are writable, the bytes there are those expected (of a jump, or the
 * original ones), and each running thread takes the signal of a trap. */
static int begin_writing(struct tl_patch *patch, bool jump)
{
	int err;

	if (patch_site_lost_signal())
		return explain_failure(-EBUSY,
				       "the program has replaced the handler of SIGILL by a "
				       "raw system call, so that a trap would not reach "
				       "us");
	err = patch_wait_deliverable();
	if (!err)
		err = patch_write_begin(patch);
	if (err)
		return err;
	err = check_bytes(patch, jump);
	if (err)
		patch_write_end(patch);
	return err;
}

/* Called when nothing can fail any more, and before the instant: the new function, which may call
 * the old one by this, is called only after it. */
static void tell_originals(const struct tl_patch *patch)
{
	for (size_t i = 0; i < patch->count; i++)
		if (patch->changes[i].original)
			*patch->changes[i].original = (void *)patch->changes[i].site->copy;
}

static int apply_jumps(struct tl_patch *patch)
{
	int err = begin_writing(patch, false);
	uint64_t operation;

	if (err)
		return err;
	for (size_t i = 0; i < patch->count; i++)
		/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): each change has a site */
		__atomic_store_n(patch->changes[i].site->destination, patch->changes[i].target,
				 __ATOMIC_SEQ_CST);
	tell_originals(patch);
	operation = prepare(patch, true);
	patch_write_traps(patch);
	patch_site_instant(operation);
	patch_write_jumps(patch);
	patch_write_end(patch);
	return 0;
}

static int revert_jumps(struct tl_patch *patch)
{
	int err = begin_writing(patch, true);
	uint64_t operation;

	if (err)
		return err;
	operation = prepare(patch, false);
	patch_write_traps(patch);
	patch_site_instant(operation);
	patch_write_originals(patch);
	patch_write_end(patch);
	return 0;
}

/* ---- sites ------------------------------------------------------------------------------ */

static const char *reason_to_stay(int err)
{
	switch (err) {
	case -ENOMEM:
		return "no memory is free within the reach of a jump to the function";
	case -ENOSYS:
		return "the kernel lacks membarrier(2) with SYNC_CORE";
	default:
		return "the function's page may not be made writable, or memory not executable";
	}
}

static int refuse_copy(void)
{
	return explain_failure(-EINVAL, "one of the old function's first instructions cannot run "
					"elsewhere; use TL_PATCH_BREAKPOINT");
}

/* Are the instructions still those that the site was made for? Another library may have been loaded
 * in the place of the old one. */
static bool is_same_code(const struct patch_site *a, const struct patch_site *b)
{
	return a->entry == b->entry && a->beyond == b->beyond &&
	       !memcmp(a->covered, b->covered, sizeof(a->covered));
}

/* The site of `start`: the one it has, when the code is still the same, or a new one. */
static int find_site(uintptr_t start, bool jump, struct patch_site **found)
{
	struct patch_site *known = patch_site_find(start);
	struct patch_site site = {.start = start};
	int err = patch_examine(&site, jump);

	if (err)
		return err;
	if (known &&
	    (jump ? known->copy && is_same_code(known, &site) : known->entry == site.entry)) {
		*found = known;
		return 0;
	}
	if (jump)
		err = patch_place(&site);
	if (err)
		return err == -ENOTSUP || err == -ERANGE ? refuse_copy() : err;
	*found = patch_site_keep(&site);
	return *found ? 0 : -EAGAIN;
}

static bool overlaps(const struct patch_site *a, const struct patch_site *b)
{
	return a->entry < b->entry + PATCH_JUMP_LENGTH && b->entry < a->entry + PATCH_JUMP_LENGTH;
}

static int check_against(const struct patch_change *change, const struct tl_patch *patch)
{
	const struct patch_site *site = change->site;

	for (size_t i = 0; i < patch->count; i++) {
		const struct patch_change *other = &patch->changes[i];

		if (change == other)
			continue;
		if (overlaps(site, other->site))
			return explain_failure(-EEXIST,
					       "the old function, or one whose first bytes "
					       "overlap its own, is replaced already; "
					       "revert that patch first");
		if (change->target == other->site->start || change->target == other->site->entry)
			return explain_failure(-ELOOP, "the new function is itself replaced by "
						       "another; name that one, or revert first");
	}
	return 0;
}

/* Refuses a function that a patch in force replaces. Called before the function's bytes are looked
 * at, since they are then the jump's. */
static int check_not_replaced(uintptr_t start)
{
	struct patch_site site = {.start = start, .entry = start};
	struct patch_change change = {.site = &site, .target = 0};
	int err = 0;

	for (const struct tl_patch *other = patches; other && !err; other = other->link)
		err = check_against(&change, other);
	return err;
}

static int adopt_change(struct patch_change *change, const struct tl_patch_change *wanted,
			bool jump)
{
	int err = check_not_replaced((uintptr_t)wanted->old_fn);

	if (err)
		return err;
	if (wanted->original && !jump)
		return explain_failure(-EINVAL, "where the old function can be called is only told "
						"when it is replaced by a jump");
	change->target = (uintptr_t)wanted->new_fn;
	err = find_site((uintptr_t)wanted->old_fn, jump, &change->site);
	if (err || !change->site)
		return err;
	if (change->target == change->site->start || change->target == change->site->entry)
		return explain_failure(-EINVAL, "the old and the new function are the same");
	for (const struct tl_patch *other = patches; other && !err; other = other->link)
		err = check_against(change, other);
	change->original = wanted->original;
	return err;
}

static int adopt(struct tl_patch *patch, const struct tl_patch_change *changes, size_t count,
		 bool jump)
{
	int err = 0;

	patch->jumps = jump;
	patch->count = 0;
	for (size_t i = 0; i < count && !err; i++)
		err = adopt_change(&patch->changes[i], &changes[i], jump);
	/* Against each other, once all entries are known. */
	patch->count = err ? 0 : count;
	for (size_t i = 0; i < patch->count && !err; i++)
		err = check_against(&patch->changes[i], patch);
	return err;
}

/* ---- the interface ---------------------------------------------------------------------- */

static int check_request(tl_patch **patch, const struct tl_patch_change *changes, size_t count,
			 unsigned flags)
{
	explain_clear();
	if (!patch || !changes || !count || flags & ~TL_PATCH_BREAKPOINT)
		return explain_failure(-EINVAL, "tl_patch_apply() needs a place for the patch, a "
						"function, and no flag but TL_PATCH_BREAKPOINT");
	if (count > TL_PATCH_MAX)
		return explain_failure(-E2BIG, "at most TL_PATCH_MAX functions can be replaced at "
					       "once");
	for (size_t i = 0; i < count; i++)
		if (!changes[i].old_fn || !changes[i].new_fn)
			return explain_failure(-EINVAL, "the old or the new function is NULL");
	return 0;
}

/* Is this a failure that breakpoints, which change no memory, may not meet? */
static bool is_for_breakpoints(int err)
{
	return err == -ENOMEM || err == -EACCES || err == -ENOSYS || err == -EPERM;
}

static int apply_locked(struct tl_patch *patch, const struct tl_patch_change *changes, size_t count,
			unsigned flags)
{
	bool jump = !(flags & TL_PATCH_BREAKPOINT);
	int err = jump ? patch_site_own_signal() : 0;

	if (!err)
		err = adopt(patch, changes, count, jump);
	if (!err)
		err = jump ? apply_jumps(patch) : apply_breakpoints(patch);
	if (!jump || !is_for_breakpoints(err))
		return err;
	patch->reason = reason_to_stay(err);
	err = adopt(patch, changes, count, false);
	if (!err)
		err = apply_breakpoints(patch);
	if (!err)
		counter_increment(COUNTER_PATCHES_ON_BREAKPOINT);
	return err;
}

int tl_patch_apply_all(tl_patch **patch, const struct tl_patch_change *changes, size_t count,
		       unsigned flags)
{
	struct tl_patch *created;
	int err = check_request(patch, changes, count, flags);

	if (err)
		return err;
	created = calloc(1, sizeof(*created) + count * sizeof(created->changes[0]));
	if (!created)
		return -ENOMEM;
	pthread_once(&once, follow_forks);
	pthread_mutex_lock(&lock);
	patch_pace_begin();
	err = apply_locked(created, changes, count, flags);
	if (!err) {
		created->link = patches;
		patches = created;
	}
	pthread_mutex_unlock(&lock);
	if (err)
		free(created);
	else
		*patch = created;
	return err;
}

int tl_patch_apply(tl_patch **patch, void *old_fn, void *new_fn, unsigned flags)
{
	struct tl_patch_change change = {old_fn, new_fn, NULL};

	return tl_patch_apply_all(patch, &change, 1, flags);
}

static void forget(struct tl_patch *patch)
{
	struct tl_patch **link = &patches;

	while (*link && *link != patch)
		link = &(*link)->link;
	if (*link)
		*link = patch->link;
}

int tl_patch_revert(tl_patch *patch)
{
	int err;

	explain_clear();
	if (!patch)
		return explain_failure(-EINVAL, "tl_patch_revert() needs a patch");
	pthread_mutex_lock(&lock);
	patch_pace_begin();
	err = patch->jumps ? revert_jumps(patch) : revert_breakpoints(patch);
	if (!err)
		forget(patch);
	pthread_mutex_unlock(&lock);
	if (!err)
		free(patch);
	return err;
}

int tl_patch_on_breakpoint(const tl_patch *patch)
{
	return !patch->jumps;
}

const char *tl_patch_reason(const tl_patch *patch)
{
	return patch->reason;
}
