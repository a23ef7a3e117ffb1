/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observing a process: one event a thread, CPU and slot, inherited by the threads and children that
 * one creates later.
 *
 * Passes over the thread list go on until one finds no new thread; then every thread is covered and
 * so is what they create. A thread that was half created meanwhile shows up in a later look.
 */
#include "observe/observe.h"

#include "base/descriptor_limit.h"
#include "base/syscall.h"
#include "observe/observed.h"
#include "observe/copies.h"
#include "observe/count.h"
#include "observe/ids.h"
#include "observe/family.h"
#include "base/clock.h"
#include "target/cover.h"
#include "process/say.h"
#include "sample/perf_record.h"
#include "process/thread_status.h"
#include "event/threads.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#define PASSES_MAX 100
#define LATE_LOOKS 20	    /* looks for threads that were half created, at each check */
#define STACK_COPY_NS 2500u /* about what the kernel takes to note registers and stack */

void observed_close(struct observed *observed)
{
	if (!observed)
		return;
	rings_close(&observed->rings);
	copies_forget_all(&observed->copies);
	free(observed->ids.known);
	thread_set_destroy(&observed->threads);
	family_end(&observed->family);
	free(observed);
}

/* Disabled: an event that is opened may turn out to be in a stranger. */
static int open_disabled(struct target *target, struct slot *slot, pid_t tid)
{
	struct perf_request request = observed_request(target, slot, slot->watch.address);

	request.inherit = true;
	request.threads_only = !target->observed->family.children;
	return rings_cover(&target->observed->rings, &slot->coverage, &request, tid);
}

static int open_on(struct target *target, struct slot *slot, pid_t pid, pid_t tid)
{
	struct coverage *coverage = &slot->coverage;
	size_t first = coverage->count;
	int err = open_disabled(target, slot, tid);

	if (!err && !family_has(&target->observed->family, pid, tid)) {
		count_one(target->program, COUNT_THREADS_STRANGE);
		err = -ESRCH;
	}
	if (err)
		coverage_trim(coverage, first);
	for (size_t i = first; i < coverage->count && !slot->resting; i++)
		perf_enable(coverage->roots[i].fd);
	return err;
}

static unsigned slots_open(const struct target *target)
{
	unsigned count = 0;

	for (unsigned i = 0; i < AREA_SLOTS; i++)
		count += target->slot[i].open && !target->slot[i].each_thread;
	return count;
}

/* A thread that appeared later: did it inherit our events? Then so many slots are taken in it. */
static bool seems_covered(const struct target *target, pid_t tid)
{
	return perf_free_slots(tid) <= AREA_SLOTS - (int)slots_open(target);
}

static void cover_latecomer(struct target *target, pid_t pid, pid_t tid)
{
	if (!slots_open(target) || seems_covered(target, tid))
		return;
	for (unsigned i = 0; i < AREA_SLOTS; i++) {
		struct slot *slot = &target->slot[i];
		int err = slot->open && !slot->each_thread ? open_on(target, slot, pid, tid) : 0;

		if (err && err != -ESRCH) {
			count_one(target->program, COUNT_THREADS_UNOBSERVED);
			return;
		}
	}
}

struct looking {
	struct target *target;
	struct slot *slot; /* that is being armed */
	bool found;
	int err;
};

static void look_at_thread(void *context, pid_t pid, pid_t tid)
{
	struct looking *looking = context;
	struct observed *observed = looking->target->observed;

	if (thread_set_contains(&observed->threads, tid))
		return;
	looking->found = true;
	thread_set_add(&observed->threads, tid);
	cover_latecomer(looking->target, pid, tid);
	thread_names_ask(&observed->names, pid, tid); /* its events tell of later names */
}

/* True when there were any. */
static bool look_for_threads(struct target *target)
{
	struct looking looking = {.target = target};

	family_look(&target->observed->family);
	family_each_thread(&target->observed->family, look_at_thread, &looking);
	return looking.found;
}

static void arm_in_thread(void *context, pid_t pid, pid_t tid)
{
	struct looking *looking = context;
	int err;

	/* One that is new is left to the next look. */
	if (looking->err || !thread_set_contains(&looking->target->observed->threads, tid))
		return;
	err = open_on(looking->target, looking->slot, pid, tid);
	thread_names_ask(&looking->target->observed->names, pid, tid);
	looking->err = err == -ESRCH ? 0 : err;
}

int observed_arm(struct target *target, struct slot *slot, const struct tl_watch *watch)
{
	struct observed *observed = target->observed;
	struct looking looking = {.target = target, .slot = slot};
	int err;

	observed_disarm(target, slot);
	slot->watch = *watch;
	slot_publish(target, slot);
	slot->resting = false;
	slot->count_before = slot->ended_hits = 0;
	slot->told = 0;
	look_for_threads(target);
	family_each_thread(&observed->family, arm_in_thread, &looking);
	slot->open = true; /* not before: looks open what is open in threads that are new */
	err = looking.err;
	if (!err && !slot->coverage.count)
		err = -ESRCH;
	for (int pass = 0; !err && pass < PASSES_MAX && look_for_threads(target); pass++)
		;
	observed->looks = LATE_LOOKS;
	if (err)
		observed_disarm(target, slot);
	return err;
}

