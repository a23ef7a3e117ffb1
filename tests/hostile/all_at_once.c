/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before its racing threads begin, everything that could keep a watcher away, at once: every signal
 * blocked, SIGTRAP ignored, every descriptor closed and none to be had, privilege dropped, not
 * dumpable, and a filter that kills for what a watcher might call.
 */
#include "hostile.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#define DENY(number)                                         \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static void filter_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		DENY(SYS_perf_event_open),
		DENY(SYS_ioctl),
		DENY(SYS_process_vm_readv),
		DENY(SYS_openat),
		DENY(SYS_memfd_create),
		DENY(SYS_rt_tgsigqueueinfo),
		DENY(SYS_timer_create),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	expect(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) ==
	       0);
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
