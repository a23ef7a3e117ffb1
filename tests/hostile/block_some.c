/* SPDX-License-Identifier: Apache-2.0 */
/* Some threads block all signals, for short times, over and over. */
#include "hostile.h"

static void *flicker(void *arg)
{
	sigset_t all, old;

	sigfillset(&all);
	while (!__atomic_load_n(&noise_over, __ATOMIC_RELAXED)) {
		expect(pthread_sigmask(SIG_BLOCK, &all, &old) == 0);
		expect(!sigismember(&old, SIGTRAP) && !sigismember(&old, SIGUSR1));
		noise_counter++;
		expect(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
		noise_counter--;
		nap(200);
	}
	return arg;
}

int main(void)
{
	pthread_t threads[4];

	noise_start();
	for (int i = 0; i < 4; i++)
		expect(pthread_create(&threads[i], NULL, flicker, NULL) == 0);
	nap(2000000);
	noise_stop();
	for (int i = 0; i < 4; i++)
		expect(pthread_join(threads[i], NULL) == 0);
	say("masks were as set");
	return 0;
}
