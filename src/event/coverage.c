/* SPDX-License-Identifier: Apache-2.0 */
#include "event/coverage.h"

#include "base/counters.h"
#include "base/memory.h"
#include "base/pieces.h"
#include "base/syscall.h"
#include "event/arch.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#define MAX_PASSES 1000
/* Roots of a coverage that takes no page. */
#define FEW 16u
#define MANY 512u

static struct pieces pieces;
static struct coverage_root piece[PIECES][FEW];

struct opening {
	struct coverage *coverage;
	const struct coverage_target *target;
	struct perf_request request;
	coverage_data_fn *data;
	void *context;
};

static void free_roots(const struct coverage *coverage)
{
	if (!pieces_give(&pieces, piece, sizeof(piece[0]), coverage->roots))
		page_free(coverage->roots, coverage->capacity * sizeof(*coverage->roots));
}

static int coverage_grow(struct coverage *coverage)
{
	size_t capacity = FEW;
	struct coverage_root *roots =
		coverage->capacity ? NULL : pieces_take(&pieces, piece, sizeof(piece[0]));

	if (!roots) {
		capacity = coverage->capacity < MANY ? MANY : coverage->capacity * 4;
		roots = page_allocate(capacity * sizeof(*roots));
	}
	if (!roots)
		return -ENOMEM;
	if (coverage->count)
		memcpy(roots, coverage->roots, coverage->count * sizeof(*roots));
	free_roots(coverage);
	coverage->roots = roots;
	coverage->capacity = capacity;
	return 0;
}

/* One descriptor a thread can exceed the soft limit, which is there for select(2)'s sake and not
 * against us: lift it to the hard limit for this one call. */
static int open_beyond_soft_limit(const struct perf_request *request, pid_t tid)
{
	struct rlimit limit, lifted;
	int fd;

	if (raw_syscall6(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)&limit, 0, 0) < 0 ||
	    limit.rlim_cur >= limit.rlim_max)
		return -EMFILE;
	lifted = limit;
	lifted.rlim_cur = limit.rlim_max;
	raw_syscall6(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&lifted, 0, 0, 0);
	fd = perf_open(request, tid);
	raw_syscall6(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&limit, 0, 0, 0);
	return fd;
}

static struct relocation_place place_of(const struct perf_request *request)
{
	return (struct relocation_place){request->addr, request->length, request->access};
}

static int open_root(struct opening *opening, pid_t tid)
{
	struct coverage *coverage = opening->coverage;
	int err, fd;

	if (coverage->count == coverage->capacity) {
		err = coverage_grow(coverage);
		if (err)
			return err;
	}
	opening->request.data = opening->data(opening->context, (unsigned)coverage->count);
	fd = perf_open(&opening->request, tid);
	if (fd == -EMFILE)
		fd = open_beyond_soft_limit(&opening->request, tid);
	if (fd < 0)
		return fd;
	coverage->roots[coverage->count++] =
		(struct coverage_root){tid, fd, place_of(&opening->request)};
	return 0;
}

/* Opens in one listed thread; a thread that ended meanwhile is no error. */
static int open_listed(struct opening *opening, pid_t tid)
{
	int err = open_root(opening, tid);

	if (err == -ESRCH) {
		counter_increment(COUNTER_THREADS_GONE);
		return 0;
	}
	if (err && opening->target->best_effort) {
		counter_increment(COUNTER_THREADS_UNCOVERED);
		opening->coverage->left_out++;
		return 0;
	}
	return err;
}

/*
 * A thread that appeared while we were opening: inherited or not? A breakpoint takes a slot, so one
 * that inherited has no more free slots than a thread known to be covered. Wrong only if the
 * program opens breakpoints of its own in that very thread at that very moment.
 */
static bool seems_covered(const struct opening *opening, pid_t tid, int free_when_covered)
{
	return opening->request.access && perf_free_slots(tid) <= free_when_covered;
}

/* Of a thread known to be covered. Each look opens events and closes them again. */
static int count_free_slots(const struct opening *opening)
{
	const struct coverage *coverage = opening->coverage;

	return opening->request.access
		       ? perf_free_slots(coverage->count ? coverage->roots[0].tid : 0)
		       : 0;
}

static int open_latecomers(struct opening *opening, struct thread_set *known, bool *found)
{
	struct thread_set now = {0};
	int err = thread_set_list(&now, opening->target->pid), free_when_covered = 0;

	*found = false;
	for (size_t i = 0; i < now.count && !err; i++) {
		if (thread_set_contains(known, now.tids[i]))
			continue;
		if (!*found)
			free_when_covered = count_free_slots(opening);
		*found = true;
		opening->coverage->ambiguous = true;
		err = thread_set_add(known, now.tids[i]);
		if (!err && !seems_covered(opening, now.tids[i], free_when_covered))
			err = open_listed(opening, now.tids[i]);
	}
	thread_set_destroy(&now);
	return err;
}

