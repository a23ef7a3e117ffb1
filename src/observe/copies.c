/* SPDX-License-Identifier: Apache-2.0 */
#include "observe/copies.h"

#include "base/clock.h"
#include "process/thread_pointer.h"
#include "process/thread_status.h"

#include <errno.h>
#include <stdlib.h>

#define ROOM_MIN 64
#define LOOK_REST 4 /* times what a look took, so that looks take a fifth of a CPU at most */

static void *grow(void *array, size_t count, size_t *capacity, size_t size)
{
	size_t wanted = *capacity ? 2 * *capacity : ROOM_MIN;
	void *grown = array;

	if (count == *capacity) {
		grown = reallocarray(array, wanted, size);
		*capacity = grown ? wanted : *capacity;
	}
	return grown;
}

static struct observed_thread *find_thread(const struct observed_copies *copies, pid_t tid)
{
	for (size_t i = 0; i < copies->threads; i++)
		if (copies->thread[i].tid == tid)
			return &copies->thread[i];
	return NULL;
}

static struct observed_thread *add_thread(struct observed_copies *copies, pid_t tid)
{
	void *grown = grow(copies->thread, copies->threads, &copies->thread_capacity,
			   sizeof(*copies->thread));

	if (!grown)
		return NULL;
	copies->thread = grown;
	copies->thread[copies->threads] = (struct observed_thread){.tid = tid};
	return &copies->thread[copies->threads++];
}

/* ---- births ----------------------------------------------------------------------------- */

static struct observed_birth *find_birth(const struct observed_copies *copies, pid_t tid)
{
	for (size_t i = 0; i < copies->births; i++)
		if (copies->birth[i].tid == tid)
			return &copies->birth[i];
	return NULL;
}

/* Each event of the creator's has a record of it. */
void observed_copies_born(struct target *target, pid_t tid, uint64_t time)
{
	struct observed_copies *copies = &target->observed->copies;
	void *grown;

	if (!copies->wanted || find_birth(copies, tid) || find_thread(copies, tid))
		return;
	grown = grow(copies->birth, copies->births, &copies->birth_capacity,
		     sizeof(*copies->birth));
	if (!grown)
		return;
	copies->birth = grown;
	copies->birth[copies->births++] = (struct observed_birth){.tid = tid, .time = time};
}

/* Of those that were born, who has been met is forgotten, and who has ended unmet is counted. With
 * `last` no look comes after this one. */
static void settle_births(struct target *target, bool last)
{
	struct observed_copies *copies = &target->observed->copies;
	size_t kept = 0;

	for (size_t i = 0; i < copies->births; i++) {
		struct observed_birth birth = copies->birth[i];

		if (find_thread(copies, birth.tid))
			continue;
		if (!last && thread_status_is_there(target->pid, birth.tid))
			copies->birth[kept++] = birth;
		else
			count_one(target->program, COUNT_THREADS_UNMET);
	}
	copies->births = kept;
}

/* ---- looking ---------------------------------------------------------------------------- */

static void announce(struct target *target, struct observed_thread thread)
{
	target->observed->events->thread(target, thread.tid, thread.pointer);
	if (thread.since && clock_now() - thread.since > OBSERVED_LATE_NS)
		count_one(target->program, COUNT_THREADS_LATE);
}

/* `began`: when this look did. A thread without a pointer had not run by then. One that is new and
 * whose birth has not been told was created since the last look. */
static void meet(struct target *target, pid_t tid, uint64_t began)
{
	struct observed_copies *copies = &target->observed->copies;
	struct observed_thread *thread = find_thread(copies, tid);
	const struct observed_birth *birth;

	if (thread && thread->pointer)
		return;
	if (!thread) {
		thread = add_thread(copies, tid);
		if (!thread)
			return;
		birth = find_birth(copies, tid);
		thread->since = birth ? birth->time : copies->looked;
	}
	thread->pointer = thread_pointer(target->space, tid);
	if (thread->pointer)
		announce(target, *thread);
	else
		thread->since = began;
}

static void close_ended(struct slot *slot, const struct thread_set *now)
{
	for (size_t i = 0; i < slot->coverage.count;) {
		if (thread_set_contains(now, slot->coverage.roots[i].tid))
			i++;
		else
			slot->ended_hits += coverage_remove(&slot->coverage, i);
	}
}

