/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc tells of a thread's mask is not what the thread has in two cases:
 *
 * A thread that waits for signals (sigwait(3), sigsuspend(2)), or for files with a mask for that
 * time (ppoll(2) and the like), has them unblocked meanwhile, and after that until it is given a
 * CPU (do_sigtimedwait() of kernel/signal.c). Asleep it is known by its call; on its way out it
 * looks like one that runs and blocks nothing. So a thread passes for one that takes SIGTRAP only
 * once that is proven: it was asleep in another call, or it ran for longer than the kernel takes to
 * put the mask back, and slept nowhere in between, or it was stopped and told its mask.
 *
 * A C library blocks all signals, its own too, for the moment that it takes to fork or to create a
 * thread. A thread that is in that moment and has had no CPU since it was first seen there cannot
 * have left it.
 */
#include "inject/masks.h"

#include "base/clock.h"
#include "event/threads.h"
#include "inject/inject.h"
#include "inject/memory.h"
#include "inject/remote.h"
#include "inject/rush.h"
#include "inject/status.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <time.h>

#define LOOK_NS 2000000 /* between two looks */
#define BLOCKED_LASTS (100 * MILLISECOND)
#define BLOCKED_LOOKS 5
/* how long a doubtful thread is looked at, if another is known to have it unblocked … */
#define DOUBT_MOST (50 * MILLISECOND)
#define MOMENT_MOST (2 * SECOND) /* … and if none is */
#define MOMENT_RAN 5000000ul	 /* ns of CPU time; what libc does with all blocked takes µs */
#define PROOF_RAN 1000000ul	 /* ns; the kernel puts a mask back within µs */
#define KNOWN 4096		 /* threads that are remembered; a power of two */

/* What was seen of a thread. Two that meet forget each other, and are looked at anew. Accepted: a
 * later thread of the same process and id passes for the one before. */
struct known {
	pid_t pid, tid;
	bool waits; /* it was seen to wait for signals: left alone from then on */
	/* it is proven that the thread has SIGTRAP blocked exactly when /proc says so */
	bool open;
	bool runs;	   /* at the last look it ran, … */
	bool in_moment;	   /* … was in libc's moment, … */
	bool masked;	   /* … or slept with a mask for that sleep alone */
	bool probed;	   /* it was stopped, and told its own mask */
	uint64_t ran;	   /* ns of CPU time since which it runs or is there */
	uint64_t switches; /* how often it had gone to sleep by then */
};

static struct known known[KNOWN];

static struct known *known_of(pid_t pid, pid_t tid)
{
	struct known *thread = &known[(unsigned)tid % KNOWN];

	if (thread->pid != pid || thread->tid != tid)
		*thread = (struct known){.pid = pid, .tid = tid};
	return thread;
}

enum place {
	PLACE_RUNS,
	PLACE_SLEEPS,
	PLACE_MASKED, /* the same, with a mask for that alone: its own is not to be seen */
	PLACE_WAITS_FOR_SIGNALS
};

/* Has the call a mask? Two of the calls have its address and size behind a pointer. */
static bool has_mask(pid_t pid, const struct sleeper *sleeper)
{
	uint64_t mask = 0;

	switch (sleeper->call) {
	case SYS_ppoll:
		return sleeper->argument[3];
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		return sleeper->argument[4];
	case SYS_pselect6:
	case SYS_io_pgetevents:
		return sleeper->argument[5] &&
		       (memory_read(pid, sleeper->argument[5], &mask, sizeof(mask)) || mask);
	default:
		return false;
	}
}

static enum place place_of(pid_t pid, pid_t tid)
{
	struct sleeper sleeper;

	if (sleeper_read(pid, tid, &sleeper))
		return PLACE_RUNS;
	if (sleeper.call == SYS_rt_sigtimedwait || sleeper.call == SYS_rt_sigsuspend)
		return PLACE_WAITS_FOR_SIGNALS;
	return has_mask(pid, &sleeper) ? PLACE_MASKED : PLACE_SLEEPS;
}

/* What one look finds of a thread. CPU time is read before and after its status, since it may run
 * for a moment between two waits, and a look may take long. */
struct look {
	struct status status;
	enum place before, after;
	uint64_t ran_before, ran_after; /* ns of CPU time; UINT64_MAX: not known */
};

static bool take_look(pid_t pid, pid_t tid, struct look *look)
{
	look->ran_before = status_ran(tid);
	look->before = place_of(pid, tid);
	if (status_read(tid, &look->status) || look->status.state == 'Z' ||
	    look->status.state == 'X')
		return false;
	look->after = place_of(pid, tid);
	look->ran_after = status_ran(tid);
	return true;
}

/* Has a thread that blocks nothing and runs been running all the time since the last look, for long
 * enough? */
