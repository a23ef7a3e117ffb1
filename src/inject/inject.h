/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Into a process that runs already, and out of it again: one of its threads is stopped by ptrace(2)
 * for less than a millisecond and made to map memory for the handler (record/injected.h) and the
 * area, and to set the action of SIGTRAP, by system calls made in its place. It then goes on as if
 * it had never been stopped. The handler does nothing before events are opened.
 */
#ifndef INJECT_INJECT_H
#define INJECT_INJECT_H

#include "record/injected.h"

#include <sys/types.h>

#define INJECT_REASON 512

/* Why not, as one sentence that says what to do; without "trapline: ". */
struct inject_reason {
	char text[INJECT_REASON];
};

/* Where a handler of ours may run (inject/actions.h). */
enum actions_stack {
	ACTIONS_STACK_ANY,    /* on whatever stack the thread has */
	ACTIONS_STACK_FAULTS, /* the only handlers are those of faults, on alternate stacks */
	ACTIONS_STACK_ALWAYS, /* every handler runs on alternate stacks */
};

struct injection {
	pid_t pid;
	struct inject_held *held; /* it waits before its first instruction; NULL */
	int pidfd;
	uint32_t index;	      /* of its entry in the area */
	uint64_t image, size; /* where the handler lies in the process */
	uint64_t area, area_size;
	uint64_t state; /* address of its struct injected_state, … */
	uint64_t own;	/* … and of its struct injected_own */
	uint64_t entry;
	enum actions_stack stack; /* where the handler runs */
	int filters;		  /* how many seccomp filters let the handler make its calls */
	uint64_t stopped;	  /* ns that the longest stop of a thread took */
	unsigned stops;
};

struct inject_request {
	pid_t pid;
	/* of the process; from the call on it is the injection's, or closed; -1: there is none */
	int pidfd;
	int area_fd;
	uint64_t area_size;
	uint64_t entry_offset; /* of the process's entry in the area */
	uint32_t index;	       /* of the entry */
	uint64_t hold_most;
	bool calls_clock; /* the handler asks the kernel for the time, and never the vDSO */
	bool sets_action; /* its runtime sets the actions of all signals as it begins */
};

/*
 * 0: hits of the area's events are handled. -errno with a reason: the process is as it was.
 * -EAGAIN: it was executing or ending at that moment. Blocks signals meanwhile.
 */
int inject_enter(const struct inject_request *request, struct injection *injection,
		 struct inject_reason *reason);

/*
 * A child that has not executed its program yet: first the one, then, when execve(2) has succeeded,
 * the other. The program runs on when it returns, entered or not. Signals are to be blocked from
 * the first to the return of the second.
 */
int inject_expect(pid_t child);
int inject_enter_expected(const struct inject_request *request, struct injection *injection,
			  struct inject_reason *reason);
void inject_go(struct injection *injection);

/*
 * After the last event in the process is closed. 0: nothing remains of us. -ESRCH: it has ended.
 * -EBUSY: a thread is still in the handler or has one of its signals waiting; the handler stays,
 * and lets everything pass. -ESTALE: it has executed another program, where nothing of us is.
 * Others with a reason.
 */
int inject_leave(struct injection *injection, struct inject_reason *reason);

/*
 * Is there a handler of ours in the process, left by a controller that has died, or this one's?
 * 1: `injection` describes it. 0: no, or it lies in memory that is its parent's (vfork(2)). -EBUSY
 * with a reason: its controller lives.
 */
int inject_find(pid_t pid, struct injection *injection, struct inject_reason *reason);

/* A thread that an event is to be opened in. But for `ended` zeros where it has. */
struct inject_thread {
	bool ended;
	bool blocks;	/* it has SIGTRAP blocked, or may have: a hit would wait there, and where it
			 * waits for signals with sigwait(3) it would take it for the program's */
	bool doubtful;	/* … but may turn out to have not when it is looked at again */
	bool in_moment; /* libc has blocked all in it, to fork or to create a thread */
	bool handled;	/* the process handles SIGTRAP; if it does not, a hit kills it */
	int seccomp;	/* SECCOMP_MODE_…, of this very thread … */
	int filters;	/* … and how many; 0: not known */
};
struct inject_thread inject_look(pid_t pid, pid_t tid);
/* `seccomp` and `filters` alone: quick. */
struct inject_thread inject_look_at_seccomp(pid_t tid);

/* The id of a thread as its own process knows it, in its pid namespace; 0: it is gone. */
pid_t inject_id_inside(pid_t tid);

/* Is the handler still the action of SIGTRAP, as far as /proc tells without stopping anybody? */
bool inject_is_in_place(pid_t pid);

/* The same for certain: 1, or 0 where it is another. A thread is stopped for it. -errno: it is not
 * known. */
int inject_asks_action(pid_t pid);

#endif
