/* SPDX-License-Identifier: Apache-2.0 */
#include "region/thread.h"

#include "base/counters.h"
#include "base/memory.h"
#include "base/syscall.h"
#include "event/threads.h"
#include "region/fault.h"
#include "region/region.h"
#include "signal/ownership.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>

#define KERNEL_SIGNALS 64
#define VISIT_WAIT_NS 50000
#define VISIT_PATIENCE_NS 5000000000ull
#define VISIT_PASSES 4000
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
	/* libc's sigfillset() leaves its own signals out. A visit within would answer for a thread
	 * whose handler has decided to leave, or puts back what it found (region_guard_leave()). */
	if (SIGNAL_BIT(signal) & PROTECTED_SIGNALS) {
		action->flags |= SA_NODEFER;
		action->mask |= REGION_VISIT_MASK;
	}
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

static void restore_all_actions(void)
{
	for (int signal = 1; signal <= KERNEL_SIGNALS; signal++) {
		uint64_t hidden = region_thread_hidden_action(signal);
		struct kernel_action action;

		if (!hidden || signal_is_owned(signal) || raw_action(signal, NULL, &action) ||
		    action.handler <= (uintptr_t)SIG_IGN)
			continue;
		action.mask |= hidden;
		raw_action(signal, &action, NULL);
	}
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

uint8_t region_dispatch_over __attribute__((visibility("hidden")));

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

/*
 * Each thread is visited once, by a signal, which is borrowed for that time. Threads go on being
 * created meanwhile, also by those that are covered already, as covered ones. All are covered as
 * soon as a listing that is whole names none but who was covered before it.
 */
enum {
	VISIT_JOINED = 1, /* covered by the visit, or runs no more */
	VISIT_COVERED,	  /* covered since its first instruction, or by an earlier visit */
	VISIT_GONE,	  /* it has ended, and may have created others before */
};

struct visit {
	pid_t tid;
	int answer; /* VISIT_…; 0: none yet; otherwise -errno */
};

#define VISIT_BYTES(capacity) ((capacity) * sizeof(struct visit))

static struct visit *visits;
static size_t visit_count, visit_capacity;
static struct kernel_action visit_before;
static bool visits_leave; /* they end the covering */

static void pass_on_visit(int signal, siginfo_t *info, void *context)
{
	if (visit_before.handler <= (uintptr_t)SIG_IGN)
		return;
	((void (*)(int, siginfo_t *, void *))visit_before.handler)(signal, info, context);
}

static int join(struct region_guard guard, ucontext_t *context)
{
	int err;

	if (region_thread.covered && guard.selector == SELECTOR_BLOCK) {
		region_guard_leave(guard);
		return VISIT_COVERED;
	}
	err = cover_self();
	if (err)
		return err;
	set_saved_mask(context,
		       region_thread_filter_mask(saved_mask(context) | region_thread.hidden));
	return VISIT_JOINED;
}

/*
 * What it is in the middle of is not dispatched to us once more. Within a handler of ours the mask
 * is the handler's. Accepted: where the program blocks SIGSEGV or SIGSYS, which it did not really,
 * a thread that is visited there goes on without that.
 */
static int leave(struct region_guard guard, ucontext_t *context)
{
	bool was_covered = region_thread.covered && guard.selector == SELECTOR_BLOCK;

	region_stub_forget(context);
	if (was_covered)
		region_thread_uncover(context, &guard);
	region_thread.selector = SELECTOR_ALLOW;
	return was_covered ? VISIT_JOINED : VISIT_COVERED;
}

/* A visit that was given up may arrive when its entry is another thread's: that one has not
 * answered. */
void region_on_visit(int signal, siginfo_t *info, void *context, uint32_t rights)
{
	struct visit *visit = info->si_value.sival_ptr;
	struct region_guard guard = region_guard_enter(rights);
	int answer;

	if (info->si_code != SI_QUEUE || info->si_pid != raw_getpid() || visit < visits ||
	    visit >= visits + visit_count) {
		region_callback_begin(guard);
		pass_on_visit(signal, info, context);
		return;
	}
	if (visit->tid != raw_gettid()) {
		region_guard_leave(guard);
		return;
	}
	answer = visits_leave ? leave(guard, context) : join(guard, context);
	__atomic_store_n(&visit->answer, answer, __ATOMIC_RELEASE);
}

/* Both are in the order in which the threads were created, but for few: `hint` is where the last
 * one was found. */
static bool is_visited(pid_t tid, size_t count, size_t *hint)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = (*hint + i) % count;

		if (visits[at].tid == tid) {
			*hint = at;
			return true;
		}
	}
	return false;
}

static bool is_listed(const struct thread_set *set, pid_t tid, size_t *hint)
{
	for (size_t i = 0; i < set->count; i++) {
		size_t at = (*hint + i) % set->count;

		if (set->tids[at] == tid) {
			*hint = at;
			return true;
		}
	}
	return false;
}

/* Forgets visits of threads that have ended, whose ids new threads may get. */
static void forget_ended(const struct thread_set *set)
{
	size_t kept = 0, hint = 0;

	for (size_t i = 0; i < visit_count; i++)
		if (visits[i].answer != VISIT_GONE && is_listed(set, visits[i].tid, &hint))
			visits[kept++] = visits[i];
	visit_count = kept;
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
	long err = raw_queue_signal(visit->tid, REGION_VISIT_SIGNAL, visit);

	if (err)
		__atomic_store_n(&visit->answer, err == -ESRCH ? VISIT_GONE : (int)err,
				 __ATOMIC_RELEASE);
}

