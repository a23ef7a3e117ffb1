/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread of another process, stopped, that makes system calls for us. Whatever it was doing goes
 * on afterwards: a call that it slept in is begun again by the kernel, as after SIGSTOP and
 * SIGCONT, or, where the kernel would end it with EINTR, as if it could be (remote_end()).
 */
#ifndef INJECT_REMOTE_H
#define INJECT_REMOTE_H

#include "inject/urgency.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

/* The process whose thread is meant, since ids of threads are given anew. */
struct remote_process {
	pid_t pid;
	int pidfd; /* -1: the process cannot end meanwhile */
};
#define REMOTE_PROCESS(injection) ((struct remote_process){(injection)->pid, (injection)->pidfd})

struct remote {
	pid_t tid;
	uint64_t call;	/* address of a `syscall` instruction in it */
	int filters;	/* how many seccomp filters allow what handlers call */
	bool batches;	/* its filters allow calls in batches (batch.h) */
	bool called;	/* at least one call has been made */
	bool at_signal; /* what was done last is remote_run() */
	/* … which did not return: nothing more is done with the thread */
	bool lost;
	struct urgency urgency;
	struct user_regs_struct registers; /* the registers with which it was found */
	uint64_t mask;
	/* the address at which it goes on instead (section.h); 0: where it was found */
	uint64_t abort;
	uint64_t begun; /* CLOCK_MONOTONIC ns when it was found stopped */
};

/*
 * Stop the thread. 0; -ESRCH: it ended, or is not the process's; -ETIMEDOUT: it sleeps where
 * nothing wakes it, and is left alone (remote_let_late_go()); -EPERM; -EAGAIN: it was stopped by a
 * signal, or is another program than the one `call` was found in (0: no call will be made);
 * -ENOEXEC: it runs 32-bit code; -ECANCELED: seccomp may end it for a call; -EOPNOTSUPP: its calls
 * do not reach the kernel. Signals wait while it is ours.
 */
int remote_begin(struct remote *remote, struct remote_process process, pid_t tid, uint64_t call);

/* Threads for which remote_begin() returned -ETIMEDOUT, and that have come to their stop since:
 * they go on. To be called now and then. */
void remote_let_late_go(void);
/* The same from here on whenever one comes to its stop (SIGCHLD), whatever this thread does then:
 * it may write to where nobody reads. After the last remote_begin(). */
void remote_part_with_late(void);

/* Called for a child that this thread is about to let execute a program: it will stop there. 0 or
 * -errno. */
int remote_expect(pid_t child);
/* The child has executed the program and stands before the first instruction. Returns what
 * remote_begin() does. */
int remote_begin_expected(struct remote *remote, pid_t child);
/* The same, but it has gone on to where it has set an action of SIGTRAP itself, as runtimes do that
 * set all of them as they begin. One that makes so many calls without that, or sleeps in one for
 * two seconds, is stopped there. */
#define REMOTE_CALLS_MOST 4000
int remote_begin_set(struct remote *remote, pid_t child);

/* Makes the call and returns what it returned, or -errno if it could not be made. -ESRCH also if
 * the thread ended. */
long remote_call(struct remote *remote, long number, const uint64_t arguments[6]);

/* Signals that wait between and during calls: not the one that tells of a call that did not reach
 * the kernel, nor what cannot be blocked. */
#define REMOTE_BLOCKED (~(1ull << (SIGSYS - 1)))

/*
 * Code of ours in the process is run by the thread, as it stands between two calls, until it sends
 * itself `signal`, which is blocked otherwise; r13 has the process's own id by then, and r15, which
 * is zero before, is set. What a fault is told by is not blocked either, or the kernel would set
 * the program's action of it to the default one: -EFAULT. Other signals that arrive so are left in
 * `foreign`, also after an error.
 */
#define REMOTE_FAULTS (1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1))
#define REMOTE_FOREIGN_MOST 4
struct remote_run {
	struct user_regs_struct registers; /* before; then as it stands */
	int signal;
	unsigned foreign_count;
	siginfo_t foreign[REMOTE_FOREIGN_MOST];
};
int remote_run(struct remote *remote, struct remote_run *run);

#define REMOTE_CALL(remote, number, ...) \
	remote_call(remote, number, (const uint64_t[6]){__VA_ARGS__})

/* Lets the thread go on as it was found. Returns how many ns it was stopped. */
uint64_t remote_end(struct remote *remote);
/* The same in two steps: after the first it is as it was found, and goes on when this process dies.
 */
void remote_restore(struct remote *remote);
void remote_release(struct remote *remote);

#endif
