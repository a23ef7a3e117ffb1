/* SPDX-License-Identifier: Apache-2.0 */
/* Seccomp filters that kill for system calls named in them. */
#ifndef FILTER_H
#define FILTER_H

#include "hostile.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

/* A filter begins with the first, denies some, and ends with the last. */
#define FILTER_LOAD BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define FILTER_DENY(number)                                  \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)
#define FILTER_ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* For all threads. */
static inline void filter_install(struct sock_filter *filter, size_t length)
{
	struct sock_fprog program = {(unsigned short)length, filter};

	expect(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	expect(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) ==
	       0);
}

#endif
