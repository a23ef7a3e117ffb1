/* SPDX-License-Identifier: Apache-2.0 */
/* What the preload library knows of itself in this process. */
#ifndef AGENT_STATE_H
#define AGENT_STATE_H

#include "record/area.h"

#include <linux/limits.h>
#include <signal.h>
#include <ucontext.h>

#define AGENT_TRAP_PERF 6     /* si_code TRAP_PERF, asm-generic/siginfo.h */
#define AGENT_SIGINFO_DATA 24 /* offset of its perf data in siginfo_t */

struct agent_regions;
struct agent_guard;

/* The first members are those of struct injected_state (record/injected.h). */
struct agent_state {
	struct area *area; /* NULL: switched off */
	/* Our entry; NULL: not watched. Another thread may end the watching at any moment, with
	 * exit(): whoever uses it reads it once. The entry stays mapped, so that a handler which
	 * has read it before may finish. */
	struct area_process *_Atomic process;
	uint32_t index;			     /* of our entry */
	uint64_t hold_most;		     /* ns of one hold, whatever the area says later */
	_Atomic uint32_t handlers;	     /* running now, in all threads */
	bool can_read_fs_base;		     /* the CPU and kernel allow rdfsbase */
	uint16_t opmask_at;		     /* see agent/opmask.h */
	bool quiet;			     /* a seccomp filter was set: few calls are safe */
	char locator[AREA_LOCATOR];	     /* of the area, for programs we exec */
	const struct agent_regions *regions; /* NULL: this library has none */
	const struct agent_guard *guard;     /* NULL: this library guards no blocks */
	uint64_t allocations;	/* address of what is remembered of blocks; 0: nothing yet */
	char library[PATH_MAX]; /* our own path, as it stood in LD_PRELOAD */
	/* What TRAPLINE_OPTIONS held where it was taken out, in the memory of the environment: read
	 * at the start alone. NULL: it was not. */
	const char *options;
};

/* Hidden: the injected handler has no table of addresses to find it by. */
extern struct agent_state agent_state __attribute__((visibility("hidden")));

/* CLOCK_MONOTONIC in ns, without a system call where the kernel's vDSO can and may. */
uint64_t agent_now(void);

/* A thread is about to forbid itself reading the processor's clock, as the vDSO does (PR_SET_TSC):
 * from here on the kernel is asked. False: it may not be, the calls are restricted, too. */
bool agent_forbid_clock(void);
bool agent_clock_is_forbidden(void);

/* Claim a process entry, announce this process and wait, bounded, until the controller has armed;
 * or go on at once where there is nothing left to wait with (struct area_waits).
 * Async-signal-safe: also called in forked children. */
void agent_announce(void);

/* Of a process that went on at once and is not watched yet. */
static inline bool agent_is_late(const struct area_process *process)
{
	return atomic_load_explicit(&process->state, memory_order_relaxed) == AREA_PROCESS_LATE;
}
/* Something is to be told of it: it is announced after all, and waits. */
void agent_hurry(struct area_process *process);
/* It ends, or becomes another program: its entry is free again. False: it is watched, or another's.
 * Async-signal-safe. */
bool agent_take_back(void);
/* The same, counted: it ends. */
bool agent_end_late(void);

/* Around what makes a child with memory of its own: in the parent before and after, in the child.
 */
void agent_before_fork(void);
void agent_after_fork(void);
void agent_in_child(void);
/* Such a child is made, or has been, and cannot be told that it is one: counted. */
void agent_note_unseen(void);

/* Does the controller answer no more? patience.c. */
bool agent_has_gone(const struct area *area);

/* End the watching of this process and wait, bounded, until its events are gone. */
void agent_withdraw(void);

/* The same, counted: what the program is about to do leaves no other way. */
void agent_give_up(void);

/* Wait, at most `bound` ns, for the controller to let go of a process that has said good-bye. */
void agent_wait_until_gone(struct area_process *process, uint64_t bound);

/* Make no further system call in handlers: a seccomp filter is about to be set. */
void agent_be_quiet(void);

/* prctl(2) and seccomp(2) are about to be called. */
void filter_before_prctl(long option, long value, long filter);
void filter_before_seccomp(long operation, long filter);

/* Tell the controller what it asked to be told (`kind`: one of AREA_HIT_NOTICE) and wait, bounded,
 * until it has seen to it. Never called by a signal handler. */
void agent_notice(uint32_t kind, uint64_t address, uint64_t size,
		  const struct area_registers *registers);

/* The same at or about a guarded block: record/guard.h. */
struct agent_guard_notice {
	uint32_t event;	  /* enum guard_event */
	uint64_t address; /* as the program has it */
	uint64_t block;	  /* the guarded block's; 0: none */
	int64_t offset;
	uint32_t length;
};
bool agent_notice_guard(const struct agent_guard_notice *notice,
			const struct area_registers *registers);

