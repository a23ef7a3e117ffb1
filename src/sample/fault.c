/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/fault.h"

#include "base/clock.h"
#include "base/syscall.h"
#include "sample/perf_record.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES \
	8 /* of data: a record has 6 KiB, and the thread's next faults may come behind it */
#define PAGE_BYTES 4096u

/* A record as the attributes below ask for it; the stack comes behind it, then how much of it is
 * real. */
struct record {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time, address, abi;
	uint64_t registers[PERF_RECORD_REGISTERS];
	uint64_t stack_size;
};

static struct perf_event_attr attributes(uint64_t config, bool kernel)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = PERF_RECORD_REGISTER_MASK,
		.sample_stack_user = FAULT_STACK,
		.wakeup_events = 1,
		.exclude_kernel = !kernel,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC};
}

static int open_both(struct fault_events *events, pid_t tid, bool kernel)
{
	const struct perf_event_attr minor = attributes(PERF_COUNT_SW_PAGE_FAULTS_MIN, kernel);
	const struct perf_event_attr major = attributes(PERF_COUNT_SW_PAGE_FAULTS_MAJ, kernel);
	int err;

	*events = (struct fault_events){0};
	err = ring_open(&events->ring, &minor, tid, -1, RING_PAGES, RING_PAGES);
	if (err)
		return err;
	events->second = raw_perf_event_open(&major, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (events->second < 0)
		err = events->second;
	else if (!ioctl(events->second, PERF_EVENT_IOC_SET_OUTPUT, events->ring.fd))
		return 0;
	else
		err = -errno;
	fault_close(events);
	return err;
}

int fault_open(struct fault_events *events, pid_t tid)
{
	int err = open_both(events, tid, true);

	return err == -EACCES || err == -EPERM ? open_both(events, tid, false) : err;
}

/* False: a record of another kind, or of another fault. */
static bool take(const struct ring *ring, const struct perf_event_header *header, uint64_t page,
		 struct fault_seen *seen)
{
	struct record record;

	if (header->type != PERF_RECORD_SAMPLE ||
	    !perf_record_copy(ring, header, &record, sizeof(record)) ||
	    record.abi != PERF_SAMPLE_REGS_ABI_64 || record.address / PAGE_BYTES != page)
		return false;
	seen->sample = (struct sample){
		.pid = (pid_t)record.pid, .tid = (pid_t)record.tid, .time = record.time};
	perf_record_registers(record.registers, &seen->sample.registers);
	seen->kernel = (header->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
	seen->address = record.address;
	seen->stack_length = perf_record_stack(ring, header, sizeof(record), record.stack_size,
					       seen->stack, FAULT_STACK);
	return true;
}

static bool drain(struct ring *ring, uint64_t page, struct fault_seen *seen)
{
	struct perf_event_header header;
	bool found = false;

	ring_look(ring);
	while (!found && perf_record_next(ring, &header)) {
		found = take(ring, &header, page, seen);
		perf_record_skip(ring, &header);
	}
	ring_release(ring);
	return found;
}

bool fault_take(struct fault_events *events, uint64_t address, int milliseconds,
		struct fault_seen *seen)
{
	const uint64_t until = clock_now() + (uint64_t)milliseconds * 1000000u;
	struct pollfd ready = {events->ring.fd, POLLIN, 0};

	while (!drain(&events->ring, address / PAGE_BYTES, seen)) {
		uint64_t now = clock_now();

		if (now >= until || ready.revents & POLLHUP)
			return false;
		poll(&ready, 1, (int)((until - now) / 1000000u) + 1);
	}
	return true;
}

void fault_close(struct fault_events *events)
{
	if (events->second >= 0)
		close(events->second);
	ring_close(&events->ring);
}
