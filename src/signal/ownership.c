/* SPDX-License-Identifier: Apache-2.0 */
#include "signal/ownership.h"

#include "base/counters.h"
#include "base/lock.h"
#include "base/perf_siginfo.h"
#include "base/syscall.h"
#include "signal/arch.h"
#include "signal/borrower.h"
#include "signal/cause.h"

#include <errno.h>
#include <string.h>
#include <ucontext.h>

#define KERNEL_SIGNALS 64
#define CANCEL_SIGNAL 32 /* glibc's SIGCANCEL */
/* What the kernel keeps of an action's flags since Linux 5.11 (linux/signal.h, UAPI_SA_FLAGS); two
 * of them libc has no names for. */
#define EXPOSE_TAGBITS 0x800
#define HAS_RESTORER 0x04000000
#define FLAGS                                                                              \
	(SA_NOCLDSTOP | SA_NOCLDWAIT | SA_SIGINFO | SA_ONSTACK | SA_RESTART | SA_NODEFER | \
	 (int)SA_RESETHAND | EXPOSE_TAGBITS | HAS_RESTORER)

/* glibc's own sigaction under its other exported name: the plain one is interposed. */
int libc_sigaction(int signal, const struct sigaction *action,
		   struct sigaction *old) __asm__("__sigaction");

/*
 * The program's action of an owned signal. Two copies; `current` says which is valid. A writer
 * fills the other and flips, under `lock`. A reader copies and re-reads `version`: pairs with the
 * release stores in publish_action().
 */
struct owned_signal {
	int owned;
	unsigned version; /* low bit: which copy */
	struct sigaction action[2];
	signal_handler_fn *handler;
	void (*restorer)(void); /* libc's, of every action that it sets */
	unsigned exposed;	/* calls under way that execute a program: signal_expose() */
	struct owner_lock lock;
};

static struct owned_signal owned_signals[KERNEL_SIGNALS + 1];

static void read_action(struct owned_signal *owned, struct sigaction *action)
{
	unsigned version;

	do {
		version = __atomic_load_n(&owned->version, __ATOMIC_ACQUIRE);
		*action = owned->action[version & 1];
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (__atomic_load_n(&owned->version, __ATOMIC_RELAXED) != version);
}

static void publish_action(struct owned_signal *owned, const struct sigaction *action)
{
	unsigned version = __atomic_load_n(&owned->version, __ATOMIC_RELAXED);

	owned->action[(version + 1) & 1] = *action;
	__atomic_store_n(&owned->version, version + 1, __ATOMIC_RELEASE);
}

/*
 * All signals, but SIGILL: a function that a handler calls may be about to be replaced (see
 * src/patch/patch.h). sigfillset() leaves out libc's own. By one of these libc cancels a thread
 * that may be cancelled at any instruction: it would be unwound out of our handler, with every
 * signal blocked and what that has begun left as it is, so it waits. The other, by which one thread
 * changes the ids of all, is let in.
 */
static void fill_mask(sigset_t *mask)
{
	uint64_t *first = (uint64_t *)mask;

	sigfillset(mask);
	sigdelset(mask, SIGILL);
	*first |= 1ull << (CANCEL_SIGNAL - 1);
}

/* SA_ONSTACK follows the program: a handler it wants on the alternate stack may be running out of
 * the other one (stack overflow), and one it does not may have made that stack too small for us. */
static int install(int signal, const struct owned_signal *owned, const struct sigaction *program)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = owned->handler;
	action.sa_flags = SA_SIGINFO | SA_RESTART | (program->sa_flags & SA_ONSTACK);
	fill_mask(&action.sa_mask);
	if (signal == SIGILL)
		action.sa_flags |= SA_NODEFER;
	if (owned->exposed && program->sa_handler == SIG_IGN)
		action.sa_handler = SIG_IGN;
	return libc_sigaction(signal, &action, NULL) ? -errno : 0;
}

int signal_own(int signal, signal_handler_fn *handler)
{
	struct owned_signal *owned = &owned_signals[signal];
	struct sigaction program, ours = {0};
	int saved_errno = errno;
	uint64_t before;
	int err = 0;

	if (signal_is_owned(signal))
		return 0;
	borrower_begin();
	before = owner_lock(&owned->lock);
	if (!signal_is_owned(signal)) {
		libc_sigaction(signal, NULL, &program);
		publish_action(owned, &program);
		owned->handler = handler;
		err = install(signal, owned, &program);
		libc_sigaction(signal, NULL, &ours);
		owned->restorer = ours.sa_restorer;
		__atomic_store_n(&owned->owned, !err, __ATOMIC_RELEASE);
	}
	owner_unlock(&owned->lock, before);
	errno = saved_errno;
	return err;
}

bool signal_is_owned(int signal)
{
	return signal > 0 && signal <= KERNEL_SIGNALS &&
	       __atomic_load_n(&owned_signals[signal].owned, __ATOMIC_ACQUIRE);
}

void signal_disown(int signal)
{
	struct owned_signal *owned = &owned_signals[signal];
	struct sigaction program;
	uint64_t before;

	if (!signal_is_owned(signal))
		return;
	before = owner_lock(&owned->lock);
	read_action(owned, &program);
	__atomic_store_n(&owned->owned, 0, __ATOMIC_RELEASE);
	libc_sigaction(signal, &program, NULL);
	owner_unlock(&owned->lock, before);
}