/* What the preload library that guards blocks adds to the one without. */
struct agent_guard {
	/* Before it is announced, also when forked. `waits`: until it is let go. */
	void (*begin)(struct area_process *process, bool waits);
	void (*begun)(struct area_process *process); /* it was let go */
	void (*end)(void);			     /* the process ends, and is still watched */
	/* It is about to limit its own memory (a struct rlimit, which may be anything), or to lock
	 * it. */
	void (*limit)(long resource, const void *limit);
	void (*lock)(void);
};

/* What leads a program that is about to be executed to the area: as it led this one, or by asking
 * for it, of which the controller is told. */
void agent_executed_locator(char locator[static AREA_LOCATOR]);
/* The area could not be opened by its locator: may the controller hand it over? */
bool agent_should_ask(const char *locator, int err, uint64_t *secret);
/* Be handed the area by the controller, which looks for who shows its secret. `controller` 0: not
 * known. 0 or -errno. */
int agent_ask(struct area **area, uint64_t secret, pid_t controller);

/* Install the SIGTRAP handler. 0 or -errno. */
int agent_handle_signals(void);
/* The handler itself. */
void agent_take_trap(int number, siginfo_t *info, void *context);

/* A SIGTRAP that is not ours has come: true when the thread has it "blocked" and it was kept for
 * later. Async-signal-safe. */
bool mask_keep(siginfo_t *info, ucontext_t *context);

/* The calling thread has SIGTRAP "blocked". */
bool mask_is_blocked(void);

/* What the program says of SIGTRAP is kept here rather than told to the kernel, … */
bool mask_is_ours(void);
/* … and the caller's too, which is no child that borrows this memory. */
bool mask_is_kept(void);

/* A SIGTRAP of the program's that waits until this thread unblocks it, or takes it. */
bool mask_has_kept(void);
bool mask_take_kept(siginfo_t *info);
/* In a forked child, which inherits none. */
void mask_forget_kept(void);

/* For a call that opens the mask of a thread that has SIGTRAP "blocked": around it. It is really
 * blocked meanwhile, but for the call itself. */
struct mask_opening {
	uint64_t mask, beside;
};
void mask_open(struct mask_opening *opening);
void mask_close(const struct mask_opening *opening);
/* For a call that has a mask of its own in which SIGTRAP is blocked, as it was: around it. */
void mask_replaced(struct mask_opening *opening);
void mask_restored(const struct mask_opening *opening);

/* In a new thread that begins with SIGTRAP really blocked, so that none finds the wish not yet
 * noted: it inherits its creator's. */
void mask_begin_blocked(void);

/* The calling thread wishes SIGTRAP to be blocked, or not. */
void mask_wish(bool blocked);

/* rt_sigprocmask(2) of a thread whose wish is kept. 0 or -errno. */
int mask_change(int how, const uint64_t *set, uint64_t *old);
/* The program is about to ask for a signalfd of what may be a set, and SIGTRAP in it. */
void mask_before_signalfd(const void *set);

/* In a program that was executed with SIGTRAP blocked. */
void mask_adopt(void);

/* Who is to watch this process. */
enum agent_invitation {
	AGENT_NOT_INVITED,
	AGENT_INVITED, /* the controller of the area that agent_state.locator leads to */
	AGENT_ALONE,   /* preloaded without one, and TRAPLINE_OPTIONS asks for it */
};
/* The event of a limit has fired: pay for what was used, and pause when it is not earned yet.
 * Async-signal-safe. */
void throttle_look(struct area_process *process, uint32_t index, bool late,
		   const ucontext_t *context);
/* Before this process announces itself: what its entry keeps for limits. */
void throttle_enter(struct area *area, struct area_process *process);
/* It was let go: pay for what starting it took. */
void throttle_begin(void);
/* It ends: pay for what was used since the last look. */
void throttle_end(void);
/* Tell the controller what children that were waited for used. Async-signal-safe. */
void throttle_note_children(void);
/* Let pausing threads notice that something has changed. */
void throttle_wake(struct area *area);

/* Take our variables out of `environ`, so that the program sees the user's own environment, and
 * keep what programs executed later need. */
enum agent_invitation agent_hide_environment(void);

/* From now on this process notes its hits in `area`. 0 or -errno. */
int agent_attach(struct area *area);

/*
 * Start a controller of our own, as a process beside this one that no wait() of the program finds,
 * and be watched by it. `options` as in TRAPLINE_OPTIONS; NULL: that variable's. 0 or -errno.
 */
int agent_start_companion(const char *options);

#endif
