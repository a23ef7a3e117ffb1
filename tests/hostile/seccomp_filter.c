/* SPDX-License-Identifier: Apache-2.0 */
/* A filter that kills the process on perf_event_open, ioctl, ptrace, prctl, bpf and more. */
#include "hostile.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#define DENY(number)                                         \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

int main(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		DENY(SYS_perf_event_open),
		DENY(SYS_ioctl),
		DENY(SYS_ptrace),
		DENY(SYS_process_vm_readv),
		DENY(SYS_process_vm_writev),
		DENY(SYS_bpf),
		DENY(SYS_prctl),
		DENY(SYS_socket),
		DENY(SYS_openat),
		DENY(SYS_memfd_create),
		DENY(SYS_kill),
		DENY(SYS_tgkill),
		DENY(SYS_sched_yield),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	noise_start();
	nap(300000);
	expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	expect(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) ==
	       0);
	nap(3000000);
	noise_stop();
	say("nobody was killed");
	return 0;
}
