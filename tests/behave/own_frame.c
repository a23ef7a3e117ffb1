/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack below a function is watched, eight bytes after eight bytes, the kernel's accesses
 * included, when a hit of something else comes: the signal's frame and those of our handler lie
 * there, and each of their writes, and what the kernel writes into them, trips the watch again. The
 * hit is told once, and the program goes on.
 */
#include "check.h"

#include <time.h>

#define FIRST 256u /* bytes below the function's own frame … */
#define LAST 8192u /* … and beyond those of the handler, vector registers and all */
#define MOST 60	   /* seconds: it takes less than one */

static volatile long counted;

static void __attribute__((noinline)) write_it(long value)
{
	counted = value;
}

static void check_each(void)
{
	char *frame = __builtin_frame_address(0);
	struct tl_spec spec = check_spec(frame - LAST, 8, TL_WRITE, TL_THREAD);
	long hits = 0, below = 0, turns = 0;
	tl_event *event, *watched;

	event = check_open(&counted, sizeof(counted), TL_WRITE, TL_THREAD, check_count_hit, &hits);
	spec.flags = TL_INCLUDE_KERNEL | TL_DISABLED;
	if (tl_event_open(&watched, &spec, check_count_hit, &below) == -EACCES)
		check_skip("kernel.perf_event_paranoid is above 1");
	for (unsigned at = FIRST; at < LAST; at += 8) {
		CHECK_OK(tl_event_move(watched, frame - at, 8, 0));
		CHECK_OK(tl_event_enable(watched));
		write_it(++turns);
		CHECK_OK(tl_event_disable(watched));
		CHECK_EQUAL(hits, turns);
	}
	CHECK(check_stat("hits-self") > 0, "the handler's frame was never watched");
	CHECK_OK(tl_event_close(watched));
	CHECK_OK(tl_event_close(event));
}

/* A handler that never ends has all signals blocked. */
static int status_of(pid_t child)
{
	const struct timespec pause = {0, 10000000};
	int status;

	for (int i = 0; i < MOST * 100; i++) {
		if (waitpid(child, &status, WNOHANG) == child)
			return status;
		nanosleep(&pause, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return status;
}

int main(void)
{
	pid_t child;
	int status;

	check_hardware();
	child = fork();
	CHECK(child >= 0);
	if (!child) {
		check_each();
		_exit(0);
	}
	status = status_of(child);
	CHECK(WIFEXITED(status), "it ended by signal %d, or did not go on", WTERMSIG(status));
	return WEXITSTATUS(status);
}
