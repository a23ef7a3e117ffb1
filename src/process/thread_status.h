/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells of a thread without stopping it. */
#ifndef PROCESS_THREAD_STATUS_H
#define PROCESS_THREAD_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread that waits in a system call (proc_pid_syscall(5)). */
struct thread_sleep {
	uint64_t stack_pointer, pc;
};

/* The threads of a process, one after the other, `most` of them, until `each` returns true. False:
 * they cannot be listed. */
typedef bool thread_status_fn(void *context, pid_t tid);
bool thread_status_each(pid_t pid, unsigned most, thread_status_fn *each, void *context);

/* Is it a thread of this process now? */
bool thread_status_is_there(pid_t pid, pid_t tid);

/* Its name, filled up with zeros. False: it is gone, and the name is empty. */
bool thread_status_name(pid_t pid, pid_t tid, char *name, size_t size);

/* False: it runs, or is gone. */
bool thread_status_sleep(pid_t pid, pid_t tid, struct thread_sleep *waiting);

/* So far (schedstat: Documentation/scheduler/sched-stats.rst). */
struct thread_slices {
	uint64_t count; /* times that it has got a CPU */
	uint64_t busy;	/* ns that it ran or waited for a CPU */
};

/* False: it is gone, or the kernel does not count. */
bool thread_status_slices(pid_t pid, pid_t tid, struct thread_slices *slices);

/* The line of its /proc/PID/task/TID/status that begins with `key`, cut to what `line` holds.
 * False: it is gone, or there is none. */
bool thread_status_line(pid_t pid, pid_t tid, const char *key, char *line, size_t size);

/* How often it has gone to sleep by itself so far (proc_pid_status(5)); unlike slices, not how
 * often its CPU was taken from it. Dearer to ask. False: it is gone. */
bool thread_status_sleeps(pid_t pid, pid_t tid, uint64_t *sleeps);

#endif
