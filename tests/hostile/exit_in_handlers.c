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

static void *mark_for_ever(void *arg)
{
	for (;;)
		noise_mark();
	return arg;
}

/* exit() flushes streams after all destructors: here it waits for a reader of a full pipe, while
 * other threads go on. */
static void exit_slowly(int status, int fd)
{
	FILE *stream = fdopen(fd, "w");
	static char text[20000];
	pthread_t thread;

	expect(stream && setvbuf(stream, NULL, _IOFBF, sizeof(text) * 2) == 0);
	expect(fwrite(text, 1, sizeof(text), stream) == sizeof(text));
	for (int i = 0; i < 4; i++)
		expect(pthread_create(&thread, NULL, mark_for_ever, NULL) == 0);
	nap(1000 + status % 5 * 500);
	exit(status);
}

static void test_slow_exits(void)
{
	char text[4096];

	for (int i = 0; i < 60; i++) {
		int ends[2];
		pid_t child;

		expect(pipe(ends) == 0 && fcntl(ends[1], F_SETPIPE_SZ, 4096) >= 0);
		child = fork();
		if (child == 0) {
			close(ends[0]);
			exit_slowly(i, ends[1]);
		}
		close(ends[1]);
		nap(10000);
		while (read(ends[0], text, sizeof(text)) > 0)
			;
		close(ends[0]);
		say_end("slow", child);
	}
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
	test_slow_exits();
	return 0;
}
