/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command as docs/FLEET.md deploys it: as another user, without any capability and without
 * the means to get one, and under a seccomp filter that refuses (EPERM) what the drop-in's
 * SystemCallFilter and a container's profile refuse, ptrace(2) among it.
 *
 * usage: restricted [--deny-perf] COMMAND…
 */
#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOBODY 65534
#define LAST_CAPABILITY 63

static const int refused[] = {
	SYS_ptrace,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_adjtimex,
	SYS_iopl,
	SYS_ioperm,
	SYS_bpf,
	SYS_userfaultfd,
	SYS_unshare,
	SYS_setns,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_open_by_handle_at,
	SYS_quotactl,
	SYS_acct,
	SYS_sethostname,
	SYS_setdomainname,
	SYS_personality,
	SYS_perf_event_open, /* last: allowed unless --deny-perf */
};

#define REFUSED (sizeof(refused) / sizeof(refused[0]))

static int install_filter(size_t count)
{
	struct sock_filter filter[2 * REFUSED + 8];
	struct sock_fprog program = {.filter = filter};
	unsigned short at = 0;
	size_t i;

	filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, arch));
	filter[at++] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						    offsetof(struct seccomp_data, nr));
	for (i = 0; i < count; i++) {
		filter[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							    (unsigned)refused[i], 0, 1);
		filter[at++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	filter[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = at;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int drop_privileges(void)
{
	int capability;

	if (geteuid() == 0) {
		for (capability = 0; capability <= LAST_CAPABILITY; capability++)
			prctl(PR_CAPBSET_DROP, capability); /* the kernel may know fewer */
		if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
		    setresuid(NOBODY, NOBODY, NOBODY))
			return -1;
	}
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int main(int argc, char **argv)
{
	int deny_perf = argc > 1 && !strcmp(argv[1], "--deny-perf");

	if (argc < 2 + deny_perf) {
		fputs("usage: restricted [--deny-perf] COMMAND…\n", stderr);
		return 2;
	}
	if (drop_privileges() || install_filter(REFUSED - !deny_perf)) {
		perror("restricted");
		return 77;
	}
	execvp(argv[1 + deny_perf], argv + 1 + deny_perf);
	perror(argv[1 + deny_perf]);
	return 127;
}
