/* SPDX-License-Identifier: Apache-2.0 */
/* exit() while the other threads are in handlers or in the middle of racing accesses. */
#include "hostile.h"

static void on_signal(int number)
{
	(void)number;
	for (int i = 0; i < 100; i++)
		noise_counter++;
}

static void *interrupt(void *arg)
{
	for (;;) {
		for (int i = 0; i < NOISE_THREADS; i++)
			pthread_kill(noise_threads[i], SIGUSR1);
		nap(50);
	}
	return arg;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	for (int i = 0; i < 50; i++) {
		pid_t child = fork();

		if (child == 0) {
			pthread_t thread;

			expect(sigaction(SIGUSR1, &action, NULL) == 0);
			noise_start();
			expect(pthread_create(&thread, NULL, interrupt, NULL) == 0);
			nap(20000 + i * 1000);
			if (i % 3 == 0)
				pthread_exit(NULL);
			exit(i);
		}
		expect(child > 0);
		if (i % 3 == 0) {
			/* main() is gone, its threads stay. */
			nap(50000);
			expect(kill(child, i % 2 ? SIGKILL : SIGTERM) == 0);
		}
		say_end("child", child);
	}
	return 0;
}
