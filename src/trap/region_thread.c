/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/region_thread.h"

#include "base/counters.h"
#include "base/memory.h"
#include "base/syscall.h"
#include "event/threads.h"
#include "trap/ownership.h"

#include <errno.h>

#define KERNEL_SIGNALS 64
/* glibc's own, which its pthread_sigmask() and sigprocmask() never block (nptl, SIGSETXID): it
 * reaches a thread that blocks all the signals it can. Borrowed while threads are being visited. */
#define VISIT_SIGNAL 33
#define VISIT_WAIT_NS 50000
#define VISIT_PATIENCE 40000 /* waits: 2 s */
#define VISIT_PASSES 100
#define ARCHITECTURE_RESTORER 0x04000000 /* SA_RESTORER */

__thread struct region_thread region_thread
	__attribute__((tls_model("initial-exec"), visibility("hidden"))) = {.selector =
										    SELECTOR_BLOCK};

static uint64_t hidden_actions[KERNEL_SIGNALS + 1];

/* ---- the masks of handlers -------------------------------------------------------------- */

static int raw_action(int signal, const struct kernel_action *action, struct kernel_action *old)
{
	return (int)raw_syscall6(SYS_rt_sigaction, signal, (long)action, (long)old,
				 sizeof(uint64_t), 0, 0);
}

void region_thread_filter_action(int signal, struct kernel_action *action)
{
	if (signal <= 0 || signal > KERNEL_SIGNALS)
		return;
	__atomic_store_n(&hidden_actions[signal], action->mask & PROTECTED_SIGNALS,
			 __ATOMIC_RELEASE);
	action->mask &= ~PROTECTED_SIGNALS;
	if (!signal_is_owned(signal))
		return;
	/* A handler of ours: its return is not dispatched, and a callback may fault beneath it. */
	action->mask &= ~FAULT_SIGNALS;
	action->flags |= ARCHITECTURE_RESTORER;
	action->restorer = (uintptr_t)region_stub_return;
	if (SIGNAL_BIT(signal) & PROTECTED_SIGNALS)
		action->flags |= SA_NODEFER;
}

bool region_thread_needs(int signal, const struct kernel_action *replacement)
{
	return (signal == SIGSEGV && replacement->handler != (uintptr_t)region_enter_fault) ||
	       (signal == SIGSYS && replacement->handler != (uintptr_t)region_enter_call);
}

uint64_t region_thread_hidden_action(int signal)
{
	return signal > 0 && signal <= KERNEL_SIGNALS
		       ? __atomic_load_n(&hidden_actions[signal], __ATOMIC_ACQUIRE)
		       : 0;
}

static void filter_all_actions(void)
{
	for (int signal = 1; signal <= KERNEL_SIGNALS; signal++) {
		struct kernel_action action;

		if (raw_action(signal, NULL, &action) || action.handler <= (uintptr_t)SIG_IGN ||
		    (!(action.mask & PROTECTED_SIGNALS) && !signal_is_owned(signal)))
			continue;
		region_thread_filter_action(signal, &action);
		raw_action(signal, &action, NULL);
	}
}

/* ---- one thread ------------------------------------------------------------------------- */

static int cover_self(void)
{
	uint64_t protected_signals = PROTECTED_SIGNALS;
	long err = 0;

	/* The order matters: a call that is dispatched while SIGSYS is blocked is death. */
	region_thread.selector = SELECTOR_ALLOW;
	raw_sigprocmask(SIG_UNBLOCK, &protected_signals, NULL);
	if (!region_thread.covered)
		err = raw_syscall6(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
				   (long)region_stub_begin, region_stub_end - region_stub_begin,
				   (long)&region_thread.selector, 0);
	if (!err)
		region_thread.covered = 1;
	region_thread.selector = SELECTOR_BLOCK;
	return (int)err;
}

/* The mask that the program thinks it has comes back with the context. */
void region_thread_uncover(ucontext_t *context, struct region_guard *guard)
{
	guard->selector = SELECTOR_ALLOW;
	set_saved_mask(context, saved_mask(context) | region_thread.hidden);
	region_thread.hidden = 0;
}

int region_thread_install(void)
{
	int err = signal_own(SIGSEGV, region_enter_fault);

	return err ? err : signal_own(SIGSYS, region_enter_call);
}

/* Where the signal is to kill, our handler is taken away: that call must not be kept from it. */
void region_thread_chain(int signal, siginfo_t *info, ucontext_t *context)
{
	struct sigaction action;

	signal_program_action(signal, NULL, &action);
	if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
		region_thread.selector = SELECTOR_ALLOW;
	signal_chain(signal, info, context);
	region_thread_clean(context);
}

/* ---- all threads ------------------------------------------------------------------------ */

struct visit {
	pid_t tid;
	int answer; /* 0: none yet; 1: covered; otherwise -errno */
};

#define VISIT_BYTES(capacity) ((capacity) * sizeof(struct visit))

static struct visit *visits;
static size_t visit_count, visit_capacity;
static struct kernel_action visit_before;

static void pass_on_visit(int signal, siginfo_t *info, void *context)
{
	if (visit_before.handler <= (uintptr_t)SIG_IGN)
		return;
	((void (*)(int, siginfo_t *, void *))visit_before.handler)(signal, info, context);
}

