/* SPDX-License-Identifier: Apache-2.0 */
/* Children whose system calls are handed to a handler of theirs (PR_SET_SYSCALL_USER_DISPATCH), the
 * return from a signal not excepted: what emulators of other systems do. */
#include "hostile.h"
#include <sys/prctl.h>

#define CALLS 200
#define STRANGE 0xe000l /* no call of the kernel's */

static volatile char selector; /* 1: calls are dispatched */
static volatile long dispatched;

static void on_call(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	selector = 0;
	dispatched += info->si_syscall == STRANGE;
}

static long call(long number)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(number) : "rcx", "r11", "memory");
	return result;
}

static void emulate(void)
{
	struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};

	expect(sigaction(SIGSYS, &action, NULL) == 0);
	if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector))
		_exit(SKIP);
	for (int i = 0; i < CALLS; i++) {
		volatile long spin = 0;

		selector = 1;
		while (spin < 50000) {
			spin++;
			noise_counter++;
		}
		expect(call(STRANGE) == STRANGE);
		expect(selector == 0);
	}
	say("%ld calls dispatched", dispatched);
	_exit(0);
}

int main(void)
{
	noise_start();
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();

		if (child == 0)
			emulate();
		say_end("child", child);
		nap(200000);
	}
	noise_stop();
	return 0;
}