struct sample_head {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time, address, id;
	uint64_t abi;
	uint64_t registers[PERF_RECORD_REGISTERS]; /* as asked for in event/perf.c */
	uint64_t stack_size;
};

_Static_assert(offsetof(struct sample_head, time) == RINGS_SAMPLE_TIME_OFFSET, "rings.h");

static bool watches(const struct target *target, const struct slot *slot, pid_t tid,
		    uint64_t address)
{
	if (!slot->armed)
		return false;
	return slot->each_thread ? observed_copy_is_at(target, slot, tid, address)
				 : slot->watch.address == address;
}

/* Where several watch one address, the one whose event it is. */
static struct slot *slot_of(struct target *target, const struct sample_head *head)
{
	struct slot *found = NULL;

	for (unsigned i = 0; i < AREA_SLOTS; i++) {
		struct slot *slot = &target->slot[i];

		if (!watches(target, slot, (pid_t)head->tid, head->address))
			continue;
		if (found)
			return observed_event_slot(target, head->id);
		found = slot;
	}
	return found;
}

static void fill_registers(struct area_registers *to, const struct sample_head *head,
			   uint64_t fs_base)
{
	struct insn_registers registers = {0};

	perf_record_registers(head->registers, &registers);
	memcpy(to->general, registers.general, sizeof(to->general));
	to->pc = registers.pc;
	to->flags = registers.flags;
	to->fs_base = fs_base;
}

/* PERF_RECORD_COMM: pid, tid, then the name. */
static void take_name(struct target *target, const struct ring *ring, size_t length)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char name[AREA_NAME];
	} record = {0};

	ring_copy(ring, ring->tail, &record, length < sizeof(record) ? length : sizeof(record));
	record.name[AREA_NAME - 1] = '\0';
	if (length > offsetof(__typeof__(record), name))
		thread_names_set(&target->observed->names, (pid_t)record.tid, record.name);
}

/* PERF_RECORD_FORK: a thread begins with its creator's name. It may have told another since, in
 * another CPU's ring. */
static void take_birth(struct target *target, const struct ring *ring, size_t length)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, parent_pid, tid, parent_tid;
		uint64_t time;
	} record;
	char name[AREA_NAME];

	if (length < sizeof(record))
		return;
	ring_copy(ring, ring->tail, &record, sizeof(record));
	if ((pid_t)record.pid == target->pid)
		observed_copies_born(target, (pid_t)record.tid, record.time);
	if (thread_names_has(&target->observed->names, (pid_t)record.tid))
		return;
	memcpy(name,
	       thread_names_get(&target->observed->names, (pid_t)record.parent_pid,
				(pid_t)record.parent_tid),
	       AREA_NAME);
	thread_names_set(&target->observed->names, (pid_t)record.tid, name);
}

static void take_sample(struct target *target, const struct ring *ring)
{
	static struct area_hit hit; /* one thread; large */
	struct sample_head head;
	struct area_slot *shared;
	struct slot *slot;

	ring_copy(ring, ring->tail, &head, sizeof(head));
	slot = slot_of(target, &head);
	if (!slot || head.abi != PERF_SAMPLE_REGS_ABI_64) {
		count_one(target->program, slot ? COUNT_SAMPLES_UNDECODED : COUNT_HITS_STALE);
		return;
	}
	shared = &target->shared->slot[slot->index];
	atomic_fetch_add(&shared->hits, 1);
	slot->told++;
	atomic_fetch_add(&shared->inside, STACK_COPY_NS);
	hit.entry_time = head.time;
	hit.identity = head.tid;
	hit.tid = (pid_t)head.tid;
	hit.process = target->index;
	hit.slot = slot->index;
	hit.generation = slot->generation;
	hit.flags = 0;
	hit.value_length = 0;
	hit.address = head.address;
	fill_registers(&hit.registers, &head, observed_thread_pointer(target, hit.tid));
	memcpy(hit.thread, thread_names_get(&target->observed->names, (pid_t)head.pid, hit.tid),
	       AREA_NAME);
	if (observed_count(target, &hit))
		return;
	hit.stack_address = hit.registers.general[insn_arch.stack_pointer];
	hit.stack_length = (uint32_t)perf_record_stack(ring, &head.header, sizeof(head),
						       head.stack_size, hit.stack, AREA_STACK);
	target->observed->events->hit(target, &hit, (pid_t)head.pid);
}

static void take_record(struct target *target, const struct ring *ring,
			const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		if (header->size >= sizeof(struct sample_head))
			take_sample(target, ring);
		break;
	case PERF_RECORD_COMM:
		take_name(target, ring, header->size);
		break;
	case PERF_RECORD_FORK:
		take_birth(target, ring, header->size);
		break;
	default:
		break;
	}
}

