/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/samples.h"

#include "base/syscall.h"
#include "sample/perf_record.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define RING_PAGES 16 /* of data, a power of two; 64 KiB hold about 300 samples */
#define CPUS_MAX 64   /* each thread inherits one event for each CPU: more would cost too much */

struct samples {
	struct ring ring[CPUS_MAX];
	unsigned count, left_out;
	uint64_t period;
	bool kernel;
	bool on;
	uint64_t lost;
	int *added; /* events of further threads, which write to the rings */
	size_t added_count, added_capacity;
};

static void fill_attributes(struct perf_event_attr *attributes, uint64_t period, bool kernel)
{
	memset(attributes, 0, sizeof(*attributes));
	attributes->size = sizeof(*attributes);
	attributes->type = PERF_TYPE_SOFTWARE;
	attributes->config = PERF_COUNT_SW_TASK_CLOCK;
	attributes->sample_period = period;
	attributes->sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				  PERF_SAMPLE_REGS_USER;
	attributes->sample_regs_user = PERF_RECORD_REGISTER_MASK;
	attributes->inherit = 1;
	attributes->disabled = 1;
	attributes->exclude_kernel = !kernel;
	attributes->exclude_hv = 1;
	attributes->use_clockid = 1;
	attributes->clockid = CLOCK_MONOTONIC;
	attributes->watermark = 1;
	attributes->wakeup_watermark = RING_PAGES * 4096u;
}

static int open_ring(struct ring *ring, pid_t pid, int cpu, uint64_t period, bool kernel)
{
	struct perf_event_attr attributes;

	fill_attributes(&attributes, period, kernel);
	return ring_open(ring, &attributes, pid, cpu, RING_PAGES, RING_PAGES);
}

int samples_open(struct samples **samples, pid_t pid, uint64_t period, bool kernel)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	struct samples *made = calloc(1, sizeof(*made));
	int err = -ENODEV;

	if (!made)
		return -ENOMEM;
	for (int cpu = 0; cpu < cpus; cpu++) {
		int result;

		if (made->count == CPUS_MAX) {
			made->left_out = (unsigned)(cpus - cpu);
			break;
		}
		result = open_ring(&made->ring[made->count], pid, cpu, period, kernel);

		if (result == 0)
			made->count++;
		else
			err = result;
	}
	if (made->count == 0) {
		free(made);
		return err;
	}
	made->period = period;
	made->kernel = kernel;
	*samples = made;
	return 0;
}

int samples_switch(struct samples *samples, bool on)
{
	unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
	int err = 0;

	samples->on = on;
	for (unsigned i = 0; i < samples->count; i++)
		if (ioctl(samples->ring[i].fd, request, 0))
			err = -errno;
	for (size_t i = 0; i < samples->added_count; i++)
		if (ioctl(samples->added[i], request, 0))
			err = -errno;
	return err;
}

static bool make_room(struct samples *samples)
{
	size_t capacity = samples->added_capacity ? 2 * samples->added_capacity : 64;
	int *added;

	if (samples->added_count < samples->added_capacity)
		return true;
	added = realloc(samples->added, capacity * sizeof(*added));
	if (!added)
		return false;
	samples->added = added;
	samples->added_capacity = capacity;
	return true;
}

int samples_add(struct samples *samples, pid_t tid)
{
	struct perf_event_attr attributes;

	fill_attributes(&attributes, samples->period, samples->kernel);
	attributes.disabled = !samples->on;
	for (unsigned i = 0; i < samples->count; i++) {
		int fd;

		if (!make_room(samples))
			return -ENOMEM;
		fd = raw_perf_event_open(&attributes, tid, samples->ring[i].cpu, -1,
					 PERF_FLAG_FD_CLOEXEC);
		if (fd < 0)
			return fd;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, samples->ring[i].fd)) {
			int err = -errno;

			close(fd);
			return err;
		}
		samples->added[samples->added_count++] = fd;
	}
	return 0;
}

/* The kernel does not hand a ring's mapping on to a forked process. */
int samples_map_again(struct samples *samples)
{
	for (unsigned i = 0; i < samples->count; i++) {
		int err = ring_map_again(&samples->ring[i]);

		if (err)
			return err;
	}
	return 0;
}

void samples_close(struct samples *samples)
{
	if (!samples)
		return;
	for (unsigned i = 0; i < samples->count; i++)
		ring_close(&samples->ring[i]);
	for (size_t i = 0; i < samples->added_count; i++)
		close(samples->added[i]);
	free(samples->added);
	free(samples);
}

unsigned samples_cpus_left_out(const struct samples *samples)
{
	return samples->left_out;
}

uint64_t samples_take_lost(struct samples *samples)
{
	uint64_t lost = samples->lost;

	samples->lost = 0;
	return lost;
}

struct sample_record {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
	uint64_t time;
	uint64_t abi;
	uint64_t registers[PERF_RECORD_REGISTERS];
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, count;
};

static void take_record(const struct sample_record *record, sample_fn *take, void *context)
{
	struct sample sample = {
		.pid = (pid_t)record->pid, .tid = (pid_t)record->tid, .time = record->time};

	if (record->abi != PERF_SAMPLE_REGS_ABI_64)
		return;
	perf_record_registers(record->registers, &sample.registers);
	take(context, &sample);
}

static unsigned drain_ring(struct samples *samples, struct ring *ring, sample_fn *take,
			   void *context)
{
	struct perf_event_header header;
	struct sample_record record;
	struct lost_record lost;
	unsigned count = 0;

	ring_look(ring);
	for (; perf_record_next(ring, &header); perf_record_skip(ring, &header)) {
		if (header.type == PERF_RECORD_SAMPLE && header.size == sizeof(record) &&
		    perf_record_copy(ring, &header, &record, sizeof(record))) {
			take_record(&record, take, context);
			count++;
		} else if (header.type == PERF_RECORD_LOST &&
			   perf_record_copy(ring, &header, &lost, sizeof(lost))) {
			samples->lost += lost.count;
		}
	}
	ring_release(ring);
	return count;
}

unsigned samples_drain(struct samples *samples, sample_fn *take, void *context)
{
	unsigned count = 0;

	for (unsigned i = 0; i < samples->count; i++)
		count += drain_ring(samples, &samples->ring[i], take, context);
	return count;
}
