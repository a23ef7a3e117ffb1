/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/deliver.h"

#include "base/counters.h"
#include "base/syscall.h"
#include "trap/arming.h"

static bool generation_is(const tl_event *event, uint32_t generation)
{
	uint32_t now = __atomic_load_n(&event->generation, __ATOMIC_SEQ_CST);

	return now & 1 && (now & 0x7fffff) == generation;
}

/* Publishes the event, then checks its generation: pairs with tl_event_close(), which ends the
 * generation, then looks at the records. */
bool deliver_enter(struct running *record, const struct object_tag *tag,
		   struct deliver_event *snapshot)
{
	tl_event *event = &object_table[tag->index];

	__atomic_store_n(&record->event, event, __ATOMIC_SEQ_CST);
	if (!generation_is(event, tag->generation))
		return false;
	*snapshot =
		(struct deliver_event){.event = event,
				       .fn = event->fn,
				       .arg = event->arg,
				       .addr = event->addr,
				       .length = event->length,
				       .access = event->access,
				       .flags = event->flags,
				       .piece = event->pieces[tag->piece],
				       .ambiguous = event->counter && event->coverage[0].ambiguous};
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return generation_is(event, tag->generation);
}

void deliver_leave(struct running *record)
{
	__atomic_store_n(&record->event, NULL, __ATOMIC_RELEASE);
}

/* Takes one of the remaining hits; the last one silences the event. */
static bool within_limit(tl_event *event)
{
	int64_t remaining = __atomic_load_n(&event->remaining, __ATOMIC_RELAXED);

	if (!__atomic_load_n(&event->limited, __ATOMIC_RELAXED))
		return true;
	do {
		if (remaining <= 0) {
			counter_increment(COUNTER_HITS_OVER_LIMIT);
			return false;
		}
	} while (!__atomic_compare_exchange_n(&event->remaining, &remaining, remaining - 1, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	if (remaining == 1)
		arming_silence(event);
	return true;
}

static void count_marks(unsigned access)
{
	if (access & TL_LATE)
		counter_increment(COUNTER_HITS_LATE);
	if (access & TL_GUESSED)
		counter_increment(COUNTER_HITS_GUESSED);
}

void deliver_hit(struct tl_hit *hit, tl_hit_fn *fn, void *arg)
{
	if (!within_limit(hit->event))
		return;
	__atomic_fetch_add(&hit->event->hits, 1, __ATOMIC_RELAXED);
	counter_increment(COUNTER_HITS_DELIVERED);
	count_marks(hit->access);
	fn(hit, arg);
}

void deliver_describe(const struct insn_access *access, struct tl_hit *hit)
{
	hit->pc = access->pc;
	hit->addr = access->first;
	hit->size = access->length;
	hit->access = access->access;
	hit->decoded = access->decoded;
	hit->flow = access->decoded ? access->insn.flow : INSN_FLOW_NEXT;
}

static bool covers_this_thread(const tl_event *event)
{
	return event->scope == TL_PROCESS || event->scope == TL_TREE ||
	       object_covers_thread(event, raw_gettid());
}

/* Publishes the event, then checks it, as deliver_enter() does. False also for a forked child's
 * copy of its parent's event, whose kernel events are not the child's. */
static bool is_another(struct running *record, tl_event *event, const tl_event *own, void **arg)
{
	if (event == own || __atomic_load_n(&event->fn, __ATOMIC_RELAXED) != own->fn)
		return false;
	__atomic_store_n(&record->beside, event, __ATOMIC_SEQ_CST);
	if (!(__atomic_load_n(&event->generation, __ATOMIC_SEQ_CST) & 1) ||
	    __atomic_load_n(&event->fn, __ATOMIC_ACQUIRE) != own->fn || !covers_this_thread(event))
		return false;
	*arg = event->arg;
	return object_survives_fork(event) || arming_is_allowed(event);
}

void deliver_beside(const tl_event *own, void (*visit)(void *arg, void *own_arg))
{
	struct running *record = running_current();
	void *arg;

	/* A seccomp filter of the program forbids gettid(2), so the scope of events cannot be
	 * checked. */
	if (!record || __atomic_load_n(&owner_lock_anonymous, __ATOMIC_RELAXED))
		return;
	for (unsigned i = 0; i < object_used(); i++) {
		if (is_another(record, &object_table[i], own, &arg))
			visit(arg, own->arg);
		if (record->beside)
			__atomic_store_n(&record->beside, NULL, __ATOMIC_RELEASE);
	}
}

static void deliver_region(unsigned index, uint32_t generation, const struct insn_access *access,
			   ucontext_t *context)
{
	struct object_tag tag = {.index = index, .generation = generation & 0x7fffff};
	struct running *record = running_acquire();
	struct deliver_event snapshot;
	struct tl_hit hit = {.context = context};

	if (!record) {
		counter_increment(COUNTER_HITS_WITHOUT_RECORD);
		return;
	}
	if (!deliver_enter(record, &tag, &snapshot)) {
		counter_increment(COUNTER_HITS_STALE);
	} else if (covers_this_thread(snapshot.event)) {
		hit.event = snapshot.event;
		deliver_describe(access, &hit);
		deliver_hit(&hit, snapshot.fn, snapshot.arg);
	}
	deliver_leave(record);
}

static bool is_inside(void)
{
	return running_current();
}

static bool survives_fork(unsigned index)
{
	return object_survives_fork(&object_table[index]);
}

const struct region_events deliver_regions = {
	.hit = deliver_region, .is_inside = is_inside, .survives_fork = survives_fork};
