/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells of a process and its threads, without stopping anybody. */
#ifndef INJECT_STATUS_H
#define INJECT_STATUS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STATUS_TRAP (1ull << 4) /* SIGTRAP's bit in a mask */
/* 32 and 33: a C library takes them out of what a program asks it to block (glibc's
 * pthread_sigmask(), musl's too). Where they are blocked it has blocked all itself, for the moment
 * that it takes to fork or to create a thread. */
#define STATUS_LIBCS (3ull << 31)

struct status {
	char name[17];
	char state; /* R S D T t Z X */
	pid_t tgid, parent, tracer;
	uid_t uid;    /* effective */
	pid_t inside; /* its id in its own pid namespace */
	int seccomp;  /* SECCOMP_MODE_… */
	int filters;  /* number of filters; 0: not known */
	uint64_t pending, shared_pending, blocked, ignored, caught;
	uint64_t switches; /* how often it has gone to sleep */
};

/* Reads the status of a thread, or of a process by its first thread. 0 or -errno. */
int status_read(pid_t tid, struct status *status);

/* Has it ended, or will it end without running any of its code again? */
bool status_is_ending(pid_t tid);

/* Has the process its parent's memory, as a child of vfork(2) until it executes a program? Where
 * the kernel does not tell it is taken to have its own. */
bool status_borrows_memory(pid_t pid, const struct status *status);

/* ns of CPU time that the thread has had; UINT64_MAX: not known. */
uint64_t status_ran(pid_t tid);

/* SECCOMP_MODE_… and how many filters, 0: not known. Quick. False: it has ended. */
bool status_seccomp(pid_t tid, int *mode, int *filters);

/* Which calls may the thread make for us? All without a filter. None under strict seccomp, or under
 * a filter that this process has not: nobody can ask what it does for that call, and it may kill.
 * Ours are the same, as in a container, where it has as many as we: each is inherited, and none is
 * ever taken away (seccomp(2)); those that such containers are known to allow can be made then.
 * Quick: the thread may stand still meanwhile. */
enum status_calls { STATUS_CALLS_NONE, STATUS_CALLS_KNOWN, STATUS_CALLS_ALL };
enum status_calls status_may_call(pid_t tid);

/* Does the processor let the process read fs's base by an instruction? */
bool status_reads_fs_base(pid_t pid);

struct mapping {
	uint64_t start, end;
	bool readable, writable, executable, shared;
	uint64_t inode;
	char name[256];
};

/* Calls `each` until it returns non-zero, which is returned; 0 at the end; -errno. */
typedef int mapping_fn(void *context, const struct mapping *mapping);
int mappings_read(pid_t pid, mapping_fn *each, void *context);

/* Where a thread that sleeps in the kernel is. */
struct sleeper {
	long call; /* number of the system call; -1: none (a page fault) */
	uint64_t argument[6];
	uint64_t sp, pc;
};

/* 0; -EBUSY: it runs; -ESRCH; -errno where it cannot be asked. */
int sleeper_read(pid_t pid, pid_t tid, struct sleeper *sleeper);

#endif
