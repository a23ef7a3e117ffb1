/* SPDX-License-Identifier: Apache-2.0 */
#include "process/restriction.h"

#include "base/syscall.h"
#include "event/experiment.h"
#include "event/machine.h"

#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

static int end_at_once(void *argument)
{
	(void)argument;
	return 0;
}

/* As src/execution/enter.c makes and awaits it. */
static void make_thread(void)
{
	static _Alignas(16) char stack[16384];
	const int flags = CLONE_VM | CLONE_VFORK | CLONE_SIGHAND | CLONE_THREAD;

	raw_syscall3(SYS_tgkill, raw_getpid(),
		     clone(end_at_once, stack + sizeof(stack), flags, NULL), 0);
}

/* What the preload library calls where it does not have to be quiet; src/inject/filters.c has the
 * same list. Errors do no harm there. */
static void make_calls(struct experiment *experiment)
{
	uint32_t word = 0;
	uint64_t mask;
	char name[16], copy;
	const struct timespec now = {0};
	const uint64_t none = 0;
	struct timespec soon = {0, 1};
	struct iovec from = {name, 1}, to = {&copy, 1};
	struct rusage usage;

	experiment_may_end();
	raw_futex(&word, FUTEX_WAKE, 1, NULL);
	raw_futex(&word, FUTEX_WAIT, 0, &soon);
	raw_nanosleep(1);
	raw_sigprocmask(SIG_SETMASK, NULL, &mask);
	raw_gettid();
	raw_syscall6(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
	raw_syscall6(SYS_prctl, PR_GET_TSC, 0, 0, 0, 0, 0);
	raw_syscall6(SYS_process_vm_readv, raw_getpid(), (long)&to, 1, (long)&from, 1, 0);
	raw_syscall3(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&soon, 0);
	raw_syscall3(SYS_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, (long)&soon, 0);
	raw_syscall3(SYS_getrusage, RUSAGE_CHILDREN, (long)&usage, 0);
	raw_syscall3(SYS_sched_yield, 0, 0, 0);
	raw_syscall3(SYS_rt_sigpending, (long)&mask, sizeof(mask), 0);
	raw_syscall6(SYS_rt_sigtimedwait, (long)&none, 0, (long)&now, sizeof(none), 0, 0);
	raw_syscall6(SYS_rt_sigaction, SIGUSR1, 0, 0, sizeof(mask), 0, 0);
	raw_syscall6(SYS_rt_tgsigqueueinfo, raw_getpid(), raw_gettid(), SIGTRAP, 0, 0, 0);
	make_thread();
	experiment->value = 1;
}

/* In a child: does every call come back? */
static bool passes(void (*make)(struct experiment *))
{
	struct experiment *experiment = experiment_run(make);
	bool passed = experiment && experiment->value && !experiment->ending;

	experiment_end(experiment);
	return passed;
}

int restriction_inherited(void)
{
	return machine_filtered() && passes(make_calls) ? (int)machine_status("Seccomp_filters", 0)
							: 0;
}

static void make_asking_calls(struct experiment *experiment)
{
	const struct timespec now = {0};
	int pair[2] = {-1, -1};
	char text[8];

	experiment_may_end();
	raw_syscall6(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, (long)pair, 0, 0);
	raw_syscall3(SYS_pidfd_open, 0, 0, 0);
	raw_syscall6(SYS_ppoll, 0, 0, (long)&now, 0, 0, 0);
	raw_syscall3(SYS_recvmsg, pair[0], 0, MSG_CMSG_CLOEXEC);
	raw_syscall3(SYS_memfd_create, 0, 0, 0);
	raw_syscall3(SYS_readlink, (long)"/proc/self/exe", (long)text, sizeof(text));
	experiment->value = 1;
}

bool restriction_lets_ask(void)
{
	return !machine_filtered() || passes(make_asking_calls);
}

bool restriction_is_on(const struct restriction *restriction, int inherited)
{
	if (restriction->mode == SECCOMP_MODE_DISABLED)
		return false;
	return restriction->mode == SECCOMP_MODE_STRICT || !restriction->filters ||
	       restriction->filters > inherited;
}
