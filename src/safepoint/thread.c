/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <trapline/hit.h>

#include "base/counters.h"
#include "base/syscall.h"
#include "safepoint/safepoint.h"
#include "signal/arch.h"

struct safepoint_thread *safepoint_self(const struct tl_safepoint *safepoint)
{
	return pthread_getspecific(safepoint->key);
}

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

static void store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
}

/* The owner reads `progress` before it looks at states, so it misses none of these. It waits for
 * one thread at a time: the others need not wake it, and most have stopped when it comes to them.
 */
static void notify(struct safepoint_thread *thread)
{
	struct tl_safepoint *safepoint = thread->safepoint;

	__atomic_fetch_add(&safepoint->progress, 1, __ATOMIC_SEQ_CST);
	if (load(&safepoint->watched) == (uint32_t)thread->tid)
		safepoint_wake(&safepoint->progress, 1);
}

static bool is_held(struct safepoint_thread *thread)
{
	return load(&thread->safepoint->stopping) || load(&thread->task) == TASK_ON_BEHALF;
}

/* From `state`, which counts as stopped, to running; waits while somebody holds the thread. */
static void come_back(struct safepoint_thread *thread, enum thread_state state)
{
	for (;;) {
		while (load(&thread->safepoint->stopping))
			safepoint_wait(&thread->safepoint->stopping, 1, NO_DEADLINE);
		while (load(&thread->task) == TASK_ON_BEHALF)
			safepoint_wait(&thread->task, TASK_ON_BEHALF, NO_DEADLINE);
		store(&thread->state, SAFEPOINT_RUNNING);
		if (!is_held(thread))
			return;
		store(&thread->state, state);
		notify(thread);
	}
}

void safepoint_describe(struct safepoint_thread *thread, struct tl_safepoint_thread *description)
{
	bool parked = load(&thread->state) == SAFEPOINT_PARKED;

	description->size = sizeof(*description);
	description->tid = thread->tid;
	description->blocking = !parked;
	description->context = parked ? thread->context : &thread->outside;
	description->stack_pointer = signal_arch.stack(description->context);
	description->stack_low = thread->stack_low;
	description->stack_high = thread->stack_high;
}

