/* SPDX-License-Identifier: Apache-2.0 */
/* Says what it has of who started it: limits, signals, how it is scheduled, timers. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

static void say_limits(void)
{
	for (int resource = 0; resource < RLIM_NLIMITS; resource++) {
		struct rlimit limit;

		getrlimit(resource, &limit);
		printf("limit %d: %lx %lx\n", resource, (long)limit.rlim_cur, (long)limit.rlim_max);
	}
}

/* Of SIGTRAP a statically linked program sees our handler (docs/HOSTILE.md); main() tries it. */
static void say_ignored(void)
{
	for (int number = 1; number < 32; number++) {
		struct sigaction action;

		if (number != SIGTRAP && !sigaction(number, NULL, &action) &&
		    action.sa_handler == SIG_IGN)
			printf("signal %d is ignored\n", number);
	}
}

static void say_timers(void)
{
	for (int which = ITIMER_REAL; which <= ITIMER_PROF; which++) {
		struct itimerval timer;

		getitimer(which, &timer);
		printf("timer %d: %d\n", which, timer.it_value.tv_sec || timer.it_value.tv_usec);
	}
}

int main(void)
{
	printf("policy %d, slack %d\n", sched_getscheduler(0), prctl(PR_GET_TIMERSLACK));
	say_limits();
	say_ignored();
	say_timers();
	fflush(stdout);
	alarm(0);
	raise(SIGTRAP);
	return 7;
}
