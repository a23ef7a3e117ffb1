/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc's functions that set a signal's disposition, for the signals we own. For all others they
 * do what libc does. sigaction(2), signal(3), sysv_signal(3), sigset(3), siginterrupt(3).
 */
#include "signal/alternate.h"
#include "signal/borrower.h"
#include "signal/ownership.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <trapline/event.h>

/* Prototypes of libc's, some of which its headers hide. */
TL_API int sigaction(int signal, const struct sigaction *action, struct sigaction *old);
TL_API sighandler_t signal(int signal, sighandler_t handler);
TL_API sighandler_t ssignal(int signal, sighandler_t handler);
TL_API sighandler_t bsd_signal(int signal, sighandler_t handler);
TL_API sighandler_t sysv_signal(int signal, sighandler_t handler);
TL_API sighandler_t __sysv_signal(int signal, sighandler_t handler);
TL_API sighandler_t sigset(int signal, sighandler_t handler);
TL_API int sigignore(int signal);
TL_API int siginterrupt(int signal, int flag);

static sighandler_t (*libc_signal)(int, sighandler_t);
static sighandler_t (*libc_sysv_signal)(int, sighandler_t);
static sighandler_t (*libc_sigset)(int, sighandler_t);
static int (*libc_siginterrupt)(int, int);

/* Signals for which siginterrupt(…, 1) was called while owned. */
static uint64_t interrupting;

static void resolve(void)
{
	sigaction_fn *next;

	if (__atomic_load_n(&libc_siginterrupt, __ATOMIC_ACQUIRE))
		return;
	libc_signal = (sighandler_t(*)(int, sighandler_t))dlsym(RTLD_NEXT, "signal");
	libc_sysv_signal = (sighandler_t(*)(int, sighandler_t))dlsym(RTLD_NEXT, "sysv_signal");
	libc_sigset = (sighandler_t(*)(int, sighandler_t))dlsym(RTLD_NEXT, "sigset");
	next = (sigaction_fn *)dlsym(RTLD_NEXT, "sigaction");
	if (next)
		alternate_use(next);
	__atomic_store_n(&libc_siginterrupt, (int (*)(int, int))dlsym(RTLD_NEXT, "siginterrupt"),
			 __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void resolve_early(void)
{
	resolve();
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
	struct sigaction wanted;
	int err;

	if (!signal_is_owned(signal))
		return alternate_sigaction(signal, action, old);
	if (action) {
		wanted = *action;
		signal_set_by_libc(signal, &wanted);
	}
	err = signal_program_action(signal, action ? &wanted : NULL, old);
	if (!err)
		return 0;
	errno = -err;
	return -1;
}

static sighandler_t set_owned(int signal, sighandler_t handler, int flags)
{
	struct sigaction action, old;

	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	if (!(flags & SA_NODEFER))
		sigaddset(&action.sa_mask, signal);
	return sigaction(signal, &action, &old) ? SIG_ERR : old.sa_handler;
}

sighandler_t signal(int signal, sighandler_t handler)
{
	uint64_t bit = signal > 0 && signal <= 64 ? 1ull << (signal - 1) : 0;

	if (signal_is_owned(signal))
		return set_owned(
			signal, handler,
			__atomic_load_n(&interrupting, __ATOMIC_RELAXED) & bit ? 0 : SA_RESTART);
	resolve();
	return libc_signal(signal, handler);
}

sighandler_t ssignal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

sighandler_t bsd_signal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

sighandler_t sysv_signal(int signal, sighandler_t handler)
{
	if (signal_is_owned(signal))
		return set_owned(signal, handler, SA_RESETHAND | SA_NODEFER);
	resolve();
	return libc_sysv_signal(signal, handler);
}

sighandler_t __sysv_signal(int signal, sighandler_t handler)
{
	return sysv_signal(signal, handler);
}

static sighandler_t action_of(int signal)
{
	struct sigaction action;

	return sigaction(signal, NULL, &action) ? SIG_ERR : action.sa_handler;
}

sighandler_t sigset(int signal, sighandler_t handler)
{
	sigset_t set, before;
	sighandler_t old;

	if (!signal_is_owned(signal)) {
		resolve();
		return libc_sigset(signal, handler);
	}
	old = handler == SIG_HOLD ? action_of(signal) : set_owned(signal, handler, 0);
	sigemptyset(&set);
	sigaddset(&set, signal);
	sigprocmask(handler == SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, &set, &before);
	return old != SIG_ERR && sigismember(&before, signal) ? SIG_HOLD : old;
}

int sigignore(int signal)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_IGN;
	return sigaction(signal, &action, NULL);
}

int siginterrupt(int signal, int flag)
{
	struct sigaction action;
	uint64_t bit = signal > 0 && signal <= 64 ? 1ull << (signal - 1) : 0;

	if (!signal_is_owned(signal)) {
		resolve();
		return libc_siginterrupt(signal, flag);
	}
	sigaction(signal, NULL, &action);
	if (flag)
		action.sa_flags &= ~SA_RESTART;
	else
		action.sa_flags |= SA_RESTART;
	if (flag && !borrower_is())
		__atomic_fetch_or(&interrupting, bit, __ATOMIC_RELAXED);
	else if (!borrower_is())
		__atomic_fetch_and(&interrupting, ~bit, __ATOMIC_RELAXED);
	return sigaction(signal, &action, NULL);
}
