/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for the disposition of every signal and for its mask: as a fresh process has them. */
#include "hostile.h"

int main(void)
{
	sigset_t mask, pending;
	int unusual = 0, blocked = 0, waiting = 0;

	noise_start();
	nap(1000000);
	for (int number = 1; number < 65; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
			unusual++;
	}
	expect(sigprocmask(SIG_BLOCK, NULL, &mask) == 0);
	expect(sigpending(&pending) == 0);
	for (int number = 1; number < 65; number++) {
		blocked += sigismember(&mask, number) == 1;
		waiting += sigismember(&pending, number) == 1;
	}
	say("%d handled or ignored, %d blocked, %d pending", unusual, blocked, waiting);
	expect(signal(SIGTRAP, SIG_IGN) == SIG_DFL);
	expect(signal(SIGTRAP, SIG_DFL) == SIG_IGN);
	noise_stop();
	return 0;
}
