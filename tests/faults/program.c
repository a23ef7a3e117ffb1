/* SPDX-License-Identifier: Apache-2.0 */
/* What is run while Trapline's own calls fail: threads that race, a child, a program executed. */
#include "../hostile/hostile.h"

/* As much CPU time as a limit of a tenth makes threads pause for, whatever chance does. */
static void use(void)
{
	struct timespec used;

	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	while (used.tv_sec == 0 && used.tv_nsec < 100000000);
}

int main(void)
{
	pid_t child;

	say("begins");
	use();
	noise_start();
	nap(1200000); /* so long that the race is met as a rule, also on a slow machine */
	child = fork();
	if (child == 0) {
		nap(20000);
		_exit(3);
	}
	say_end("child", child);
	child = vfork();
	if (child == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(9);
	}
	say_end("true", child);
	noise_stop();
	say("ends");
	return 7;
}
