/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program says of SIGTRAP in its threads' masks: kept here for each thread and shown to
 * it, as long as a hit must reach it. Async-signal-safe, all of it.
 */
#ifndef MASK_MASK_H
#define MASK_MASK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* A SIGTRAP that is not ours has come: true when the thread has it "blocked" and it was kept for
 * later. */
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
 * blocked meanwhile, but for the call itself; before that what was kept is to be released, for the
 * call to take. */
struct mask_opening {
	uint64_t mask, beside;
};
void mask_open(struct mask_opening *opening);
void mask_release_kept(void);
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

#endif
