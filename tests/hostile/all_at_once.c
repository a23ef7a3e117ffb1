/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before its racing threads begin, everything that could keep a watcher away, at once: every signal
 * blocked, SIGTRAP ignored, every descriptor closed and none to be had, privilege dropped, not
 * dumpable, and a filter that kills for what a watcher might call.
 */
#include "filter.h"

static void filter_calls(void)
{
	struct sock_filter filter[] = {
		FILTER_LOAD,
		FILTER_DENY(SYS_perf_event_open),
		FILTER_DENY(SYS_ioctl),
		FILTER_DENY(SYS_process_vm_readv),
		FILTER_DENY(SYS_openat),
		FILTER_DENY(SYS_memfd_create),
		FILTER_DENY(SYS_rt_tgsigqueueinfo),
		FILTER_DENY(SYS_timer_create),
		FILTER_ALLOW,
	};

	filter_install(filter, sizeof(filter) / sizeof(filter[0]));
}

int main(void)
{
	struct rlimit none = {0, 0};
	sigset_t all;

	sigfillset(&all);
	expect(signal(SIGTRAP, SIG_IGN) != SIG_ERR);
	expect(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
	expect(syscall(SYS_close_range, 3, ~0u, 0) == 0);
	expect(setrlimit(RLIMIT_NOFILE, &none) == 0);
	if (getuid() == 0)
		expect(setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
	expect(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0);
	filter_calls();
	noise_start();
	nap(3000000);
	noise_stop();
	expect(dup(1) == -1 && errno == EMFILE);
	say("nothing seen");
	return 0;
}