/* Of a child that has signals of its own. Until it sets an action the kernel's is our handler, and
 * the program's, which the child inherits, the one that is kept. */
static int borrowers_action(int signal, const struct sigaction *action, struct sigaction *old)
{
	struct owned_signal *owned = &owned_signals[signal];
	struct sigaction before;

	if (libc_sigaction(signal, action, &before))
		return -errno;
	if (before.sa_sigaction == owned->handler)
		read_action(owned, &before);
	if (old)
		*old = before;
	return 0;
}

void signal_set_by_libc(int signal, struct sigaction *action)
{
	action->sa_flags |= HAS_RESTORER;
	action->sa_restorer = owned_signals[signal].restorer;
}

int signal_program_action(int signal, const struct sigaction *action, struct sigaction *old)
{
	struct owned_signal *owned = &owned_signals[signal];
	struct sigaction wanted, before_action;
	uint64_t before;
	int err = 0;

	if (borrower_is())
		return borrowers_action(signal, action, old);
	if (action) {
		wanted = *action;
		/* No mask has them, as the kernel shows it (do_sigaction()). */
		sigdelset(&wanted.sa_mask, SIGKILL);
		sigdelset(&wanted.sa_mask, SIGSTOP);
		wanted.sa_flags &= FLAGS;
	}
	before = owner_lock(&owned->lock);
	read_action(owned, &before_action);
	if (action) {
		publish_action(owned, &wanted);
		err = install(signal, owned, &wanted);
	}
	owner_unlock(&owned->lock, before);
	if (old)
		*old = before_action;
	return err;
}

/* What is pending and blocked stays so, though setting SIG_IGN discards it (sigaction(2)). */
static void ignore_as_inherited(int signal, const struct sigaction *program)
{
	const uint64_t bit = 1ull << (signal - 1);
	const struct timespec now = {0};
	siginfo_t info;
	bool waits = raw_syscall6(SYS_rt_sigtimedwait, (long)&bit, (long)&info, (long)&now,
				  sizeof(bit), 0, 0) == signal;

	libc_sigaction(signal, program, NULL);
	if (waits)
		signal_requeue(signal, &info);
}

void signal_expose(int signal, bool expose)
{
	struct owned_signal *owned = &owned_signals[signal];
	struct sigaction program;
	uint64_t before;

	if (!signal_is_owned(signal))
		return;
	if (borrower_is()) {
		if (!signal_program_action(signal, NULL, &program) && expose &&
		    program.sa_handler == SIG_IGN)
			ignore_as_inherited(signal, &program);
		return;
	}
	before = owner_lock(&owned->lock);
	owned->exposed += expose ? 1 : -1;
	read_action(owned, &program);
	if (program.sa_handler == SIG_IGN)
		install(signal, owned, &program);
	owner_unlock(&owned->lock, before);
}

void signal_conceal(int signal)
{
	struct owned_signal *owned = &owned_signals[signal];

	if (!owned->exposed)
		return;
	owned->exposed = 1;
	signal_expose(signal, false);
}

void signal_requeue(int signal, siginfo_t *info)
{
	raw_syscall6(SYS_rt_tgsigqueueinfo, raw_getpid(), raw_gettid(), signal, (long)info, 0, 0);
}

bool signal_is_forced(const siginfo_t *info)
{
	return info->si_code > 0 && info->si_code != PERF_SIGINFO_CODE;
}

static void die_by(int signal, siginfo_t *info)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = SIG_DFL;
	libc_sigaction(signal, &action, NULL);
	signal_requeue(signal, info);
}

static void call_program_handler(int signal, const struct sigaction *action, siginfo_t *info,
				 ucontext_t *context)
{
	uint64_t mask, extra;

	if (!(action->sa_flags & SA_RESTART) && !signal_is_forced(info))
		signal_arch.end_call(context);
	memcpy(&mask, &context->uc_sigmask, sizeof(mask));
	memcpy(&extra, &action->sa_mask, sizeof(extra));
	mask |= extra;
	if (!(action->sa_flags & SA_NODEFER))
		mask |= 1ull << (signal - 1);
	raw_sigprocmask(SIG_SETMASK, &mask, NULL);
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(signal, info, context);
	else
		action->sa_handler(signal);
}

/* Returns false where it does not. */
static bool kill_by(int signal, siginfo_t *info, const ucontext_t *context)
{
	if (signal == SIGTRAP && cause_is_missing(info, context)) {
		counter_increment(COUNTER_TRAPS_WITHOUT_CAUSE);
		return false;
	}
	die_by(signal, info);
	return true;
}

bool signal_chain_blocked(int signal, siginfo_t *info, void *context)
{
	counter_increment(COUNTER_SIGNALS_CHAINED);
	return kill_by(signal, info, context);
}

bool signal_chain(int signal, siginfo_t *info, void *context)
{
	struct owned_signal *owned = &owned_signals[signal];
	struct sigaction action, reset;

	counter_increment(COUNTER_SIGNALS_CHAINED);
	read_action(owned, &action);
	if (action.sa_handler == SIG_DFL ||
	    (action.sa_handler == SIG_IGN && signal_is_forced(info)))
		return kill_by(signal, info, context);
	if (action.sa_handler == SIG_IGN)
		return true;
	if (action.sa_flags & SA_RESETHAND) {
		reset = action;
		reset.sa_handler = SIG_DFL;
		signal_program_action(signal, &reset, NULL);
	}
	call_program_handler(signal, &action, info, context);
	return true;
}
