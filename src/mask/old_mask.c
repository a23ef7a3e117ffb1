/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions by which older programs change their mask, interposed so that all of them see the
 * mask that is kept of SIGTRAP (mask.c). dash uses them: it blocks everything by sigprocmask(),
 * makes a child by vfork() and unblocks by sigsetmask().
 */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <trapline/event.h>

TL_API int sigblock(int mask);
TL_API int sigsetmask(int mask);
TL_API int siggetmask(void);
TL_API int sighold(int signal);
TL_API int sigrelse(int signal);
/* <signal.h> gives this name to the function below. */
TL_API int old_sigpause(int mask) __asm__("sigpause");
TL_API int __xpg_sigpause(int signal);
TL_API int __sigpause(int mask, int is_signal);

/* Changes the mask of the first 32 signals, which is all that these functions know. Returns the
 * mask before, or -1. */
static int change_mask(int how, int mask)
{
	uint64_t bits = (uint32_t)mask;
	sigset_t set, before;

	sigemptyset(&set);
	memcpy(&set, &bits, sizeof(bits));
	if (sigprocmask(how, &set, &before))
		return -1;
	memcpy(&bits, &before, sizeof(bits));
	return (int)(uint32_t)bits;
}

int sigblock(int mask)
{
	return change_mask(SIG_BLOCK, mask);
}

int sigsetmask(int mask)
{
	return change_mask(SIG_SETMASK, mask);
}

int siggetmask(void)
{
	return change_mask(SIG_BLOCK, 0);
}

static int change_one(int how, int signal)
{
	sigset_t set;

	sigemptyset(&set);
	return sigaddset(&set, signal) ? -1 : sigprocmask(how, &set, NULL);
}

int sighold(int signal)
{
	return change_one(SIG_BLOCK, signal);
}

int sigrelse(int signal)
{
	return change_one(SIG_UNBLOCK, signal);
}

static int suspend_with(int mask)
{
	uint64_t bits = (uint32_t)mask;
	sigset_t set;

	sigemptyset(&set);
	memcpy(&set, &bits, sizeof(bits));
	return sigsuspend(&set);
}

static int suspend_without(int signal)
{
	sigset_t set;

	if (sigprocmask(SIG_BLOCK, NULL, &set) || sigdelset(&set, signal))
		return -1;
	return sigsuspend(&set);
}

/* As 4.2BSD had it. */
int old_sigpause(int mask)
{
	return suspend_with(mask);
}

/* As POSIX.1-2017 has it. */
int __xpg_sigpause(int signal)
{
	return suspend_without(signal);
}

int __sigpause(int mask, int is_signal)
{
	return is_signal ? suspend_without(mask) : suspend_with(mask);
}
