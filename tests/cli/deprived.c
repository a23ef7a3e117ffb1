/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run a command without something it may count on, to see what it says then:
 *
 *	deprived SYSCALL-NUMBER ERRNO COMMAND…	that call fails with that error (0: kills)
 *	deprived slots COUNT COMMAND…		so many hardware slots are taken from the start
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int deny(unsigned call, unsigned err)
{
	unsigned verdict = err ? SECCOMP_RET_ERRNO | err : SECCOMP_RET_KILL_PROCESS;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, verdict),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -1;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* The descriptors stay open across exec, and so do the events. */
static int take_slots(int count)
{
	static long watched;
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_BREAKPOINT,
		.bp_type = HW_BREAKPOINT_W,
		.bp_addr = (unsigned long)&watched,
		.bp_len = sizeof(watched),
		.inherit = 1,
		.exclude_kernel = 1,
	};

	while (count-- > 0)
		if (syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0) < 0)
			return -1;
	return 0;
}

int main(int argc, char **argv)
{
	int err;

	if (argc < 4) {
		fprintf(stderr, "usage: deprived SYSCALL ERRNO COMMAND… | slots COUNT COMMAND…\n");
		return 2;
	}
	if (strcmp(argv[1], "slots") == 0)
		err = take_slots(atoi(argv[2]));
	else
		err = deny((unsigned)atoi(argv[1]), (unsigned)atoi(argv[2]));
	if (err) {
		perror("deprived");
		return 77;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
