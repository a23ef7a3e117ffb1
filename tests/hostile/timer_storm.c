/* SPDX-License-Identifier: Apache-2.0 */
/* Timers at 10 kHz by SIGPROF, SIGALRM and a POSIX timer, handlers without SA_RESTART. */
#include "hostile.h"
#include <sys/time.h>

static volatile sig_atomic_t alarms, profiles, reals;

static void on_signal(int number)
{
	if (number == SIGALRM)
		alarms++;
	else if (number == SIGPROF)
		profiles++;
	else
		reals++;
	noise_counter++;
}

int main(void)
{
	struct itimerval every = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
	struct itimerspec often = {{0, 100000}, {0, 100000}};
	struct sigaction action = {.sa_handler = on_signal};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 3};
	struct timespec end;
	timer_t timer;

	expect(sigaction(SIGALRM, &action, NULL) == 0 && sigaction(SIGPROF, &action, NULL) == 0);
	expect(sigaction(SIGRTMIN + 3, &action, NULL) == 0);
	expect(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
	noise_start();
	expect(setitimer(ITIMER_REAL, &every, NULL) == 0);
	expect(setitimer(ITIMER_PROF, &every, NULL) == 0);
	expect(timer_settime(timer, 0, &often, NULL) == 0);
	/* An absolute end: at this rate what nanosleep() has left hardly shrinks. */
	expect(clock_gettime(CLOCK_MONOTONIC, &end) == 0);
	for (int second = 0; second < 60; second++) {
		end.tv_sec++;
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL))
			;
		if (alarms > 500 && profiles > 2 && reals > 500)
			break;
	}
	expect(timer_delete(timer) == 0);
	expect(setitimer(ITIMER_REAL, &never, NULL) == 0);
	expect(setitimer(ITIMER_PROF, &never, NULL) == 0);
	noise_stop();
	say("alarms %s, profiles %s, POSIX timers %s", alarms > 500 ? "many" : "few",
	    profiles > 2 ? "some" : "none", reals > 500 ? "many" : "few");
	return 0;
}
