/* SPDX-License-Identifier: Apache-2.0 */
/* clone(CLONE_VM) without CLONE_THREAD: another process in the same memory. */
#include "hostile.h"
#include <sched.h>

static int shared;

static int body(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		noise_counter++;
		shared++;
		nap(500);
	}
	return *(int *)arg;
}

int main(void)
{
	static char stacks[3][65536] __attribute__((aligned(16)));
	int result = 21;

	noise_start();
	for (int i = 0; i < 3; i++) {
		int flags = (i == 0 ? CLONE_VM : CLONE_VM | CLONE_FILES | CLONE_FS) | SIGCHLD;
		pid_t child = clone(body, stacks[i] + sizeof(stacks[i]), flags, &result);

		expect(child > 0);
		say_end("same memory", child);
	}
	noise_stop();
	say("shared is %d", shared);
	return 0;
}
