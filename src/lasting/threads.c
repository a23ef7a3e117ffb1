/* SPDX-License-Identifier: Apache-2.0 */
/* Lasting watches with an address of their own in each thread (lasting/threads.h). */
#include "inject/stacks.h"
#include "lasting/duty.h"
#include "lasting/lasting.h"
#include "lasting/threads.h"
#include "observe/observe.h"
#include "target/cover.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void lasting_announce_threads(struct program *program, pid_t pid)
{
	struct target *target = target_find(program, pid);

	if (target && target->observed)
		observed_announce_threads(target);
	else if (target)
		atomic_store(&target->shared->threads, 1);
}

uint64_t lasting_thread_pointer(struct program *program, pid_t pid)
{
	struct target *target = target_find(program, pid);

	return target ? target->shared->thread_pointer : 0;
}

int lasting_arm_threads(struct program *program, pid_t pid, unsigned index,
			const struct tl_watch *watch)
{
	struct target *target;
	struct slot *slot = lasting_slot(program, pid, index, &target);

	if (!slot)
		return -ESRCH;
	if (target->observed)
		observed_disarm(target, slot);
	else
		slot_close(target, slot);
	memset(&slot->coverage, 0, sizeof(slot->coverage));
	slot->index = index;
	slot->watch = *watch;
	slot->watch.address = 0;
	slot->watch.hits = UINT_MAX;
	slot->each_thread = true;
	slot->open = true;
	slot_publish(target, slot);
	duty_begin(target, slot);
	return 0;
}

static int open_in(struct target *target, struct slot *slot, pid_t tid, uint64_t address)
{
	const struct perf_request request = {.addr = address,
					     .length = slot->watch.length,
					     .access = slot->watch.access,
					     .signal = true,
					     .kernel = target->program->options.kernel,
					     .data = area_tag(target->index, slot->index,
							      slot->generation)};

	return cover_add(target, &slot->coverage, &request, tid);
}

int lasting_arm_thread(struct program *program, pid_t pid, unsigned index, pid_t tid,
		       uint64_t address)
{
	struct target *target;
	struct slot *slot = lasting_slot(program, pid, index, &target);

	if (!slot || !slot->each_thread)
		return -ESRCH;
	if (target->observed)
		return observed_arm_thread(target, slot, tid, address);
	return open_in(target, slot, tid, address);
}

bool lasting_thread_lives(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

static void forget_ended(struct target *target, struct slot *slot)
{
	for (size_t i = 0; i < slot->coverage.count;) {
		if (!lasting_thread_lives(target->pid, slot->coverage.roots[i].tid))
			slot->ended_hits += coverage_remove(&slot->coverage, i);
		else
			i++;
	}
}

static bool has_root(const struct coverage *coverage, pid_t tid)
{
	for (size_t i = 0; i < coverage->count; i++)
		if (coverage->roots[i].tid == tid)
			return true;
	return false;
}

void lasting_follow_threads(struct program *program, pid_t pid, unsigned index)
{
	struct target *target;
	struct slot *slot = lasting_slot(program, pid, index, &target);
	const struct inject_stacks *stacks = slot ? target->stacks : NULL;

	if (!stacks || !stacks->exposed || !slot->armed)
		return;
	forget_ended(target, slot);
	slot->coverage.left_out = 0;
	for (size_t i = 0; i < stacks->roomy.count; i++)
		if (!has_root(&slot->coverage, stacks->roomy.tids[i]))
			slot->coverage.left_out += open_in(target, slot, stacks->roomy.tids[i],
							   slot->watch.address) != 0;
}

/* An event keeps a descriptor of ours also when its thread has ended. */
void threads_check(struct target *target)
{
	for (unsigned i = 0; i < target->slots; i++)
		if (target->slot[i].each_thread)
			forget_ended(target, &target->slot[i]);
}

void lasting_close(struct program *program, pid_t pid, unsigned index)
{
	struct target *target;
	struct slot *slot = lasting_slot(program, pid, index, &target);

	if (slot && target->observed)
		observed_disarm(target, slot);
	else if (slot)
		slot_close(target, slot);
}
