/* SPDX-License-Identifier: Apache-2.0 */
/* Children with racing threads die of every kind of signal, abort, _exit and fault. */
#include "hostile.h"

static void single_step(void)
{
	__asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq; .rept 10; nop; .endr" : : : "memory");
}

/* popf ends the step that it is itself. */
static void step_once(void)
{
	__asm__ volatile("pushfq; pushfq; orq $0x100, (%%rsp); popfq; popfq" : : : "memory");
}

static void breakpoint(void)
{
	__asm__ volatile("int3");
}

static void int1(void)
{
	__asm__ volatile(".byte 0xf1");
}

static void send_trap(void)
{
	raise(SIGTRAP);
}

/* The kernel forces what an instruction raises past a mask and SIG_IGN, but not what is sent. */
static void test_traps(void)
{
	static void (*const traps[])(void) = {single_step, step_once, breakpoint, int1, send_trap};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTRAP);
	for (size_t i = 0; i < 3 * sizeof(traps) / sizeof(traps[0]); i++) {
		pid_t child = fork();

		if (child == 0) {
			noise_start();
			nap(20000);
			if (i % 3 == 1)
				signal(SIGTRAP, SIG_IGN);
			if (i % 3 == 2)
				pthread_sigmask(SIG_BLOCK, &set, NULL);
			traps[i / 3]();
			_exit(3);
		}
		say_end("trap", child);
	}
}

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
	test_traps();
	return 0;
}
