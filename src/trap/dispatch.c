/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/dispatch.h"

#include "base/counters.h"
#include "base/perf_siginfo.h"
#include "base/syscall.h"
#include "signal/arch.h"
#include "trap/attribution.h"
#include "trap/deliver.h"
#include "trap/object.h"
#include "signal/interrupted.h"
#include "signal/ownership.h"
#include "region/region.h"
#include "region/thread.h"
#include "signal/registers.h"

#include <errno.h>
#include <string.h>

/* A thread that was created while a counter was being opened in its siblings may carry the counter
 * twice: only hits of the root that was seen first count. */
static bool from_first_root(struct running *record, const struct object_tag *tag)
{
	uint64_t *first = &record->root[tag->index % RUNNING_ROOTS];
	uint64_t this_root = (uint64_t)tag->generation << 32 | tag->index << 16 | tag->root;

	if (*first >> 16 != this_root >> 16)
		*first = this_root;
	return *first == this_root;
}

/* ---- data ------------------------------------------------------------------------------- */

static unsigned slot_sees(const struct deliver_event *snapshot)
{
	return (snapshot->access & TL_READ ? TL_READ | TL_WRITE : TL_WRITE) |
	       (snapshot->flags & TL_INCLUDE_KERNEL ? TL_KERNEL : 0);
}

static void describe_late(const struct deliver_event *snapshot, struct tl_hit *hit)
{
	hit->addr = snapshot->piece.addr;
	hit->size = snapshot->piece.length;
	hit->access = snapshot->access | TL_LATE | TL_GUESSED;
}

/* Accepted loss: if another event's signal of the same instruction was merged into this one's, that
 * event's hit is not found. */
static void describe_undecoded(const struct deliver_event *snapshot, struct tl_hit *hit)
{
	hit->addr = snapshot->piece.addr;
	hit->size = snapshot->piece.length;
	hit->access = snapshot->access | TL_GUESSED;
}

/* True for an access that the event did not ask for, which trips it because slots are coarser than
 * requests. */
static bool unwanted(const struct deliver_event *snapshot, const struct tl_hit *hit)
{
	if (hit->access & TL_GUESSED)
		return false;
	if (!(hit->access & snapshot->access & (TL_READ | TL_WRITE))) {
		counter_increment(COUNTER_HITS_FILTERED);
		return true;
	}
	if (hit->access & TL_KERNEL || (hit->addr < snapshot->addr + snapshot->length &&
					snapshot->addr < hit->addr + hit->size))
		return false;
	counter_increment(COUNTER_HITS_OUTSIDE);
	return true;
}

/* Delivers the same access to other events that it touches. At most one SIGTRAP is pending in a
 * thread, so the kernel merged their signals into this one; what the instruction accessed tells
 * which events are meant. */
static void deliver_merged(struct running *record, const struct object_tag *tag,
			   const struct insn_access *access, ucontext_t *context)
{
	unsigned used = object_used();
	pid_t tid = 0;

	for (unsigned i = 0; i < used; i++) {
		tl_event *other = &object_table[i];
		uint32_t generation = __atomic_load_n(&other->generation, __ATOMIC_ACQUIRE);
		struct object_tag other_tag = {.index = i, .generation = generation & 0x7fffff};
		struct deliver_event snapshot;
		struct tl_hit hit = {.event = other, .context = context};
		unsigned kinds;

		if (i == tag->index || !(generation & 1) ||
		    !__atomic_load_n(&other->enabled, __ATOMIC_ACQUIRE) ||
		    !(other->access & (TL_READ | TL_WRITE)) || !other->piece_count)
			continue;
		kinds = attribution_also_touches(context, access, other->addr, other->length);
		if (!(kinds & other->access))
			continue;
		tid = tid ? tid : raw_gettid();
		/* Entered first: from then on the event is not released, so its threads may be
		 * read. In a forked child it may be the parent's event. */
		if (!deliver_enter(record, &other_tag, &snapshot) ||
		    !object_covers_thread(other, tid) ||
		    (other->owner_pid != raw_getpid() && !object_survives_fork(other)))
			continue;
		deliver_describe(access, &hit);
		hit.access = kinds | (access->access & TL_ATOMIC);
		hit.addr = access->first > other->addr ? access->first : other->addr;
		counter_increment(COUNTER_HITS_COALESCED);
		deliver_hit(&hit, snapshot.fn, snapshot.arg);
	}
}

static void on_data(struct running *record, const struct object_tag *tag,
		    const struct deliver_event *snapshot, struct tl_hit *hit, bool late)
{
	struct insn_access access = {0};

	if (late) {
		describe_late(snapshot, hit);
		deliver_hit(hit, snapshot->fn, snapshot->arg);
		return;
	}
	if (snapshot->flags & TL_UNDECODED) {
		describe_undecoded(snapshot, hit);
		deliver_hit(hit, snapshot->fn, snapshot->arg);
		return;
	}
	attribution_find(hit->context, snapshot->piece.addr, snapshot->piece.length,
			 slot_sees(snapshot), &access);
	deliver_describe(&access, hit);
	if (!unwanted(snapshot, hit))
		deliver_hit(hit, snapshot->fn, snapshot->arg);
	if (!(access.access & TL_GUESSED))
		deliver_merged(record, tag, &access, hit->context);
}

