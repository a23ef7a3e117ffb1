/* SPDX-License-Identifier: Apache-2.0 */
/* Children with racing threads die of every kind of signal, abort, _exit and fault. */
#include "hostile.h"

int main(void)
{
	static const int numbers[] = {SIGHUP,  SIGINT,	SIGQUIT, SIGILL,  SIGABRT, SIGBUS,
				      SIGFPE,  SIGKILL, SIGSEGV, SIGPIPE, SIGALRM, SIGTERM,
				      SIGUSR1, SIGUSR2, SIGTRAP, SIGSYS,  SIGXCPU};
	struct rlimit no_core = {0, 0};
	pid_t child;

	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		child = fork();
		if (child == 0) {
			noise_start();
			nap(100000);
			kill(getpid(), numbers[i]);
			nap(1000000);
			_exit(1);
		}
		say_end("child", child);
	}
	child = fork();
	if (child == 0) {
		noise_start();
		nap(100000);
		*(volatile char *)(uintptr_t)16 = 1;
	}
	say_end("fault", child);
	child = fork();
	if (child == 0) {
		noise_start();
		nap(100000);
		__asm__ volatile("ud2");
	}
	say_end("ud2", child);
	return 0;
}
