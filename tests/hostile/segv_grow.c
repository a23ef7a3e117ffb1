/* SPDX-License-Identifier: Apache-2.0 */
/* A SIGSEGV handler opens pages at first touch, and another run repairs read-only ones. */
#include "hostile.h"

#define PAGES 2000
#define PAGE 4096

static char *area;
static volatile sig_atomic_t faults;

static void on_fault(int number, siginfo_t *info, void *context)
{
	char *page = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));

	(void)number;
	(void)context;
	if (page < area || page >= area + PAGES * PAGE)
		_exit(1);
	faults++;
	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE))
		_exit(1);
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

	area = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	expect(area != MAP_FAILED);
	expect(sigaction(SIGSEGV, &action, NULL) == 0);
	noise_start();
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < PAGES; i++) {
			area[i * PAGE + 8]++;
			if (i % 100 == 0)
				nap(20000);
		}
		expect(mprotect(area, PAGES * PAGE, PROT_READ) == 0);
	}
	noise_stop();
	say("%d faults, last cell %d", faults, area[(PAGES - 1) * PAGE + 8]);
	return 0;
}