void region_on_visit(int signal, siginfo_t *info, void *context, uint32_t rights)
{
	struct visit *visit = info->si_value.sival_ptr;
	struct region_guard guard = region_guard_enter(rights);
	int err;

	if (info->si_code != SI_QUEUE || info->si_pid != raw_getpid() || visit < visits ||
	    visit >= visits + visit_count) {
		region_callback_begin(guard);
		pass_on_visit(signal, info, context);
		return;
	}
	err = cover_self();
	if (!err)
		set_saved_mask(context, region_thread_filter_mask(saved_mask(context) |
								  region_thread.hidden));
	__atomic_store_n(&visit->answer, err ? err : 1, __ATOMIC_RELEASE);
}

static bool visited(pid_t tid)
{
	for (size_t i = 0; i < visit_count; i++)
		if (visits[i].tid == tid)
			return true;
	return false;
}

static int reserve_visits(size_t more)
{
	size_t capacity = visit_capacity ? visit_capacity : 64;
	struct visit *larger;

	while (capacity < visit_count + more)
		capacity *= 2;
	if (capacity == visit_capacity)
		return 0;
	larger = page_allocate(VISIT_BYTES(capacity));
	if (!larger)
		return -ENOMEM;
	if (visit_count)
		memcpy(larger, visits, VISIT_BYTES(visit_count));
	page_free(visits, VISIT_BYTES(visit_capacity));
	visits = larger;
	visit_capacity = capacity;
	return 0;
}

static void send_visit(struct visit *visit)
{
	siginfo_t info;
	long err;

	memset(&info, 0, sizeof(info));
	info.si_signo = VISIT_SIGNAL;
	info.si_code = SI_QUEUE;
	info.si_pid = raw_getpid();
	info.si_value.sival_ptr = visit;
	err = raw_syscall6(SYS_rt_tgsigqueueinfo, raw_getpid(), visit->tid, VISIT_SIGNAL,
			   (long)&info, 0, 0);
	if (err)
		__atomic_store_n(&visit->answer, err == -ESRCH ? 1 : (int)err, __ATOMIC_RELEASE);
}

static int await_visit(struct visit *visit)
{
	for (unsigned wait = 0; wait < VISIT_PATIENCE; wait++) {
		int answer = __atomic_load_n(&visit->answer, __ATOMIC_ACQUIRE);

		if (answer)
			return answer < 0 ? answer : 0;
		if (raw_syscall3(SYS_tgkill, raw_getpid(), visit->tid, 0) == -ESRCH)
			return 0;
		raw_nanosleep(VISIT_WAIT_NS);
	}
	return -EBUSY;
}

/* Returns how many threads were new, or -errno. No array moves while an answer is awaited. */
static int visit_new(const struct thread_set *set)
{
	size_t from = visit_count;
	int err = reserve_visits(set->count);

	if (err)
		return err;
	for (size_t i = 0; i < set->count; i++)
		if (set->tids[i] != raw_gettid() && !visited(set->tids[i]))
			visits[visit_count++] = (struct visit){.tid = set->tids[i]};
	for (size_t i = from; i < visit_count; i++)
		send_visit(&visits[i]);
	for (size_t i = from; i < visit_count && !err; i++)
		err = await_visit(&visits[i]);
	return err ? err : (int)(visit_count - from);
}

/* A child of a covered thread is covered; one of a thread not yet visited is found by another pass
 * over the list. */
static int visit_all(void)
{
	int fresh = 1;

	for (int pass = 0; pass < VISIT_PASSES && fresh > 0; pass++) {
		struct thread_set set = {0};
		int err = thread_set_list(&set, 0);

		fresh = err ? err : visit_new(&set);
		thread_set_destroy(&set);
	}
	return fresh > 0 ? -EBUSY : fresh;
}

static int borrow_signal(void)
{
	struct kernel_action action = {.handler = (uintptr_t)region_enter_visit,
				       .flags = SA_SIGINFO | SA_RESTART | ARCHITECTURE_RESTORER,
				       .restorer = (uintptr_t)region_stub_return,
				       .mask = ~FAULT_SIGNALS};

	return raw_action(VISIT_SIGNAL, &action, &visit_before);
}

/* Unless libc has set its own meanwhile. A visit that is still on its way would be lost or worse:
 * after one that was not answered the handler stays. */
static void return_signal(bool all_answered)
{
	struct kernel_action now;

	if (all_answered && !raw_action(VISIT_SIGNAL, NULL, &now) &&
	    now.handler == (uintptr_t)region_enter_visit)
		raw_action(VISIT_SIGNAL, &visit_before, NULL);
}

int region_thread_cover_all(void)
{
	int err;

	filter_all_actions();
	err = cover_self();
	if (err)
		return err == -EINVAL ? -ENOTSUP : err;
	region_thread.selector = SELECTOR_ALLOW;
	visit_count = 0;
	err = borrow_signal();
	if (!err)
		err = visit_all();
	return_signal(!err);
	if (err)
		counter_increment(COUNTER_THREADS_UNCOVERED);
	return err;
}