static void run_pending_task(struct safepoint_thread *thread)
{
	struct tl_safepoint_thread description;
	uint32_t pending = TASK_PENDING;

	if (!__atomic_compare_exchange_n(&thread->task, &pending, TASK_TAKEN, false,
					 __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	safepoint_describe(thread, &description);
	thread->safepoint->task(&description, thread->safepoint->task_argument);
	store(&thread->task, TASK_DONE);
}

/* Make the thread's polls trap, or no longer. Its own thread or the owner. */
static void set_trap(struct safepoint_thread *thread, bool on)
{
	struct tl_safepoint *safepoint = thread->safepoint;

	if (thread->indirect)
		__atomic_store_n(&thread->place, on ? safepoint->trap : &safepoint->word,
				 __ATOMIC_SEQ_CST);
	else if (on)
		tl_event_enable(thread->event);
	else
		tl_event_disable(thread->event);
}

/*
 * The thread polled while it was armed. PARKED is published before it is disarmed: an owner that
 * sees RUNNING after that arms again, later than our disarming.
 */
void safepoint_park(struct safepoint_thread *thread, ucontext_t *context)
{
	thread->context = context;
	store(&thread->state, SAFEPOINT_PARKED);
	store(&thread->armed, 0);
	set_trap(thread, false);
	run_pending_task(thread);
	notify(thread);
	come_back(thread, SAFEPOINT_PARKED);
}

static void on_poll(tl_hit *hit, void *arg)
{
	const struct safepoint_thread *thread = arg;

	/* SIGTRAP was blocked at the poll: the thread has left it, and may stand where it is not
	 * safe to stop. The poll stays armed. */
	if (tl_hit_access(hit) & TL_LATE) {
		counter_increment(COUNTER_SAFEPOINT_LATE);
		return;
	}
	/* In a blocking region it counts as stopped already, and may run. */
	if (thread->blocking_depth)
		return;
	safepoint_park(arg, tl_hit_context(hit));
}

/*
 * A thread that has asked for its place polls there. Only the owner turns to it, while the thread
 * is not armed, so that whoever disarms it finds the way in which it was armed. The watchpoint
 * stays, silent: to close it here would wait for a handler that may wait for this very owner.
 */
static void choose_way(struct safepoint_thread *thread)
{
	if (thread->safepoint->trap && !load(&thread->armed) && load(&thread->placed))
		thread->indirect = true;
}

void safepoint_arm(struct safepoint_thread *thread)
{
	choose_way(thread);
	store(&thread->armed, 1);
	set_trap(thread, true);
}

void safepoint_disarm(struct safepoint_thread *thread)
{
	if (__atomic_exchange_n(&thread->armed, 0, __ATOMIC_SEQ_CST))
		set_trap(thread, false);
}

void safepoint_block(struct safepoint_thread *thread, const struct safepoint_saved *saved)
{
	if (thread->blocking_depth++)
		return;
	safepoint_capture(&thread->outside, saved);
	store(&thread->state, SAFEPOINT_BLOCKING);
	if (load(&thread->safepoint->stopping) || load(&thread->task) != TASK_NONE)
		notify(thread);
}

void safepoint_unblock(struct safepoint_thread *thread)
{
	if (--thread->blocking_depth == 0)
		come_back(thread, SAFEPOINT_BLOCKING);
}

int safepoint_enter_blocking(struct tl_safepoint *safepoint, void *a, void *b, void *c,
			     const struct safepoint_saved *saved)
{
	struct safepoint_thread *thread = safepoint_self(safepoint);

	(void)a;
	(void)b;
	(void)c;
	if (!thread)
		return -ENOENT;
	safepoint_block(thread, saved);
	return 0;
}

int tl_safepoint_leave_blocking(tl_safepoint *safepoint)
{
	struct safepoint_thread *thread = safepoint_self(safepoint);

	if (!thread)
		return -ENOENT;
	if (!thread->blocking_depth)
		return -EINVAL;
	safepoint_unblock(thread);
	return 0;
}

void safepoint_free(struct safepoint_thread *thread)
{
	if (thread->event)
		tl_event_close(thread->event);
	free(thread);
}

void safepoint_forget_self(struct tl_safepoint *safepoint)
{
	struct safepoint_thread *thread = safepoint_self(safepoint);

	if (thread)
		thread->place = &safepoint->word;
	pthread_setspecific(safepoint->key, NULL);
}

static void find_stack(struct safepoint_thread *thread)
{
	pthread_attr_t attributes;
	void *low;
	size_t size;

	if (pthread_getattr_np(pthread_self(), &attributes))
		return;
	if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
		thread->stack_low = (uintptr_t)low;
		thread->stack_high = (uintptr_t)low + size;
	}
	pthread_attr_destroy(&attributes);
}

/* At a poll that faults with its signal blocked the kernel ends the process. */
static bool takes_faults(void)
{
	sigset_t blocked;

	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	return !sigismember(&blocked, SIGSEGV);
}

static int open_event(struct safepoint_thread *thread)
{
	struct tl_spec spec = {
		.size = sizeof(spec),
		.addr = &thread->safepoint->word,
		.len = sizeof(thread->safepoint->word),
		.access = TL_READ | TL_WRITE,
		.scope = TL_THREAD,
		.flags = TL_DISABLED | TL_UNDECODED,
	};

	if (thread->safepoint->no_watchpoints) {
		thread->indirect = true;
		return takes_faults() ? 0 : -EINVAL;
	}
	return tl_event_open(&thread->event, &spec, on_poll, thread);
}

int tl_safepoint_register(tl_safepoint *safepoint)
{
	struct safepoint_thread *thread;
	int err;

	if (safepoint_self(safepoint))
		return -EALREADY;
	/* The calling thread owns the safepoint: it would park and wait for itself to resume it. */
	if (__atomic_load_n(&safepoint->owner, __ATOMIC_SEQ_CST) == (uint32_t)raw_gettid())
		return -EDEADLK;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return -ENOMEM;
	thread->safepoint = safepoint;
	thread->place = &safepoint->word;
	thread->tid = raw_gettid();
	find_stack(thread);
	err = open_event(thread);
	if (!err)
		err = -pthread_setspecific(safepoint->key, thread);
	if (err) {
		safepoint_free(thread);
		return err;
	}
	safepoint_own(safepoint, NO_DEADLINE);
	thread->next = safepoint->threads;
	safepoint->threads = thread;
	safepoint_disown(safepoint);
	return 0;
}

static void give_up_watchpoint(struct safepoint_thread *thread)
{
	tl_event_close(thread->event);
	thread->event = NULL;
}

const uint32_t *const volatile *tl_safepoint_place(tl_safepoint *safepoint)
{
	struct safepoint_thread *thread = safepoint_self(safepoint);

	if (!thread)
		return NULL;
	if (takes_faults())
		store(&thread->placed, 1);
	/* As the owner, for a moment; not where somebody else is, who may wait for this thread. */
	if (thread->event && safepoint->trap && load(&thread->placed) &&
	    !safepoint_own(safepoint, 0)) {
		choose_way(thread);
		if (thread->indirect)
			give_up_watchpoint(thread);
		safepoint_disown(safepoint);
	}
	return &thread->place;
}

bool safepoint_is_gone(const struct safepoint_thread *thread)
{
	return raw_syscall3(SYS_tgkill, raw_getpid(), thread->tid, 0) == -ESRCH;
}

void safepoint_remove(struct tl_safepoint *safepoint, struct safepoint_thread *thread)
{
	struct safepoint_thread **link = &safepoint->threads;

	while (*link && *link != thread)
		link = &(*link)->next;
	if (*link)
		*link = thread->next;
}
