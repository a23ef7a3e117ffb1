/* SPDX-License-Identifier: Apache-2.0 */
#include "usage/foresee.h"

#include "base/clock.h"
#include "explore/manner.h"
#include "sample/ahead.h"
#include "usage/in_use.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define STEPS 1536	 /* instructions that one look-ahead follows */
#define OWN_STACK 262144 /* bytes above the stack pointer taken for the thread's own stack */
/* Stack pointer of a thread that does not exist yet: nothing is mapped there. */
#define UNBORN_STACK (1ull << 46)

/* Is there CPU time for a look-ahead? settle() is told what it took. */
static bool may_look(struct target *target, uint64_t now)
{
	struct explorer *explorer = explorer_of(target);
	const struct budget *budget = explorer->budget;
	struct foreseer *foreseer = explorer->foreseer;
	struct bucket *bucket = &foreseer->bucket;
	int parts = manner_of(target)->foresight_parts;
	double earned = budget->income / parts;

	bucket->most = budget->bucket.most / parts;
	if (!foreseer->at)
		bucket->tokens = budget->bucket.tokens / parts;
	else
		bucket_settle(bucket, (int64_t)(earned * (double)(now - foreseer->at) / SECOND), 0);
	foreseer->at = now;
	return !bucket_is_empty(bucket) && now >= budget->paused_until;
}

/* Is this pc of this thread due? From each it is looked ahead once in FORESIGHT_AGAIN. */
static bool is_news(struct target *target, pid_t tid, uint64_t pc, uint64_t now)
{
	uint64_t key = (pc ^ (uint64_t)tid << 40) * 0x9e3779b97f4a7c15ull;
	struct foretold *last = &usage_of(target)->foretold[(key >> 32) % FORETOLD_MAX];

	if (last->key == key && now - last->time < FORESIGHT_AGAIN)
		return false;
	*last = (struct foretold){key, now};
	return true;
}

/* Is the thread alive, or yet to be created (then its number is below zero)? */
static bool is_alive(const struct target *target, pid_t tid)
{
	return tid < 0 || syscall(SYS_tgkill, target->pid, tid, 0) == 0;
}

static bool may_be_shared(struct target *target, const struct insn_registers *registers,
			  const struct ahead_access *access)
{
	return access->address >= 4096 && !(access->address >> 47) &&
	       !space_is_own_stack(target->space, registers->general[insn_arch.stack_pointer],
				   access->address, OWN_STACK) &&
	       !space_is_libc(target->space, access->pc) &&
	       space_writable(target->space, access->address);
}

static void note(struct target *target, pid_t tid, uint64_t now, const struct ahead_access *access)
{
	struct foreseen seen = {.pc = access->pc,
				.lock = {access->lock[0] & ~AHEAD_SHARED,
					 access->lock[1] & ~AHEAD_SHARED},
				.tid = tid,
				.time = now,
				.access = access->access},
			others[2];
	unsigned count =
		foresight_note(&target->explored->memory.foresight, access->address, &seen, others);

	for (unsigned i = 0; i < count; i++) {
		if (!is_alive(target, others[i].tid))
			continue;
		count_one(target->program, COUNT_FORESEEN);
		code_foreseen(target, seen.pc, tid, others[i].pc);
		code_foreseen(target, others[i].pc, others[i].tid, seen.pc);
	}
}

static void note_view(struct target *target, pid_t tid, uint64_t now,
		      const struct insn_registers *registers, const struct ahead_view *view)
{
	for (unsigned i = 0; i < view->accesses; i++)
		if (may_be_shared(target, registers, &view->access[i]))
			note(target, tid, now, &view->access[i]);
}

/* Looks ahead from a thread that is about to be created. Threads that live for microseconds are
 * seldom seen themselves; the thread that creates one shows the new one's function and argument. */
static void foresee_birth(struct target *target, uint64_t now, const struct ahead_birth *birth)
{
	static struct ahead_view view; /* one thread; large */
	uint64_t key = (birth->start ^ birth->argument << 16) * 0x9e3779b97f4a7c15ull;
	struct insn_registers registers = {.pc = birth->start};

	if (!code_is_interesting(target, birth->start))
		return;
	sites_note(&target->explored->memory.sites, &target->program->random, birth->start);
	registers.general[insn_arch.stack_pointer] = UNBORN_STACK;
	registers.general[insn_arch.function_argument[0]] = birth->argument;
	ahead_spread(target->space, &registers, AHEAD_NEWBORN, STEPS, &view);
	note_view(target, -(pid_t)(1 + (key >> 34)), now, &registers, &view);
}

void foresee(struct target *target, pid_t tid, const struct insn_registers *registers)
{
	static struct ahead_view view; /* one thread; large */
	uint64_t before, now = clock_now();

	if (is_off(target, HEURISTIC_FORESIGHT) || samples_come_first(target) ||
	    space_is_libc(target->space, registers->pc) ||
	    !is_news(target, tid, registers->pc, now) || !may_look(target, now))
		return;
	before = clock_read(CLOCK_THREAD_CPUTIME_ID);
	ahead_spread(target->space, registers, AHEAD_ALL_KNOWN, STEPS, &view);
	note_view(target, tid, now, registers, &view);
	for (unsigned i = 0; i < view.births; i++)
		foresee_birth(target, now, &view.birth[i]);
	count_one(target->program, COUNT_LOOKS_AHEAD);
	bucket_settle(&explorer_of(target)->foreseer->bucket, 0,
		      (int64_t)(clock_read(CLOCK_THREAD_CPUTIME_ID) - before));
}
