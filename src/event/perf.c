/* SPDX-License-Identifier: Apache-2.0 */
#include "event/perf.h"

#include "base/syscall.h"
#include "event/arch.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <trapline/event.h>

#define MAX_SLOTS 16

static const struct {
	uint32_t type;
	uint64_t config;
} counter_config[] = {
	[TL_CPU_TIME] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	[TL_PAGE_FAULTS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	[TL_CONTEXT_SWITCHES] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	[TL_MIGRATIONS] = {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	[TL_CYCLES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	[TL_INSTRUCTIONS] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	[TL_CACHE_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	[TL_BRANCH_MISSES] = {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
};

static uint32_t breakpoint_type(unsigned access)
{
	if (access & TL_EXEC)
		return HW_BREAKPOINT_X;
	if (access & TL_READ)
		return event_arch.reads_alone && !(access & TL_WRITE) ? HW_BREAKPOINT_R
								      : HW_BREAKPOINT_RW;
	return HW_BREAKPOINT_W;
}

static int fill_counter(struct perf_event_attr *attributes, const struct perf_request *request)
{
	if (request->counter == 0 ||
	    request->counter >= sizeof(counter_config) / sizeof(counter_config[0]))
		return -EINVAL;
	attributes->type = counter_config[request->counter].type;
	attributes->config = counter_config[request->counter].config;
	attributes->sample_period = request->period;
	return 0;
}

static void fill_noted(struct perf_event_attr *attributes, unsigned stack)
{
	attributes->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				  PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_REGS_USER |
				  PERF_SAMPLE_STACK_USER;
	attributes->sample_regs_user = event_arch.sampled;
	attributes->sample_stack_user = stack;
	attributes->remove_on_exec = 1;
	/* Names and births of threads beside them. */
	attributes->comm = 1;
	attributes->task = 1;
	attributes->sample_id_all = 1;
	attributes->use_clockid = 1;
	attributes->clockid = CLOCK_MONOTONIC;
	attributes->watermark = 1;
	attributes->wakeup_watermark = 65536;
}

int perf_fill_attributes(struct perf_event_attr *attributes, const struct perf_request *request)
{
	memset(attributes, 0, sizeof(*attributes));
	attributes->size = sizeof(*attributes);
	attributes->disabled = request->disabled;
	attributes->inherit = request->inherit;
	attributes->inherit_thread = request->inherit && request->threads_only;
	attributes->exclude_kernel = !request->kernel;
	attributes->exclude_hv = 1;
	attributes->sigtrap = request->signal;
	attributes->remove_on_exec = request->signal;
	attributes->sig_data = request->signal ? request->data : 0;
	if (request->noted)
		fill_noted(attributes, request->noted);
	if (!request->access)
		return fill_counter(attributes, request);
	attributes->type = PERF_TYPE_BREAKPOINT;
	attributes->sample_period = 1;
	attributes->bp_type = breakpoint_type(request->access);
	attributes->bp_addr = request->addr;
	attributes->bp_len = request->access & TL_EXEC ? event_arch.code_length : request->length;
	return 0;
}

static bool was_refused; /* set by perf_open(), and stays */

int perf_open(const struct perf_request *request, pid_t tid)
{
	struct perf_event_attr attributes;
	int err = perf_fill_attributes(&attributes, request);

	if (err)
		return err;
	err = raw_perf_event_open(&attributes, tid, request->cpu - 1, -1, PERF_FLAG_FD_CLOEXEC);
	if (err == -EPERM || err == -EACCES || err == -ENOSYS)
		__atomic_store_n(&was_refused, true, __ATOMIC_RELAXED);
	return err;
}

/* The kernel looks at the flags before it looks at anything else. */
bool perf_is_refused_whatever(void)
{
	return __atomic_load_n(&was_refused, __ATOMIC_RELAXED) &&
	       raw_perf_event_open(NULL, 0, -1, -1, ~0ul) != -EINVAL;
}

int perf_modify(int fd, const struct perf_request *request)
{
	struct perf_event_attr attributes;
	int err = perf_fill_attributes(&attributes, request);

	if (err)
		return err;
	return raw_ioctl(fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, (unsigned long)&attributes);
}

int perf_enable(int fd)
{
	return raw_ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}

int perf_disable(int fd)
{
	return raw_ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t perf_count(int fd)
{
	uint64_t count = 0;

	if (raw_syscall3(SYS_read, fd, (long)&count, sizeof(count)) != sizeof(count))
		return 0;
	return count;
}

int perf_free_slots(pid_t tid)
{
	static const char probe_byte;
	struct perf_request request = {
		.addr = (uintptr_t)&probe_byte, .length = 1, .access = TL_WRITE, .disabled = true};
	int fds[MAX_SLOTS];
	int count = 0;

	while (count < MAX_SLOTS) {
		int fd = perf_open(&request, tid);

		if (fd < 0)
			break;
		fds[count++] = fd;
	}
	for (int i = 0; i < count; i++)
		raw_close(fds[i]);
	return count;
}