static void forget_ended(struct target *target, const struct thread_set *now)
{
	struct observed_copies *copies = &target->observed->copies;
	size_t kept = 0;

	for (size_t i = 0; i < copies->threads; i++)
		if (thread_set_contains(now, copies->thread[i].tid))
			copies->thread[kept++] = copies->thread[i];
		else if (!copies->thread[i].pointer)
			count_one(target->program, COUNT_THREADS_POINTERLESS);
	copies->threads = kept;
	for (size_t i = kept = 0; i < copies->count; i++)
		if (thread_set_contains(now, copies->copy[i].tid))
			copies->copy[kept++] = copies->copy[i];
	copies->count = kept;
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (target->slot[i].each_thread)
			close_ended(&target->slot[i], now);
}

void observed_copies_look(struct target *target, const struct thread_set *now)
{
	struct observed_copies *copies = &target->observed->copies;
	uint64_t began = clock_now();

	forget_ended(target, now);
	for (size_t i = 0; i < now->count; i++)
		meet(target, now->tids[i], began);
	settle_births(target, false);
	copies->looked = began;
	copies->due = clock_now();
	copies->due += (copies->due - began) * LOOK_REST > OBSERVED_LOOK_NS
			       ? (copies->due - began) * LOOK_REST
			       : OBSERVED_LOOK_NS;
}

void observed_copies_settle(struct target *target)
{
	const struct thread_set none = {0};

	if (!target->observed->copies.wanted)
		return;
	settle_births(target, true);
	forget_ended(target, &none);
}

uint64_t observed_copies_next(const struct target *target)
{
	const struct observed_copies *copies = &target->observed->copies;

	return copies->wanted ? copies->due : UINT64_MAX;
}

void observed_announce_threads(struct target *target)
{
	struct observed_copies *copies = &target->observed->copies;
	struct thread_set now = {0};

	if (copies->wanted)
		return;
	copies->wanted = true;
	if (!thread_set_list(&now, target->pid))
		observed_copies_look(target, &now);
	thread_set_destroy(&now);
}

static int remember(struct observed_copies *copies, const struct observed_copy *copy)
{
	void *grown = grow(copies->copy, copies->count, &copies->capacity, sizeof(*copies->copy));

	if (!grown)
		return -ENOMEM;
	copies->copy = grown;
	copies->copy[copies->count++] = *copy;
	return 0;
}

/* Opened disabled: the thread may have ended since, and its number be another's. */
int observed_arm_thread(struct target *target, struct slot *slot, pid_t tid, uint64_t address)
{
	struct observed *observed = target->observed;
	struct observed_copy copy = {.tid = tid, .slot = slot->index, .address = address};
	struct perf_request request = observed_request(target, slot, address);
	size_t first = slot->coverage.count;
	int err = rings_cover(&observed->rings, &slot->coverage, &request, tid);

	if (!err && !family_has(&observed->family, target->pid, tid)) {
		count_one(target->program, COUNT_THREADS_STRANGE);
		err = -ESRCH;
	}
	err = err ? err : remember(&observed->copies, &copy);
	if (err)
		coverage_trim(&slot->coverage, first);
	for (size_t i = first; i < slot->coverage.count && !slot->resting; i++)
		perf_enable(slot->coverage.roots[i].fd);
	thread_names_ask(&observed->names, target->pid, tid); /* its events tell of later names */
	return err;
}

uint64_t observed_thread_pointer(const struct target *target, pid_t tid)
{
	const struct observed_thread *thread = find_thread(&target->observed->copies, tid);

	return thread ? thread->pointer : 0;
}

bool observed_copy_is_at(const struct target *target, const struct slot *slot, pid_t tid,
			 uint64_t address)
{
	const struct observed_copies *copies = &target->observed->copies;

	for (size_t i = 0; i < copies->count; i++) {
		const struct observed_copy *copy = &copies->copy[i];

		if (copy->tid == tid && copy->address == address && copy->slot == slot->index)
			return true;
	}
	return false;
}

void observed_copies_forget(struct target *target, const struct slot *slot)
{
	struct observed_copies *copies = &target->observed->copies;
	size_t kept = 0;

	for (size_t i = 0; i < copies->count; i++)
		if (copies->copy[i].slot != slot->index)
			copies->copy[kept++] = copies->copy[i];
	copies->count = kept;
}

void copies_forget_all(struct observed_copies *copies)
{
	free(copies->thread);
	free(copies->copy);
	free(copies->birth);
	*copies = (struct observed_copies){0};
}