/* A hit that is read before its thread's name, which another CPU has told, would have another: so
 * what is newer than this waits, as other slots' events go on. */
static void drain(struct target *target)
{
	struct observed *observed = target->observed;
	const uint64_t until = clock_now();
	struct perf_event_header header;
	struct ring *ring;

	rings_look(&observed->rings);
	while ((ring = rings_earliest(&observed->rings, until, &header))) {
		take_record(target, ring, &header);
		ring->tail += header.size;
		ring_release(ring);
	}
}

/*
 * What a slot's hits were by the kernel's count, and have not been told: lost. The kernel's own
 * records of losses come with the next record that the ring has room for, which may never be, and
 * count what is not a hit, too.
 */
static void settle(struct target *target, struct slot *slot)
{
	uint64_t count = coverage_count(&slot->coverage) + slot->ended_hits;
	uint64_t lost = count > slot->told ? count - slot->told : 0;

	slot->told += lost;
	target->observed->lost += lost;
	target->program->count[COUNT_SAMPLES_LOST] += lost;
}

static void disable(struct target *target, struct slot *slot)
{
	struct coverage_target coverage = cover_threads(target);

	coverage_disable(&slot->coverage, &coverage);
}

void observed_disarm(struct target *target, struct slot *slot)
{
	if (!slot->open)
		return;
	disable(target, slot);
	drain(target);
	settle(target, slot);
	if (slot->each_thread)
		observed_copies_forget(target, slot);
	slot->armed = slot->open = slot->each_thread = false;
	coverage_close(&slot->coverage);
}

void observed_settle(struct target *target)
{
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (target->slot[i].open)
			disable(target, &target->slot[i]);
	drain(target);
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (target->slot[i].open)
			settle(target, &target->slot[i]);
	observed_copies_settle(target);
}

uint64_t observed_lost(const struct target *target)
{
	return target->observed->lost;
}

static struct target *observed_target(const struct program *program)
{
	struct target *target = program->target[0];

	return target && target->observed ? target : NULL;
}

static void look_for_copies(struct target *target)
{
	struct thread_set now = {0};

	if (!thread_set_list(&now, target->pid)) {
		drain(target);
		observed_copies_look(target, &now);
	}
	thread_set_destroy(&now);
}

void observe_step(struct program *program)
{
	struct target *target = observed_target(program);

	if (!target)
		return;
	if (clock_now() >= observed_copies_next(target))
		look_for_copies(target);
	else
		drain(target);
}

void observe_check(struct target *target)
{
	if (family_is_lost(&target->observed->family)) {
		say("process %d has executed another program, which is not watched",
		    (int)target->pid);
		target->observed->over = true;
		return;
	}
	if (target->observed->looks && slots_open(target)) {
		target->observed->looks--;
		look_for_threads(target);
	}
}

void observe_wait(struct program *program, uint64_t until)
{
	struct target *target = observed_target(program);
	uint64_t now = clock_now();

	if (target && observed_copies_next(target) < until)
		until = observed_copies_next(target);
	if (!target || now >= until)
		return;
	rings_wait(&target->observed->rings, target->pidfd,
		   (int)((until - now + MILLISECOND - 1) / MILLISECOND));
}

bool observe_is_over(const struct program *program)
{
	const struct target *target = observed_target(program);

	return !target || target->observed->over ||
	       (target->observed->until && clock_now() > target->observed->until);
}

bool observe_is_itself(const struct program *program)
{
	const struct target *target = observed_target(program);

	return target && family_is_itself(&target->observed->family);
}

uint64_t observe_uncovered(const struct program *program)
{
	return program->count[COUNT_THREADS_UNOBSERVED];
}

uint64_t observe_unmet(const struct program *program)
{
	return program->count[COUNT_THREADS_UNMET] + program->count[COUNT_THREADS_POINTERLESS];
}

uint64_t observe_late(const struct program *program)
{
	return program->count[COUNT_THREADS_LATE];
}

/* What is estimated of a watch that rests goes by one process's CPU time. */
bool observe_children(const struct program *program)
{
	return program->options.follow && program->options.budget >= 100;
}

int observe_begin(struct program *program, pid_t pid, const struct observe_events *events)
{
	struct observed *observed = calloc(1, sizeof(*observed));
	int err = observed ? 0 : -ENOMEM;

	if (observed)
		observed->events = events;
	descriptor_limit_lift();
	err = err ? err : family_begin(&observed->family, pid, observe_children(program));
	err = err ? err : rings_open(&observed->rings, pid);
	err = err ? err : thread_set_list(&observed->threads, pid);
	err = err ? err : target_observe(program, pid, observed);
	if (err) {
		observed_close(observed);
		return err;
	}
	if (program->options.duration)
		observed->until = clock_now() + program->options.duration;
	return 0;
}
