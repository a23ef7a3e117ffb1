/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of a process's or a thread's "stat" file (proc_pid_stat(5)). */
#ifndef PROCESS_STAT_FILE_H
#define PROCESS_STAT_FILE_H

#include <stdint.h>
#include <sys/types.h>

enum stat_field {
	STAT_NUM_THREADS = 20,
	STAT_STARTTIME = 22, /* ticks of CLOCK_BOOTTIME */
	STAT_STARTSTACK =
		28, /* where the kernel put the first thread's stack pointer at execve(2) */
};

/* Of thread `tid` of process `pid`; `tid` 0: of the process. 0: not known, or it is gone. */
uint64_t stat_file_number(pid_t pid, pid_t tid, enum stat_field field);

#endif
