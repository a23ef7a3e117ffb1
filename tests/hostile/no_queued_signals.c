/* SPDX-License-Identifier: Apache-2.0 */
/* RLIMIT_SIGPENDING 0: no signal can carry its information in a queue. */
#include "hostile.h"

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

int main(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct rlimit none = {0, 0};
	union sigval value = {.sival_int = 1};

	expect(sigaction(SIGUSR1, &action, NULL) == 0);
	noise_start();
	nap(300000);
	expect(setrlimit(RLIMIT_SIGPENDING, &none) == 0);
	for (int i = 0; i < 200; i++) {
		expect(raise(SIGUSR1) == 0);
		nap(10000);
	}
	say("%d handled", handled);
	say("a queued one: %s",
	    sigqueue(getpid(), SIGRTMIN + 2, value) == -1 && errno == EAGAIN ? "refused" : "taken");
	noise_stop();
	return 0;
}
