/* SPDX-License-Identifier: Apache-2.0 */
#include "event/lethal.h"

#include "base/syscall.h"
#include "event/experiment.h"
#include "event/machine.h"

#include <errno.h>
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
	{"wait4", SYS_wait4, {NOBODY, 0, 0}},
};

static const struct call prompt[] = {
	{"sched_setattr", SYS_sched_setattr, {0}},
	{"setpriority", SYS_setpriority, {-1, 0, 0}}, /* of nobody */
};

static const struct call userfault[] = {
	{"userfaultfd", SYS_userfaultfd, {-1, 0, 0}},
	{"ioctl", SYS_ioctl, {-1, 0, 0}},
};

static const struct call getfd[] = {{"pidfd_getfd", SYS_pidfd_getfd, {-1, -1, 0}}};

#define COUNT_OF(calls) ((int64_t)(sizeof(calls) / sizeof((calls)[0])))

/* Notes in the experiment's value how many it has lived through. */
static void make_calls(struct experiment *experiment, const struct call *calls, int64_t count)
{
	experiment_may_end();
	for (; experiment->value < count; experiment->value++) {
		const long *argument = calls[experiment->value].argument;

		raw_syscall6(calls[experiment->value].number, argument[0], argument[1], argument[2],
			     0, 0, 0);
	}
}

static void make_needed(struct experiment *experiment)
{
	make_calls(experiment, needed, COUNT_OF(needed));
}

static void make_prompt(struct experiment *experiment)
{
	make_calls(experiment, prompt, COUNT_OF(prompt));
}

static void make_userfault(struct experiment *experiment)
{
	make_calls(experiment, userfault, COUNT_OF(userfault));
}

static void make_getfd(struct experiment *experiment)
{
	make_calls(experiment, getfd, COUNT_OF(getfd));
}

/* The call that ended the child; NULL: none did, or nothing filters here. */
static const char *find_call(experiment_fn *make, const struct call *calls, int64_t count)
{
	struct experiment *experiment = machine_filtered() ? experiment_run(make) : NULL;
	int64_t passed = experiment && experiment->ending ? experiment->value : count;

	experiment_end(experiment);
	return passed >= 0 && passed < count ? calls[passed].name : NULL;
}

const char *lethal_call(void)
{
	static const char *found;
	static int asked;

	if (!asked++)
		found = find_call(make_needed, needed, COUNT_OF(needed));
	return found;
}

bool lethal_promptness(void)
{
	return find_call(make_prompt, prompt, COUNT_OF(prompt)) != NULL;
}

bool lethal_userfault(void)
{
	return find_call(make_userfault, userfault, COUNT_OF(userfault)) != NULL;
}

int lethal_getfd(int pidfd, int number)
{
	static bool ends, asked;

	if (!asked)
		ends = find_call(make_getfd, getfd, COUNT_OF(getfd)) != NULL;
	asked = true;
	return ends ? -EPERM : (int)raw_syscall3(SYS_pidfd_getfd, pidfd, number, 0);
}
