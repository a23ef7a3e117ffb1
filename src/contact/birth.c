/* SPDX-License-Identifier: Apache-2.0 */
#include "contact/birth.h"

#include "agent/permitted.h"
#include "agent/state.h"
#include "base/syscall.h"
#include "contact/record.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>

static void pass(struct area_births *births)
{
	atomic_fetch_add_explicit(&births->passed, 1, memory_order_relaxed);
}

/* The entry of the function at `start`; a free one is taken if there was none. NULL: all are other
 * functions'. */
static struct area_routine *routine_of(struct area_births *births, uint64_t start)
{
	for (unsigned i = 0; i < AREA_ROUTINES; i++) {
		struct area_routine *routine = &births->routine[i];
		uint64_t known = atomic_load_explicit(&routine->start, memory_order_relaxed);

		if (known == start)
			return routine;
		if (!known && (atomic_compare_exchange_strong(&routine->start, &known, start) ||
			       known == start))
			return routine;
	}
	return NULL;
}

/* May this thread tell and wait? Not once the program has set a seccomp filter: then no system call
 * is made for it. */
static bool may_wait(struct area_process *process)
{
	return !atomic_load_explicit(&process->quiet, memory_order_relaxed) &&
	       !agent_is_late(process) && permitted(SYS_futex) && permitted(SYS_gettid);
}

bool agent_birth_is_wanted(uint64_t start)
{
	struct area_process *process = agent_state.process;
	struct area_routine *routine;
	uint32_t wish;

	if (!process || !start)
		return false;
	wish = atomic_load_explicit(&process->newborn.wish, memory_order_relaxed);
	if (wish == AREA_BIRTHS_NEVER || !may_wait(process))
		return false;
	routine = wish == AREA_BIRTHS_ASKED ? routine_of(&process->newborn, start) : NULL;
	if (routine &&
	    atomic_load_explicit(&routine->told, memory_order_relaxed) < AREA_BIRTHS_TOLD &&
	    atomic_fetch_add_explicit(&routine->told, 1, memory_order_relaxed) < AREA_BIRTHS_TOLD)
		return true;
	pass(&process->newborn);
	return false;
}

void agent_birth_pass(void)
{
	if (agent_state.process)
		pass(&agent_state.process->newborn);
}

/* May this process tell? A child that borrows its parent's memory (vfork()) has none of its
 * events. */
static bool may_tell(struct area_process *process)
{
	return !area_is_closed(agent_state.area) && permitted(SYS_getpid) &&
	       process->pid == raw_getpid() && !agent_is_late(process) &&
	       !atomic_load(&process->quiet);
}

static void fill(struct area_hit *record, uint32_t kind, const struct area_registers *registers)
{
	record_fill(record, kind, registers);
	record->address = record->size = record->number = 0;
	record->access = record->access_length = 0;
	record->block.word = 0;
}

bool agent_birth_tell(uint32_t kind, const struct area_registers *registers,
		      struct agent_birth *birth)
{
	struct area_process *process = agent_state.process;
	struct area *area = agent_state.area;

	if (!process)
		return false;
	birth->process = process;
	birth->record = may_tell(process) ? area_hit_claim(area, agent_state.index, &birth->ticket)
					  : NULL;
	if (!birth->record) {
		pass(&process->newborn);
		return false;
	}
	fill(birth->record, kind, registers);
	birth->record->serial =
		atomic_fetch_add_explicit(&process->serial, 1, memory_order_relaxed);
	area_hit_publish(birth->record, birth->ticket);
	area_ring(area);
	return true;
}

/* Does the kernel refuse to let a thread sleep, by a seccomp filter? */
static bool is_refused(int err)
{
	return err && err != -EAGAIN && err != -EINTR && err != -ETIMEDOUT;
}

static uint64_t wait_most(void)
{
	return agent_state.hold_most < AREA_BIRTH_WAIT ? agent_state.hold_most : AREA_BIRTH_WAIT;
}

static bool is_waiting(const struct agent_birth *birth)
{
	return atomic_load(&birth->record->state) == (birth->ticket | AREA_HIT_HELD);
}

/* Waits until the controller has taken the record, for AREA_BIRTH_WAIT at most, whatever the area
 * says and whether or not there is a controller. After a wait in vain no thread waits until the
 * controller wishes so again. */
void agent_birth_wait(const struct agent_birth *birth)
{
	struct area_process *process = birth->process;
	const uint64_t begin = agent_now(), until = begin + wait_most();
	uint64_t now = begin;

	for (; now < until && !area_is_closed(agent_state.area); now = agent_now()) {
		uint32_t seen = atomic_load(&process->answered);
		struct timespec left = {0, (long)(until - now)};

		if (!is_waiting(birth) || atomic_load(&process->quiet) ||
		    is_refused(raw_futex((uint32_t *)&process->answered, FUTEX_WAIT, seen, &left)))
			break;
	}
	/* A thread that was answered in time may have been given its CPU late: that is no wait in
	 * vain. */
	if (now >= until && is_waiting(birth))
		atomic_store(&process->newborn.wish, AREA_BIRTHS_NOT_NOW);
	area_hit_leave(birth->record, birth->ticket, now);
	atomic_fetch_add_explicit(&process->held, now - begin, memory_order_relaxed);
}

bool agent_birth_await(uint32_t *word)
{
	struct area_process *process = agent_state.process;
	const uint64_t begin = agent_now(), until = begin + wait_most();
	uint64_t now = begin;
	bool came;

	/* Acquire: pairs with the release of the thread that sets the word. */
	while (!(came = __atomic_load_n(word, __ATOMIC_ACQUIRE)) && now < until) {
		struct timespec left = {0, (long)(until - now)};

		if (is_refused(raw_futex(word, FUTEX_WAIT_PRIVATE, 0, &left)))
			break;
		now = agent_now();
	}
	if (process)
		atomic_fetch_add_explicit(&process->held, now - begin, memory_order_relaxed);
	return came;
}
