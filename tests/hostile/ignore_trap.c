/* SPDX-License-Identifier: Apache-2.0 */
/* Ignores SIGTRAP, then restores the default and lets a child die of it, by raise and by int3. */
#include "hostile.h"

static pid_t die_of_trap(int by_instruction)
{
	pid_t child = fork();

	if (child == 0) {
		signal(SIGTRAP, SIG_DFL);
		if (by_instruction)
			__asm__ volatile("int3");
		else
			raise(SIGTRAP);
		_exit(5);
	}
	expect(child > 0);
	return child;
}

int main(void)
{
	struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	expect(signal(SIGTRAP, SIG_IGN) != SIG_ERR);
	noise_start();
	for (int i = 0; i < 100; i++) {
		expect(raise(SIGTRAP) == 0);
		nap(10000);
	}
	say("100 ignored");
	expect(signal(SIGTRAP, SIG_DFL) == SIG_IGN);
	nap(1000000);
	say_end("raised", die_of_trap(0));
	say_end("int3", die_of_trap(1));
	noise_stop();
	return 0;
}
