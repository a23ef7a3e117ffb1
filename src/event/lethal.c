/* SPDX-License-Identifier: Apache-2.0 */
#include "event/lethal.h"

#include "base/syscall.h"
#include "event/experiment.h"
#include "event/machine.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>

struct call {
	const char *name;
	long number, argument[3];
};

#define NOBODY 0x7fffffff /* more than a process's id can be (PID_MAX_LIMIT) */

/*
 * A filter sees numbers and plain arguments, never what pointers lead to: with these the kernel
 * itself does nothing. What no program of the C library's begins without is left out, and so is
 * what is made before anything is asked.
 */
static const struct call needed[] = {
	{"perf_event_open", SYS_perf_event_open, {0}},
	{"futex", SYS_futex, {0, FUTEX_WAKE, 0}},
	{"process_vm_readv", SYS_process_vm_readv, {0}},
	{"memfd_create", SYS_memfd_create, {0}},
	{"pidfd_open", SYS_pidfd_open, {0}},
	{"pidfd_send_signal", SYS_pidfd_send_signal, {-1, 0, 0}},
	{"close_range", SYS_close_range, {1, 0, 0}}, /* the last before the first */
	{"openat2", SYS_openat2, {-1, 0, 0}},
	{"fstatfs", SYS_fstatfs, {-1, 0, 0}},
	{"getdents64", SYS_getdents64, {-1, 0, 0}},
	{"ioctl", SYS_ioctl, {-1, 0, 0}},
	{"poll", SYS_poll, {0, 0, 0}},
	{"pipe2", SYS_pipe2, {0, 0, 0}},
	{"eventfd2", SYS_eventfd2, {0, -1, 0}},
	{"socketpair", SYS_socketpair, {-1, 0, 0}},
	{"sendmsg", SYS_sendmsg, {-1, 0, 0}},
	{"recvmsg", SYS_recvmsg, {-1, 0, 0}},
	{"ftruncate", SYS_ftruncate, {-1, 0, 0}},
	{"fcntl", SYS_fcntl, {-1, 0, 0}},
	{"readlink", SYS_readlink, {0, 0, 0}},
	{"uname", SYS_uname, {0, 0, 0}},
	{"sysinfo", SYS_sysinfo, {0, 0, 0}},
	{"getpriority", SYS_getpriority, {-1, 0, 0}},
	{"clock_gettime", SYS_clock_gettime, {-1, 0, 0}},
	{"nanosleep", SYS_nanosleep, {0, 0, 0}},
	{"sigaltstack", SYS_sigaltstack, {0, 0, 0}},
	{"get_robust_list", SYS_get_robust_list, {NOBODY, 0, 0}},
	{"getppid", SYS_getppid, {0}},
	{"gettid", SYS_gettid, {0}},
	{"kill", SYS_kill, {NOBODY, 0, 0}},
	{"tgkill", SYS_tgkill, {NOBODY, NOBODY, 0}},
	{"setitimer", SYS_setitimer, {-1, 0, 0}},
	{"wait4", SYS_wait4, {NOBODY, 0, 0}},
};

static const struct call prompt[] = {
	{"sched_setattr", SYS_sched_setattr, {0}},
	{"setpriority", SYS_setpriority, {-1, 0, 0}}, /* of nobody */
};

static const struct call userfault[] = {
	{"userfaultfd", SYS_userfaultfd, {-1, 0, 0}},
};

static const struct call getfd[] = {
	{"pidfd_getfd", SYS_pidfd_getfd, {-1, -1, 0}},
};

struct calls {
	const struct call *call;
	int64_t count;
};

#define CALLS(table)                                                 \
	{                                                            \
		table, (int64_t)(sizeof(table) / sizeof((table)[0])) \
	}

/* Groups of system calls; one child is made to try the calls of one group. */
enum purpose { NEEDED, PROMPT, USERFAULT, GETFD, PURPOSES };
static const struct calls purposes[PURPOSES] = {
	[NEEDED] = CALLS(needed),
	[PROMPT] = CALLS(prompt),
	[USERFAULT] = CALLS(userfault),
	[GETFD] = CALLS(getfd),
};

/* Notes in the experiment's value how many it has lived through. */
static void make_calls(struct experiment *experiment)
{
	const struct calls *calls = experiment->argument;

	experiment_may_end();
	for (; experiment->value < calls->count; experiment->value++) {
		const struct call *call = &calls->call[experiment->value];

		raw_syscall6(call->number, call->argument[0], call->argument[1], call->argument[2],
			     0, 0, 0);
	}
}

/* The call that ended the child; NULL: none did, or no child could be had. */
static const char *try_calls(const struct calls *calls)
{
	struct experiment *experiment = experiment_run_with(make_calls, calls);
	int64_t passed = experiment && experiment->ending ? experiment->value : calls->count;
	const char *before = experiment && experiment->ending ? experiment->making : NULL;

	experiment_end(experiment);
	if (before)
		return before;
	return passed >= 0 && passed < calls->count ? calls->call[passed].name : NULL;
}

/* Asked once: a filter that is there can be made stricter by ourselves alone. */
static const char *find_call(enum purpose purpose)
{
	static struct {
		bool asked;
		const char *call;
	} known[PURPOSES];

	if (!known[purpose].asked && machine_filtered())
		known[purpose].call = try_calls(&purposes[purpose]);
	known[purpose].asked = true;
	return known[purpose].call;
}

const char *lethal_call(void)
{
	return find_call(NEEDED);
}

bool lethal_promptness(void)
{
	return find_call(PROMPT) != NULL;
}

bool lethal_userfault(void)
{
	return find_call(USERFAULT) != NULL;
}

int lethal_getfd(int pidfd, int number)
{
	return find_call(GETFD) ? -EPERM : (int)raw_syscall3(SYS_pidfd_getfd, pidfd, number, 0);
}
