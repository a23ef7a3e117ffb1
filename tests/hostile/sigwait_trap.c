/* SPDX-License-Identifier: Apache-2.0 */
/* Takes SIGTRAPs of its own with sigwait(), sigtimedwait() and signalfd: all, and no others. */
#include "hostile.h"
#include <sys/signalfd.h>

int main(void)
{
	sigset_t trap;
	siginfo_t info;
	struct signalfd_siginfo read_info;
	struct timespec half = {0, 500000000};
	int number, fd;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	expect(pthread_sigmask(SIG_BLOCK, &trap, NULL) == 0);
	noise_start();
	for (int i = 0; i < 50; i++) {
		expect(kill(getpid(), SIGTRAP) == 0);
		expect(sigwait(&trap, &number) == 0 && number == SIGTRAP);
	}
	say("50 taken by sigwait");
	expect(sigtimedwait(&trap, &info, &half) == -1 && errno == EAGAIN);
	say("then none for half a second");
	expect(kill(getpid(), SIGTRAP) == 0);
	expect(sigtimedwait(&trap, &info, &half) == SIGTRAP && info.si_code == SI_USER);
	say("one taken by sigtimedwait, from %s", info.si_pid == getpid() ? "itself" : "another");
	expect(raise(SIGTRAP) == 0);
	expect(sigtimedwait(&trap, &info, &half) == SIGTRAP);
	say("one that it raised, code %d by sigtimedwait", info.si_code);
	expect(raise(SIGTRAP) == 0);
	expect(sigwaitinfo(&trap, &info) == SIGTRAP);
	say("another, code %d by sigwaitinfo", info.si_code);
	fd = signalfd(-1, &trap, SFD_NONBLOCK);
	expect(fd >= 0);
	expect(read(fd, &read_info, sizeof(read_info)) == -1 && errno == EAGAIN);
	expect(kill(getpid(), SIGTRAP) == 0);
	nap(100000);
	expect(read(fd, &read_info, sizeof(read_info)) == sizeof(read_info));
	say("signal %u code %d by signalfd", read_info.ssi_signo, read_info.ssi_code);
	noise_stop();
	return 0;
}
