/* SPDX-License-Identifier: Apache-2.0 */
/* Counters call back each period, in the thread that caused it. */
#include "check.h"

#include <pthread.h>
#include <time.h>

static volatile long hits;
static volatile pid_t hit_tid;

static void note(tl_hit *hit, void *arg)
{
	(void)arg;
	CHECK_EQUAL(tl_hit_access(hit) & ~TL_LATE, 0);
	hit_tid = tl_hit_tid(hit);
	__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
}

static struct tl_spec counter_spec(unsigned counter, uint64_t period)
{
	return (struct tl_spec){.size = sizeof(struct tl_spec),
				.counter = counter,
				.period = period,
				.scope = TL_PROCESS};
}

static void fault_pages(int pages)
{
	char *memory = mmap(NULL, (size_t)pages * 4096, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, (size_t)pages * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; i < pages; i++)
		((volatile char *)memory)[i * 4096] = 1;
	munmap(memory, (size_t)pages * 4096);
}

static void *fault_in_thread(void *arg)
{
	long before = hits;

	fault_pages(100);
	CHECK(hits - before >= 100, "%ld of 100 faults", hits - before);
	CHECK_EQUAL(hit_tid, check_gettid());
	return arg;
}

static void test_faults(void)
{
	struct tl_spec spec = counter_spec(TL_PAGE_FAULTS, 1);
	pthread_t thread;
	tl_event *event;

	fault_pages(200);
	CHECK_OK(tl_event_open(&event, &spec, note, NULL));
	fault_pages(200);
	CHECK(hits >= 200 && hits < 210, "%ld hits for 200 faults", hits);
	pthread_create(&thread, NULL, fault_in_thread, NULL);
	pthread_join(thread, NULL);
	CHECK_OK(tl_event_close(event));
	hits = 0;
	spec.period = 10;
	CHECK_OK(tl_event_open(&event, &spec, note, NULL));
	fault_pages(500);
	CHECK(hits >= 50 && hits <= 52, "%ld hits for 500 faults, one in ten", hits);
	CHECK_OK(tl_event_close(event));
}

static void test_cpu_time(void)
{
	struct tl_spec spec = counter_spec(TL_CPU_TIME, 1000000);
	struct timespec from, to;
	double milliseconds;
	tl_event *event;

	hits = 0;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	CHECK_OK(tl_event_open(&event, &spec, note, NULL));
	do {
		for (volatile int i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
		milliseconds = (double)(to.tv_sec - from.tv_sec) * 1e3 +
			       (double)(to.tv_nsec - from.tv_nsec) / 1e6;
	} while (milliseconds < 300);
	CHECK_OK(tl_event_close(event));
	/* A virtual machine's timer may be late and skips what it missed, never the other way. */
	CHECK(hits <= milliseconds + 1 && hits >= milliseconds / 4, "%ld hits in %f ms", hits,
	      milliseconds);
}

/* Needs the right to see the kernel: refused or working, never silently zero. */
static void test_switches(void)
{
	struct tl_spec spec = counter_spec(TL_CONTEXT_SWITCHES, 1);
	tl_event *event;
	int err;

	hits = 0;
	spec.flags = TL_INCLUDE_KERNEL;
	err = tl_event_open(&event, &spec, note, NULL);
	if (err) {
		CHECK(err == -EACCES || err == -EPERM, "error %d", err);
		return;
	}
	for (int i = 0; i < 50; i++)
		usleep(1000);
	CHECK(hits >= 50 && hits <= 60, "%ld hits for 50 sleeps", hits);
	CHECK_OK(tl_event_close(event));
}

static void test_hardware_counter(unsigned counter)
{
	struct tl_spec spec = counter_spec(counter, 100000);
	tl_event *event;
	int err;

	hits = 0;
	err = tl_event_open(&event, &spec, note, NULL);
	if (err) {
		CHECK(err == -EOPNOTSUPP, "error %d", err);
		return;
	}
	for (volatile int i = 0; i < 10000000; i++)
		;
	CHECK(hits > 0, "counter %u", counter);
	CHECK_OK(tl_event_close(event));
}

int main(void)
{
	check_hardware();
	test_faults();
	test_cpu_time();
	test_switches();
	test_hardware_counter(TL_CYCLES);
	test_hardware_counter(TL_INSTRUCTIONS);
	test_hardware_counter(TL_CACHE_MISSES);
	return 0;
}
