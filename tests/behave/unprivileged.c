/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that needs no privilege works without any, and what does is refused and explained. */
#include "check.h"

#include <pthread.h>
#include <sys/prctl.h>

static volatile long watched;
static volatile long hits;

static void __attribute__((noinline)) called(void)
{
	__asm__ volatile("");
}

static void *touch(void *arg)
{
	watched = 1;
	(void)watched;
	called();
	return arg;
}

static void expect(const volatile void *place, size_t len, unsigned access, long expected)
{
	tl_event *event =
		check_open(place, len, access, TL_PROCESS, check_count_hit, (void *)&hits);
	pthread_t thread;

	hits = 0;
	touch(NULL);
	CHECK(!pthread_create(&thread, NULL, touch, NULL), "create");
	pthread_join(thread, NULL);
	CHECK_EQUAL(hits, expected);
	CHECK_OK(tl_event_close(event));
}

static int paranoid(void)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
	int value = 2;

	if (file && fscanf(file, "%d", &value) != 1)
		value = 2;
	if (file)
		fclose(file);
	return value;
}

static void expect_refusal(void)
{
	struct tl_spec spec = check_spec(&watched, 8, TL_WRITE, TL_PROCESS);
	tl_event *event = NULL;
	int err;

	spec.flags = TL_INCLUDE_KERNEL;
	err = tl_event_open(&event, &spec, check_count_hit, NULL);
	CHECK(err == -EACCES || err == -EPERM, "error %d", err);
	CHECK(strstr(tl_explain(err), "perf_event_paranoid"), "explained as: %s", tl_explain(err));
}

int main(void)
{
	check_hardware();
	if (!getuid())
		CHECK_OK(setresgid(65534, 65534, 65534) | setresuid(65534, 65534, 65534));
	prctl(PR_SET_DUMPABLE, 1);
	if (paranoid() > 2)
		check_skip("kernel.perf_event_paranoid is above 2");
	expect(&watched, 8, TL_WRITE, 2);
	expect(&watched, 8, TL_READ, 2);
	expect((const volatile void *)called, 0, TL_EXEC, 2);
	if (paranoid() == 2)
		expect_refusal();
	return 0;
}
