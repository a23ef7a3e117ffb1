/* SPDX-License-Identifier: Apache-2.0 */
#include "mask/nudge.h"

#include "agent/permitted.h"
#include "base/syscall.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define WAITERS_MAX 64 /* accepted: any further thread waits without nudges */

static _Atomic pid_t waiters[WAITERS_MAX];
/* The thread's id while it may have a place among the waiters; else 0. */
static __thread pid_t entered __attribute__((tls_model("initial-exec")));

static bool has_ended(pid_t tid)
{
	return permitted(SYS_tgkill) && permitted(SYS_getpid) &&
	       raw_syscall3(SYS_tgkill, raw_getpid(), tid, 0) == -ESRCH;
}

/* Takes the place of a waiter. True when it is this thread's now. */
static bool take(int place, pid_t of, pid_t tid)
{
	return atomic_compare_exchange_strong(&waiters[place], &of, tid);
}

/* Places of threads that have ended by exit(2) alone are taken over, since such a thread has not
 * left its place. */
int nudge_enter(void)
{
	pid_t tid = permitted(SYS_gettid) ? raw_gettid() : 0;

	entered = tid;
	for (int i = 0; tid && i < WAITERS_MAX; i++)
		if (atomic_load(&waiters[i]) == tid)
			return -1;
	for (int i = 0; tid && i < WAITERS_MAX; i++)
		if (take(i, 0, tid))
			return i;
	for (int i = 0; tid && i < WAITERS_MAX; i++) {
		pid_t other = atomic_load(&waiters[i]);

		if (other && has_ended(other) && take(i, other, tid))
			return i;
	}
	return -1;
}

/* In a handler a nudge may have taken the place away meanwhile, and another thread may be there. */
void nudge_leave(int place)
{
	if (place < 0)
		return;
	take(place, entered, 0);
	entered = 0;
}

void nudge_left(void)
{
	for (int i = 0; entered && i < WAITERS_MAX; i++)
		take(i, entered, 0);
	entered = 0;
}

static bool send_to(pid_t tid)
{
	return raw_queue_signal(tid, SIGTRAP, waiters) == 0;
}

void nudge_send(void)
{
	for (int i = 0; i < WAITERS_MAX; i++) {
		pid_t tid = atomic_load(&waiters[i]);

		if (tid && send_to(tid))
			return;
	}
}

void nudge_this(void)
{
	send_to(raw_gettid());
}

void nudge_pass_on(void)
{
	pid_t tid = permitted(SYS_gettid) ? raw_gettid() : 0;

	for (int i = 0; tid && i < WAITERS_MAX; i++)
		take(i, tid, 0);
	nudge_send();
}

bool nudge_is(const siginfo_t *info)
{
	return info->si_code == SI_QUEUE && info->si_value.sival_ptr == waiters;
}

void nudge_forget(void)
{
	for (int i = 0; i < WAITERS_MAX; i++)
		atomic_store(&waiters[i], 0);
}
