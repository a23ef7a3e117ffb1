/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `early`: stops its parent before anything else of it runs, any preloaded library's constructor
 * too (DT_PREINIT_ARRAY), says "begun" when it has begun all the same, and reads a line before it
 * ends with status 7.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static void stop_parent(void)
{
	kill(getppid(), SIGSTOP);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = stop_parent;

int main(void)
{
	puts("begun");
	fflush(stdout);
	getchar();
	return 7;
}
