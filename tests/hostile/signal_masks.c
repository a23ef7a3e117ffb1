/* SPDX-License-Identifier: Apache-2.0 */
/* sigsuspend, ppoll and pselect with masks of their own; interrupted system calls say EINTR. */
#include "hostile.h"
#include <poll.h>
#include <sys/select.h>

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct timespec long_time = {20, 0};
	sigset_t blocked, open;
	char byte;
	int ends[2];

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigemptyset(&open);
	expect(pthread_sigmask(SIG_BLOCK, &blocked, NULL) == 0);
	noise_start();
	expect(sigaction(SIGUSR1, &action, NULL) == 0 && pipe(ends) == 0);
	for (int i = 0; i < 200; i++) {
		raise(SIGUSR1);
		expect(handled == 3 * i);
		expect(sigsuspend(&open) == -1 && errno == EINTR && handled == 3 * i + 1);
		raise(SIGUSR1);
		expect(ppoll(NULL, 0, &long_time, &open) == -1 && errno == EINTR);
		expect(handled == 3 * i + 2);
		raise(SIGUSR1);
		expect(pselect(0, NULL, NULL, NULL, &long_time, &open) == -1 && errno == EINTR);
		nap(5000);
	}
	say("%d handled", handled);
	/* Without signals of its own, a sleeping read must not be cut short. */
	expect(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);
	expect(read(ends[0], &byte, 1) == -1 && errno == EAGAIN);
	noise_stop();
	return 0;
}