static bool has_run_on(struct known *thread, const struct look *look)
{
	if (thread->runs && thread->switches == look->status.switches)
		return look->ran_before != UINT64_MAX && look->ran_before > thread->ran &&
		       look->ran_before - thread->ran >= PROOF_RAN;
	thread->runs = look->ran_after != UINT64_MAX;
	thread->ran = look->ran_after;
	thread->switches = look->status.switches;
	return false;
}

static bool is_in_moment(struct known *thread, const struct look *look)
{
	const struct status *status = &look->status;

	if ((status->blocked & STATUS_LIBCS) != STATUS_LIBCS ||
	    (status->state != 'R' && status->state != 'D') || look->ran_after == UINT64_MAX) {
		thread->in_moment = false;
		return false;
	}
	if (!thread->in_moment)
		thread->ran = look->ran_after;
	thread->in_moment = true;
	return look->ran_after - thread->ran < MOMENT_RAN;
}

static void judge(struct known *thread, const struct look *look, struct inject_thread *found)
{
	bool blocked = look->status.blocked & STATUS_TRAP;

	if (look->before == PLACE_WAITS_FOR_SIGNALS || look->after == PLACE_WAITS_FOR_SIGNALS)
		thread->waits = true;
	else if (!blocked && !thread->open && look->before != PLACE_MASKED &&
		 look->after != PLACE_MASKED)
		thread->open = (look->before == PLACE_SLEEPS && look->after == PLACE_SLEEPS) ||
			       has_run_on(thread, look);
	thread->masked = look->before == PLACE_MASKED && look->after == PLACE_MASKED;
	if (blocked || look->before == PLACE_MASKED || look->after == PLACE_MASKED)
		thread->runs = false;
	found->in_moment = is_in_moment(thread, look);
	found->doubtful = !thread->waits && (found->in_moment || (!blocked && !thread->open));
	found->blocks = thread->waits || blocked || !thread->open;
}

struct inject_thread inject_look(pid_t pid, pid_t tid)
{
	struct inject_thread found = {.seccomp = SECCOMP_MODE_DISABLED};
	struct look now;

	if (!take_look(pid, tid, &now)) {
		found.ended = true;
		return found;
	}
	found.seccomp = now.status.seccomp;
	found.filters = now.status.filters;
	found.handled = now.status.caught & STATUS_TRAP;
	judge(known_of(pid, tid), &now, &found);
	return found;
}

/* ptrace(2) shows a stopped thread's own mask, whatever it sleeps with. Once, and only one that
 * nothing else tells of: some sleep nowhere else. */
static void probe(struct known *thread)
{
	const struct remote_process process = {thread->pid, -1};
	struct rush rush = rush_begin();
	struct remote remote;

	thread->probed = true;
	if (!remote_begin(&remote, process, thread->tid, 0)) {
		thread->open = !(remote.mask & STATUS_TRAP);
		remote_end(&remote);
	}
	rush_end(&rush);
}

struct round {
	unsigned alive, open, doubtful, in_moment;
};

/* All threads are looked at in each round, so that many take no longer than one. */
static struct round look_at_all(pid_t pid)
{
	struct thread_set threads = {0};
	struct round round = {0};

	thread_set_list(&threads, pid);
	for (size_t i = 0; i < threads.count; i++) {
		struct inject_thread found = inject_look(pid, threads.tids[i]);
		struct known *thread = known_of(pid, threads.tids[i]);

		if (found.ended)
			continue;
		if (found.doubtful && thread->masked && !thread->probed) {
			probe(thread);
			found = inject_look(pid, threads.tids[i]);
		}
		found.doubtful &= !thread->probed;
		round.alive++;
		round.open += !found.blocks;
		round.doubtful += found.doubtful;
		round.in_moment += found.in_moment;
	}
	thread_set_destroy(&threads);
	return round;
}

bool masks_are_known(pid_t pid)
{
	struct round round = look_at_all(pid);

	return round.open || !round.doubtful;
}

/* On a busy machine a doubt lasts until the thread, such as a child just forked, is given a CPU.
 * Where none is known to take SIGTRAP, those that seem to are looked at again before anything is
 * opened in them. */
enum masks masks_look(pid_t pid)
{
	const struct timespec pause = {0, LOOK_NS};
	const uint64_t begun = clock_now();
	uint64_t since = begun;
	unsigned blocked = 0; /* rounds */

	for (;;) {
		struct round round = look_at_all(pid);
		uint64_t now = clock_now();

		if (!round.alive)
			return MASKS_ENDED;
		if (round.open && (!round.doubtful || now - begun >= DOUBT_MOST))
			return MASKS_OPEN;
		if (!round.open && round.doubtful && now - begun >= MOMENT_MOST)
			return round.doubtful > round.in_moment ? MASKS_OPEN : MASKS_MOMENT;
		if (round.open || round.doubtful) {
			since = now;
			blocked = 0;
		} else if (++blocked > BLOCKED_LOOKS && now - since >= BLOCKED_LASTS) {
			return MASKS_BLOCKED;
		}
		nanosleep(&pause, NULL);
	}
}
