/* SPDX-License-Identifier: Apache-2.0 */
#include "event/lethal.h"

#include "base/syscall.h"
#include "event/experiment.h"
#include "event/machine.h"

#include <signal.h>
#include <stddef.h>

/* A filter sees numbers and plain arguments, never what pointers lead to: with these the kernel
 * itself does nothing. */
static const struct {
	const char *name;
	long number, argument[3];
} calls[] = {
	{"perf_event_open", SYS_perf_event_open, {0}},
	{"process_vm_readv", SYS_process_vm_readv, {0}},
	{"memfd_create", SYS_memfd_create, {0}},
	{"pidfd_open", SYS_pidfd_open, {0}},
	{"pidfd_send_signal", SYS_pidfd_send_signal, {-1, 0, 0}},
	{"sched_setattr", SYS_sched_setattr, {0}},
	{"close_range", SYS_close_range, {1, 0, 0}}, /* the last before the first */
};

#define CALL_COUNT ((int64_t)(sizeof(calls) / sizeof(calls[0])))

/* Notes how many it has lived through. */
static void make_calls(struct experiment *experiment)
{
	signal(SIGSYS, SIG_DFL);
	for (; experiment->value < CALL_COUNT; experiment->value++) {
		const long *argument = calls[experiment->value].argument;

		raw_syscall6(calls[experiment->value].number, argument[0], argument[1], argument[2],
			     0, 0, 0);
	}
}

static const char *find_call(void)
{
	struct experiment *experiment = machine_filtered() ? experiment_run(make_calls) : NULL;
	int64_t passed = experiment && experiment->ending ? experiment->value : CALL_COUNT;

	experiment_end(experiment);
	return passed >= 0 && passed < CALL_COUNT ? calls[passed].name : NULL;
}

const char *lethal_call(void)
{
	static const char *found;
	static int asked;

	if (!asked++)
		found = find_call();
	return found;
}
