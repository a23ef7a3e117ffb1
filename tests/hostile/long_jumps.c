/* SPDX-License-Identifier: Apache-2.0 */
/* siglongjmp out of handlers of timers and of faults, past whatever was interrupted. */
#include "hostile.h"
#include <setjmp.h>
#include <sys/time.h>

static sigjmp_buf out_of_fault, out_of_timer;
static volatile int jumping;

static void on_fault(int number)
{
	siglongjmp(out_of_fault, number);
}

static void on_timer(int number)
{
	if (jumping)
		siglongjmp(out_of_timer, number);
}

int main(void)
{
	struct itimerval every = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
	struct sigaction fault = {.sa_handler = on_fault}, timer = {.sa_handler = on_timer};
	volatile int faults = 0, timers = 0;
	sigset_t alarm_only;

	/* The other threads must not take the alarms. */
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	expect(pthread_sigmask(SIG_BLOCK, &alarm_only, NULL) == 0);
	noise_start();
	expect(pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL) == 0);
	expect(sigaction(SIGSEGV, &fault, NULL) == 0 && sigaction(SIGALRM, &timer, NULL) == 0);
	while (faults < 1000) {
		if (sigsetjmp(out_of_fault, 1) == 0)
			*(volatile char *)(uintptr_t)8 = 1;
		faults++;
		noise_counter++;
	}
	expect(setitimer(ITIMER_REAL, &every, NULL) == 0);
	while (timers < 500) {
		if (sigsetjmp(out_of_timer, 1) == 0) {
			jumping = 1;
			for (;;)
				noise_counter++;
		}
		jumping = 0;
		timers++;
	}
	expect(setitimer(ITIMER_REAL, &never, NULL) == 0);
	noise_stop();
	say("%d jumps out of faults, %d out of timers", faults, timers);
	return 0;
}
