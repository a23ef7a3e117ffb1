/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's own code in every process: there is a system call instruction, and a clock. */
#ifndef INJECT_VDSO_H
#define INJECT_VDSO_H

#include <stdint.h>
#include <sys/types.h>

struct vdso {
	uint64_t call;	/* address of a `syscall` instruction */
	uint64_t clock; /* of clock_gettime(); 0: not found */
};

/* 0; -ENOENT: no instruction was found in any code of the process; -errno. */
int vdso_find(pid_t pid, struct vdso *vdso);

#endif
