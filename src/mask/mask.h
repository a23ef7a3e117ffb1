/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program's threads say of SIGTRAP in their masks: it is kept here for each thread and
 * shown to that thread, while the kernel's mask leaves SIGTRAP open for hits. "Blocked" in
 * quotation marks means: so the program believes. All of it is async-signal-safe and is called by
 * the thread that it concerns.
 */
#ifndef MASK_MASK_H
#define MASK_MASK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

/* Called for a SIGTRAP that is not ours: true when the thread has SIGTRAP "blocked", and the signal
 * was kept for later. */
bool mask_keep(siginfo_t *info, ucontext_t *context);

/* Has the calling thread SIGTRAP "blocked"? */
bool mask_is_blocked(void);

/* Is what the program says of SIGTRAP kept here, rather than told to the kernel, … */
bool mask_is_ours(void);
/* … and also what the caller says, which is no child that borrows this memory? */
bool mask_is_kept(void);

/* Does a SIGTRAP of the program wait until this thread unblocks or takes it? */
bool mask_has_kept(void);
bool mask_take_kept(siginfo_t *info);
/* Called in a forked child, which inherits no pending signal. */
void mask_forget_kept(void);

/* To be called around a call that opens the mask of a thread that has SIGTRAP "blocked". SIGTRAP is
 * really blocked meanwhile, except in the call itself; a signal that was kept is to be released
 * before the call, for the call to take. */
struct mask_opening {
	uint64_t mask, beside;
};
void mask_open(struct mask_opening *opening);
void mask_release_kept(void);
void mask_close(const struct mask_opening *opening);
/* To be called around a call that sets a mask of its own in which SIGTRAP is blocked, as it was
 * before. */
void mask_replaced(struct mask_opening *opening);
void mask_restored(const struct mask_opening *opening);

/* Called in a new thread that begins with SIGTRAP really blocked, so that no signal finds its wish,
 * which it inherits from its creator, not noted yet. */
void mask_begin_blocked(void);

/* Notes whether the calling thread wishes SIGTRAP to be blocked. */
void mask_wish(bool blocked);

/* Does rt_sigprocmask(2) for a thread whose wish is kept. 0 or -errno. */
int mask_change(int how, const uint64_t *set, uint64_t *old);
/* Called before the program asks for a signalfd of `set`, which may be anything, and may contain
 * SIGTRAP. */
void mask_before_signalfd(const void *set);

/* Called in a program that was executed with SIGTRAP blocked. */
void mask_adopt(void);

#endif