static int open_process(struct opening *opening)
{
	struct thread_set known = {0};
	bool found = true;
	int err = thread_set_list(&known, opening->target->pid);
	bool alone = known.count == 1;

	for (size_t i = 0; i < known.count && !err; i++)
		err = open_listed(opening, known.tids[i]);
	/* A single thread that is ourselves creates none meanwhile. */
	if (alone && !opening->target->pid)
		found = false;
	for (int pass = 0; !err && found; pass++) {
		if (opening->target->settle)
			opening->target->settle();
		err = pass < MAX_PASSES ? open_latecomers(opening, &known, &found) : -EAGAIN;
		if (found)
			counter_increment(COUNTER_COVERAGE_RETRIES);
	}
	thread_set_destroy(&known);
	if (!err && !opening->coverage->count)
		err = -ESRCH;
	return err;
}

static int open_threads(struct opening *opening)
{
	const struct coverage_target *target = opening->target;
	int err = 0;

	for (size_t i = 0; i < target->ntids && !err; i++) {
		err = open_root(opening, target->tids[i]);
		if (err && target->best_effort) {
			counter_increment(COUNTER_THREADS_UNCOVERED);
			opening->coverage->left_out++;
			err = 0;
		}
	}
	return err;
}

static void apply_scope(struct perf_request *request, enum tl_scope scope)
{
	request->inherit = scope == TL_PROCESS || scope == TL_TREE;
	request->threads_only = scope == TL_PROCESS;
}

int coverage_open(struct coverage *coverage, const struct coverage_target *target,
		  const struct perf_request *request, coverage_data_fn *data, void *context)
{
	struct opening opening = {coverage, target, *request, data, context};
	int err;

	memset(coverage, 0, sizeof(*coverage));
	apply_scope(&opening.request, target->scope);
	switch (target->scope) {
	case TL_THREAD:
		err = open_root(&opening, target->pid);
		break;
	case TL_THREADS:
		err = open_threads(&opening);
		break;
	case TL_PROCESS:
	case TL_TREE:
		err = open_process(&opening);
		break;
	default:
		err = -EINVAL;
	}
	if (err)
		coverage_close(coverage);
	return err;
}

/* Applies to every root; the first error is returned, the others are still done. A root whose
 * thread has ended answers -ESRCH or succeeds: neither matters. */
static int each_root(struct coverage *coverage, int (*operation)(int fd))
{
	int first_error = 0;

	for (size_t i = 0; i < coverage->count; i++) {
		int err = operation(coverage->roots[i].fd);

		if (err && err != -ESRCH && !first_error)
			first_error = err;
	}
	return first_error;
}

static int switch_roots(struct coverage *coverage, const struct coverage_target *target,
			int (*operation)(int fd))
{
	int err = each_root(coverage, operation);

	if (err || target->scope == TL_THREAD || target->scope == TL_THREADS)
		return err;
	if (target->settle)
		target->settle();
	return each_root(coverage, operation);
}

int coverage_enable(struct coverage *coverage, const struct coverage_target *target)
{
	return switch_roots(coverage, target, perf_enable);
}

int coverage_disable(struct coverage *coverage, const struct coverage_target *target)
{
	return switch_roots(coverage, target, perf_disable);
}

/* Off until the last step: what lies between is nobody's wish. */
static int modify_root(struct coverage_root *root, const struct perf_request *request)
{
	struct perf_request between = *request;
	struct relocation_place step[RELOCATION_STEPS], to = place_of(request);
	unsigned count = relocation_steps(&root->place, &to, event_arch.code_length, step);
	int err = 0;

	between.disabled = true;
	for (unsigned i = 0; i < count && !err; i++) {
		between.addr = step[i].addr;
		between.length = step[i].length;
		between.access = step[i].access;
		err = perf_modify(root->fd, &between);
		if (!err)
			root->place = step[i];
	}
	if (!err)
		err = perf_modify(root->fd, request);
	if (!err)
		root->place = to;
	return err;
}

int coverage_modify(struct coverage *coverage, const struct coverage_target *target,
		    const struct perf_request *request, coverage_data_fn *data, void *context)
{
	struct perf_request changed = *request;
	int first_error = 0;

	apply_scope(&changed, target->scope);
	for (size_t i = 0; i < coverage->count; i++) {
		int err;

		changed.data = data(context, (unsigned)i);
		err = modify_root(&coverage->roots[i], &changed);
		if (err && !first_error)
			first_error = err;
	}
	return first_error;
}

void coverage_trim(struct coverage *coverage, size_t count)
{
	while (coverage->count > count)
		coverage_remove(coverage, coverage->count - 1);
}

uint64_t coverage_count(const struct coverage *coverage)
{
	uint64_t count = 0;

	for (size_t i = 0; i < coverage->count; i++)
		count += perf_count(coverage->roots[i].fd);
	return count;
}

static uint64_t given_data(void *context, unsigned root)
{
	(void)root;
	return *(const uint64_t *)context;
}

int coverage_add(struct coverage *coverage, const struct perf_request *request, pid_t tid)
{
	uint64_t data = request->data;
	struct opening opening = {
		.coverage = coverage, .request = *request, .data = given_data, .context = &data};

	return open_root(&opening, tid);
}

uint64_t coverage_remove(struct coverage *coverage, size_t index)
{
	uint64_t count = perf_count(coverage->roots[index].fd);

	raw_close(coverage->roots[index].fd);
	coverage->roots[index] = coverage->roots[--coverage->count];
	return count;
}

void coverage_close(struct coverage *coverage)
{
	for (size_t i = 0; i < coverage->count; i++)
		raw_close(coverage->roots[i].fd);
	free_roots(coverage);
	memset(coverage, 0, sizeof(*coverage));
}
