/* SPDX-License-Identifier: Apache-2.0 */
/* Every thread blocks every signal for all its life. */
#include "hostile.h"

int main(void)
{
	sigset_t all, now;
	int blocked = 0;

	sigfillset(&all);
	expect(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
	noise_start();
	nap(3000000);
	expect(pthread_sigmask(SIG_SETMASK, NULL, &now) == 0);
	for (int number = 1; number < 65; number++)
		blocked += sigismember(&now, number) == 1;
	/* KILL, STOP and the two signals libc keeps for itself cannot be blocked. */
	say("%d blocked", blocked);
	noise_stop();
	return 0;
}
