/* SPDX-License-Identifier: Apache-2.0 */
/* No thread may read the processor's clock (PR_SET_TSC), nor the threads and children that it
 * starts: whatever reads the time without asking the kernel gets a SIGSEGV, which the program
 * takes for its own. */
#include "hostile.h"
#include <setjmp.h>
#include <sys/prctl.h>

static sigjmp_buf before;
static volatile sig_atomic_t faults;

static void on_fault(int signal)
{
	(void)signal;
	faults++;
	siglongjmp(before, 1);
}

static void read_clock(void)
{
	uint32_t low, high;

	if (!sigsetjmp(before, 1))
		__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
}

static void work(void)
{
	for (int i = 0; i < 100; i++) {
		char *block = malloc((size_t)i + 1);

		expect(block);
		read_clock();
		free(block);
		nap(10000);
	}
	say("%d faults", (int)faults);
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_fault};
	pid_t child;

	expect(sigaction(SIGSEGV, &action, NULL) == 0);
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
		return SKIP;
	noise_start();
	work();
	child = fork();
	if (child == 0) {
		work();
		_exit(0);
	}
	say_end("child", child);
	noise_stop();
	return 0;
}