static void on_code(const struct deliver_event *snapshot, struct tl_hit *hit, bool late)
{
	hit->pc = snapshot->addr;
	hit->addr = snapshot->addr;
	hit->access = TL_EXEC | (late ? TL_LATE | TL_GUESSED : 0);
	deliver_hit(hit, snapshot->fn, snapshot->arg);
}

static void on_counter(struct running *record, const struct object_tag *tag,
		       const struct deliver_event *snapshot, struct tl_hit *hit, bool late)
{
	if (snapshot->ambiguous && !from_first_root(record, tag)) {
		counter_increment(COUNTER_HITS_COALESCED);
		return;
	}
	hit->access = late ? TL_LATE : 0;
	deliver_hit(hit, snapshot->fn, snapshot->arg);
}

/* ---- the signal ------------------------------------------------------------------------- */

/* A signal raised at the old address just before a move may carry the new generation: the kernel
 * reads the event's data when it sends the signal. Its address tells. */
static bool is_stale(const struct deliver_event *snapshot, const struct perf_siginfo *info)
{
	return snapshot->access && info->address != snapshot->piece.addr;
}

static void dispatch(struct running *record, const struct object_tag *tag,
		     const struct perf_siginfo *info, ucontext_t *context)
{
	bool late = info->flags & PERF_SIGINFO_LATE;
	struct deliver_event snapshot;
	struct tl_hit hit = {.context = context};

	__atomic_fetch_add(&object_table[tag->index].signals, 1, __ATOMIC_RELAXED);
	if (!deliver_enter(record, tag, &snapshot) || is_stale(&snapshot, info)) {
		counter_increment(COUNTER_HITS_STALE);
		return;
	}
	hit.event = snapshot.event;
	hit.pc = signal_arch.pc(context);
	if (snapshot.access & TL_EXEC)
		on_code(&snapshot, &hit, late);
	else if (snapshot.access)
		on_data(record, tag, &snapshot, &hit, late);
	else
		on_counter(record, tag, &snapshot, &hit, late);
}

static bool is_ours(const siginfo_t *info, struct object_tag *tag)
{
	const struct perf_siginfo *perf = (const void *)info;

	return info->si_code == PERF_SIGINFO_CODE && object_decode_tag(perf->data, tag);
}

/* At most one SIGTRAP is pending for the thread and one for the process: if so many were ours,
 * taking them made new ones. */
#define DRAIN_READ 4

/* Takes a pending SIGTRAP. With `info` NULL the kernel writes nothing. False: none is pending. */
static bool take_waiting(siginfo_t *info)
{
	static const uint64_t trap_mask = 1ull << (SIGTRAP - 1);
	static const struct timespec now;

	return raw_syscall6(SYS_rt_sigtimedwait, (long)&trap_mask, (long)info, (long)&now,
			    sizeof(trap_mask), 0, 0) == SIGTRAP;
}

static void note_self(const struct object_tag *tag)
{
	__atomic_fetch_add(&object_table[tag->index].signals, 1, __ATOMIC_RELAXED);
	counter_increment(COUNTER_HITS_SELF);
}

/*
 * Takes away the signal of a callback that touched what its own event watches. That signal is
 * pending; it would be delivered (as late) when we return and call the callback again, which
 * touches the memory again, and so on for ever. All signals were blocked since the hit, so a
 * pending hit was made by the handler. A signal that is not ours is put back.
 *
 * Where the memory that sigtimedwait(2) writes to is itself watched, kernel accesses included, each
 * signal that is read makes another: the last one is taken without reading it. Accepted: if that
 * was somebody else's, sent since, it is lost.
 */
static void drain(void)
{
	siginfo_t others[2];
	unsigned other_count = 0, own_count = 0;
	struct object_tag tag, own = {0};

	while (own_count < DRAIN_READ && other_count < 2 && take_waiting(&others[other_count])) {
		if (is_ours(&others[other_count], &tag)) {
			note_self(&tag);
			own = tag;
			own_count++;
		} else {
			other_count++;
		}
	}
	if (own_count == DRAIN_READ && take_waiting(NULL))
		note_self(&own);
	while (other_count)
		signal_requeue(SIGTRAP, &others[--other_count]);
}

static void on_trap(int signal, siginfo_t *info, void *context)
{
	int saved_errno = errno;
	struct running *record;
	struct object_tag tag;

	if (region_on_trap(info, context)) {
		errno = saved_errno;
		return;
	}
	if (!is_ours(info, &tag)) {
		signal_chain(signal, info, context);
		errno = saved_errno;
		return;
	}
	record = running_acquire();
	if (record) {
		dispatch(record, &tag, (const void *)info, context);
		deliver_leave(record);
	} else {
		counter_increment(COUNTER_HITS_WITHOUT_RECORD);
	}
	drain();
	interrupted_settle(context);
	region_thread_clean(context);
	drain(); /* their stack frames may be watched, too */
	errno = saved_errno;
}

int dispatch_install(void)
{
	if (!signal_is_owned(SIGTRAP))
		registers_probe();
	return signal_own(SIGTRAP, on_trap);
}
