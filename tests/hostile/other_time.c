/* SPDX-License-Identifier: Apache-2.0 */
/* Children in a time namespace, whose monotonic clock is far ahead of this one's, and this process
 * beside them: each gets on with its work. */
#include "hostile.h"
#include <sched.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80 /* linux/sched.h */
#endif

#define DAYS 30
#define WORK 300000000ll /* ns of its CPU time */

static long long clock_of(clockid_t clock)
{
	struct timespec now;

	expect(clock_gettime(clock, &now) == 0);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Does it take much longer than it should? The machine may be busy. */
static void work(const char *who)
{
	long long end = clock_of(CLOCK_PROCESS_CPUTIME_ID) + WORK;
	long long begin = clock_of(CLOCK_MONOTONIC);

	while (clock_of(CLOCK_PROCESS_CPUTIME_ID) < end)
		noise_counter++;
	say("%s worked%s", who, clock_of(CLOCK_MONOTONIC) - begin > 100 * WORK ? " for ever" : "");
}

static int write_offset(void)
{
	FILE *file = fopen("/proc/self/timens_offsets", "w");
	int err;

	if (!file)
		return -1;
	fprintf(file, "monotonic %ld 0\n", DAYS * 86400l);
	err = fclose(file);
	return err;
}

static int inner(long long before)
{
	expect(clock_of(CLOCK_MONOTONIC) - before > 86400000000000ll);
	noise_start();
	work("the child");
	noise_stop();
	return 0;
}

static int outer(void)
{
	long long before = clock_of(CLOCK_MONOTONIC);
	pid_t child;

	if (unshare(CLONE_NEWTIME) != 0 || write_offset())
		return SKIP;
	child = fork();
	if (child == 0)
		_exit(inner(before));
	say_end("the child", child);
	return 0;
}

int main(void)
{
	int status;
	pid_t child;

	if (getuid() != 0)
		return SKIP;
	child = fork();
	if (child == 0)
		_exit(outer());
	expect(waitpid(child, &status, 0) == child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == SKIP)
		return SKIP;
	say("status %d", status);
	noise_start();
	work("the parent");
	nap(300000);
	noise_stop();
	return 0;
}