static uint64_t now_ns(void)
{
	struct timespec now = {0, 0};

	raw_syscall3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&now, 0);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

/* The first thread of a process, which stays among its threads after its end: proc(5), stat, the
 * state behind the name, which may have brackets of its own. */
static bool first_has_ended(void)
{
	static const char path[] = "/proc/self/stat";
	char text[128];
	long length, at;
	int fd = (int)raw_syscall6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);

	if (fd < 0)
		return false;
	length = raw_syscall3(SYS_read, fd, (long)text, sizeof(text));
	raw_close(fd);
	for (at = length - 1; at > 0 && text[at] != ')';)
		at--;
	return at > 0 && at + 2 < length && text[at + 2] == 'Z';
}

static int await_answer(struct visit *visit)
{
	uint64_t until = now_ns() + VISIT_PATIENCE_NS;

	do {
		int answer = __atomic_load_n(&visit->answer, __ATOMIC_ACQUIRE);

		if (answer)
			return answer;
		if (raw_syscall3(SYS_tgkill, raw_getpid(), visit->tid, 0) == -ESRCH)
			return VISIT_GONE;
		if (visit->tid == raw_getpid() && first_has_ended())
			return VISIT_JOINED;
		raw_nanosleep(VISIT_WAIT_NS);
	} while (now_ns() < until);
	return -EBUSY;
}

/* 1: all of the set were covered before; 0: not all; or -errno. No array moves while an answer is
 * awaited. */
static int visit_new(const struct thread_set *set)
{
	size_t from, hint = 0;
	int err = reserve_visits(set->count);
	int all_covered = 1;

	if (err)
		return err;
	forget_ended(set);
	from = visit_count;
	for (size_t i = 0; i < set->count; i++)
		if (set->tids[i] != raw_gettid() && !is_visited(set->tids[i], from, &hint))
			visits[visit_count++] = (struct visit){.tid = set->tids[i]};
	for (size_t i = from; i < visit_count; i++)
		send_visit(&visits[i]);
	for (size_t i = from; i < visit_count; i++) {
		visits[i].answer = await_answer(&visits[i]);
		if (visits[i].answer < 0)
			return visits[i].answer;
		all_covered &= visits[i].answer == VISIT_COVERED;
	}
	return all_covered;
}

/* A thread created by one that was not visited yet is not covered: another pass over the list of
 * threads finds it. */
static int visit_all(void)
{
	for (int pass = 0; pass < VISIT_PASSES; pass++) {
		struct thread_set set = {0};
		bool whole = false;
		int err = thread_set_list_whole(&set, &whole);
		int covered = err ? err : visit_new(&set);

		thread_set_destroy(&set);
		if (covered < 0)
			return covered;
		if (covered && whole)
			return 0;
		counter_increment(COUNTER_COVERAGE_RETRIES);
	}
	return -EBUSY;
}

/* Installs our handler of REGION_VISIT_SIGNAL. The one before is libc's (kept in visit_before), but
 * where ours had to stay after the last visits (return_signal()). */
static int borrow_signal(void)
{
	struct kernel_action action = {.handler = (uintptr_t)region_enter_visit,
				       .flags = SA_SIGINFO | SA_RESTART | ARCHITECTURE_RESTORER,
				       .restorer = (uintptr_t)region_stub_return,
				       .mask = ~FAULT_SIGNALS};
	struct kernel_action before;
	int err = raw_action(REGION_VISIT_SIGNAL, &action, &before);

	if (!err && before.handler != (uintptr_t)region_enter_visit)
		visit_before = before;
	return err;
}

/* Puts libc's handler back, unless libc has set its own meanwhile. Where a visit was not answered
 * its signal may still arrive, and libc's handler would take it for its own: then ours stays. */
static void return_signal(bool all_answered)
{
	struct kernel_action now;

	if (all_answered && !raw_action(REGION_VISIT_SIGNAL, NULL, &now) &&
	    now.handler == (uintptr_t)region_enter_visit)
		raw_action(REGION_VISIT_SIGNAL, &visit_before, NULL);
}

static int visit_everyone(bool leaves)
{
	int err;

	visits_leave = leaves;
	visit_count = 0;
	err = borrow_signal();
	if (!err)
		err = visit_all();
	return_signal(!err);
	if (err)
		counter_increment(COUNTER_THREADS_UNCOVERED);
	return err;
}

/* A task that has begun and is not covered yet sees that it need not be. A fault at a page of a
 * region has been dealt with by the time that its thread is visited. */
bool region_thread_leave_all(void)
{
	__atomic_store_n(&region_dispatch_over, 1, __ATOMIC_SEQ_CST);
	if (visit_everyone(true))
		return false;
	signal_disown(SIGSYS);
	if (!fault_is_claimed())
		signal_disown(SIGSEGV);
	restore_all_actions();
	return true;
}

int region_thread_cover_all(void)
{
	int err;

	filter_all_actions();
	err = cover_self();
	if (err)
		return err == -EINVAL ? -ENOTSUP : err;
	region_thread.selector = SELECTOR_ALLOW;
	return visit_everyone(false);
}
