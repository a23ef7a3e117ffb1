/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which address goes to which slot, and for how long.
 *
 * A write-only slot costs the program nothing for reads. When it trips, its thread is held as the
 * writer and the slot is widened to reads meanwhile, so that readers walk into it.
 */
#include "control/private.h"

#include "control/switches.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define DEFAULT_WINDOW (100 * MILLISECOND)
#define WINDOW_MAX (2 * SECOND) /* for an address that no other waits to replace */
#define LOOK_INTERVAL (50 * MILLISECOND)
#define LOOKS_SOON 20 /* at the beginning; later ones tell little new and cost as much */
#define LOOK_INTERVAL_LATER (400 * MILLISECOND)
#define LOOK_INTERVAL_BRIEF (4 * SECOND) /* where probes tell more (probe.c) */
#define HOLD_LOOK MILLISECOND		 /* between two looks whether a hold has ended */
#define CODE_WINDOW (60 * MILLISECOND)
#define DEFAULT_HITS 16
#define WIDEN_HITS 8 /* of a watch that is widened for each writer … */
#define WIDENINGS 3  /* … at most so often: each interrupts every CPU a thread last ran on */
#define HOLD_WRITER 400000u /* ns: readers must have time to come, and the controller to widen */
#define HOLD_ACCESS 150000u
#define SOLITARY_HITS 6
#define BRIEF_WINDOW (2 * MILLISECOND) /* of an address */
#define ALL_PARTS 8	 /* of what comes in, one goes to looks at code in all threads … */
#define ALL_SECONDS 10.0 /* … and of what is left, in so many seconds */
#define BRIEF_REQUESTS (500 * MILLISECOND) /* from one of these to the next */
#define BRIEF_MARGIN (MILLISECOND / 5)	   /* between its end and that of the hold it is for */
#define SINGLE_COST 200000ull /* ns of CPU time that an armed slot may take of a single thread */
#define SINGLE_WINDOW_MAX (250 * MILLISECOND)

static void fill_defaults(struct tl_watch *watch)
{
	if (!watch->hits)
		watch->hits = watch->widen ? WIDEN_HITS : DEFAULT_HITS;
	if (watch->hits > SLOT_HITS_MAX)
		watch->hits = SLOT_HITS_MAX;
	if (!watch->window)
		watch->window = DEFAULT_WINDOW;
	if (!watch->hold)
		watch->hold = watch->widen || (watch->access & TL_EXEC) ? HOLD_WRITER : HOLD_ACCESS;
}

static bool waits_already(const struct control *control, const struct tl_watch *watch)
{
	for (unsigned i = 0; i < control->requests; i++)
		if (control->request[i].watch.address == watch->address &&
		    control->request[i].watch.pid == watch->pid)
			return true;
	return false;
}

int control_watch(struct control *control, const struct tl_watch *watch)
{
	struct request *request = &control->request[control->requests];
	struct target *target;
	unsigned lowest = 0;

	if ((watch->length & (watch->length - 1)) || watch->length > 8 || !watch->length ||
	    watch->address % watch->length || !watch->access)
		return -EINVAL;
	count_one(control, COUNT_REQUESTS);
	target = target_find(control, watch->pid);
	if (target && dear_is(target, watch)) {
		count_one(control, COUNT_REQUESTS_DEAR);
		return -EBUSY;
	}
	if (waits_already(control, watch))
		return 0;
	if (control->requests == REQUESTS_MAX) {
		for (unsigned i = 1; i < REQUESTS_MAX; i++)
			if (control->request[i].watch.priority <
			    control->request[lowest].watch.priority)
				lowest = i;
		count_one(control, COUNT_REQUESTS_REFUSED);
		if (control->request[lowest].watch.priority >= watch->priority)
			return -EBUSY;
		request = &control->request[lowest];
	} else {
		control->requests++;
	}
	request->watch = *watch;
	request->time = control_now();
	fill_defaults(&request->watch);
	return 0;
}

static void drop_request(struct control *control, unsigned index)
{
	control->request[index] = control->request[--control->requests];
}

static void expire_requests(struct control *control, uint64_t now)
{
	for (unsigned i = 0; i < control->requests;) {
		if (now - control->request[i].time > REQUEST_AGE) {
			count_one(control, COUNT_REQUESTS_EXPIRED);
			drop_request(control, i);
		} else {
			i++;
		}
	}
}

static struct slot *slot_watching(struct target *target, uint64_t address)
{
	for (unsigned i = 0; i < target->slots; i++)
		if (target->slot[i].armed && target->slot[i].watch.address == address)
			return &target->slot[i];
	return NULL;
}

/* The best request for this process: highest priority, any of equals. */
static int choose(struct control *control, struct target *target)
{
	int best = -1;
	unsigned equals = 0;

	for (unsigned i = 0; i < control->requests; i++) {
		const struct tl_watch *watch = &control->request[i].watch;

		if (watch->pid != target->pid || slot_watching(target, watch->address))
			continue;
		if (best < 0 || watch->priority > control->request[best].watch.priority) {
			best = (int)i;
			equals = 1;
		} else if (watch->priority == control->request[best].watch.priority &&
			   control_random(control) % ++equals == 0) {
			best = (int)i;
		}
	}
	return best;
}

static void finish(struct control *control, struct target *target, struct slot *slot)
{
	/* A thread held before its access goes on being held for the address it led to. */
	if (slot->watch.access & TL_EXEC)
		slot_silence(target, slot);
	else
		slot_disarm(target, slot);
	if (slot->watch.access & TL_EXEC)
		code_unwatched(target, slot);
	else
		dear_note(target, slot);
	if (control->observer.unwatched)
		control->observer.unwatched(control->observer.context, &slot->watch, slot->seen,
					    slot->identities);
}

/* A disarmed slot keeps its hits until the last hold has ended. */
static bool still_held(const struct slot *slot)
{
	for (unsigned i = 0; i < slot->hits; i++)
		if (!slot->hit[i]->exit)
			return true;
	return false;
}

static unsigned code_slots(const struct target *target)
{
	unsigned code = 0;

	for (unsigned i = 0; i < target->slots; i++)
		code += target->slot[i].armed && (target->slot[i].watch.access & TL_EXEC);
	return code;
}

/* One slot samples code, and in a program that mostly waits others for which no address waits; one
 * is left for what code hits lead to. With one slot alone there is no such other. */
static bool samples_code(struct control *control, struct target *target)
{
	unsigned code = code_slots(target);

	if (target->slots == 1)
		return choose(control, target) < 0;
	return code == 0 ||
	       (control->sleepy && code + 1 < target->slots && choose(control, target) < 0);
}

/* In a program that mostly waits, while there is credit, each instruction has a short turn, so that
 * many have one. In a busy one what is hot is hit at once, and addresses that were sampled find
 * more for what arming costs. */
static uint64_t code_window(const struct control *control)
{
	if (!control->sleepy)
		return CODE_WINDOW;
	if (control->credit > (int64_t)(SECOND / 4))
		return CODE_WINDOW / 5;
	return is_scarce(control) ? CODE_WINDOW : CODE_WINDOW / 2;
}

static bool may_watch(const struct control *control, uint64_t now)
{
	uint64_t begin = control->started + control->options.start_delay;

	return now >= control->paused_until && now >= begin &&
	       (!control->options.duration || now <= begin + control->options.duration);
}

/* Who stands before an access must be held until another slot is armed. */
static void suit_threads(const struct target *target, struct tl_watch *watch)
{
	if (!arms_slowly(target))
		return;
	if (watch->widen) {
		watch->widen = false;
		watch->access = TL_READ | TL_WRITE;
	}
	if ((watch->access & TL_EXEC) && watch->hold < 3 * target->arm_time)
		watch->hold = 3 * target->arm_time < HOLD_LONGEST ? 3 * target->arm_time
								  : HOLD_LONGEST;
}

static uint64_t single_window(const struct target *target, const struct thread_rate *thread)
{
	double price = thread->comings * switches_price_of(target);
	double window = (double)(SINGLE_COST * SECOND) / (price + 1);

	return window > (double)SINGLE_WINDOW_MAX ? SINGLE_WINDOW_MAX : (uint64_t)window;
}

static bool is_for_code(const struct target *target, const struct slot *slot)
{
	return slot->index + 1 < target->slots || target->slots == 1;
}

static void arm_single(struct target *target, struct slot *slot, uint64_t now)
{
	struct code_choice code;

	if (!code_choose_single(target, now, &code))
		return;
	code.watch.window = single_window(target, &code.thread);
	if (slot_arm_in(target, slot, &code.watch, &code.thread))
		return;
	slot->place = code.place;
	slot->start = code.start;
	slot->probes = code.probe;
}

/* False: there is no instruction to watch. */
static bool arm_code(struct target *target, struct slot *slot, uint64_t window)
{
	struct code_choice code;

	if (!code_choose(target, &code))
		return false;
	code.watch.window = window;
	suit_threads(target, &code.watch);
	if (!slot_arm(target, slot, &code.watch))
		slot->place = code.place;
	return true;
}

/*
 * Threads that come by one after the other are all held, which finds what lasts no longer than
 * arming an address does, and writes of what was there, which a probe does not see. A part of what
 * comes in goes to that, and of what is left.
 */
static bool is_turn_of_all(const struct control *control, struct target *target, uint64_t now)
{
	double cost = (double)(target->arm_time + 3 * control->hit_price) +
		      target->switch_rate * switches_price_of(target) * (double)BRIEF_WINDOW /
			      (double)SECOND;
	double left = control->credit > 0 ? (double)control->credit / ALL_SECONDS : 0;

	if (now < target->brief.next_all)
		return false;
	target->brief.next_all =
		now + (uint64_t)(cost * ALL_PARTS * (double)SECOND / (control->income + left + 1));
	return true;
}

/* Code in all slots but the last, which is for what that leads to, and for what samples showed. */
static void arm_next_brief(struct control *control, struct target *target, struct slot *slot,
			   uint64_t now)
{
	struct tl_watch watch;
	int request;

	if (is_for_code(target, slot)) {
		if (is_turn_of_all(control, target, now))
			arm_code(target, slot, BRIEF_WINDOW);
		else
			arm_single(target, slot, now);
		return;
	}
	if (is_scarce(control) || now < target->brief.next_request)
		return;
	request = choose(control, target);
	if (request < 0)
		return;
	target->brief.next_request = now + BRIEF_REQUESTS;
	watch = control->request[request].watch;
	drop_request(control, (unsigned)request);
	watch.widen = false;
	watch.access = TL_READ | TL_WRITE;
	watch.window = BRIEF_WINDOW;
	slot_arm(target, slot, &watch);
}

static void arm_next(struct control *control, struct target *target, struct slot *slot,
		     uint64_t now)
{
	int request;
	struct tl_watch watch;

	if (target->brief.single) {
		arm_next_brief(control, target, slot, now);
		return;
	}
	slot_suit_threads(target, slot);
	if (samples_code(control, target) &&
	    arm_code(target, slot, code_window(control) + 4 * target->arm_time))
		return;
	request = choose(control, target);
	if (request < 0)
		return;
	watch = control->request[request].watch;
	drop_request(control, (unsigned)request);
	suit_threads(target, &watch);
	meeting_suit(target, &watch);
	slot_arm(target, slot, &watch);
}

/* One thread alone comes by, and often: no other is likely to while it is looked at. */
static bool is_solitary(const struct slot *slot)
{
	return slot->identities == 1 && slot->seen >= SOLITARY_HITS &&
	       !(slot->watch.access & TL_EXEC);
}

/* Nothing else waits for the slot and several threads came: go on, and hold longer, since the place
 * is seldom reached. */
static void extend(struct target *target, struct slot *slot, uint64_t now)
{
	struct area_slot *shared = &target->shared->slot[slot->index];

	slot->deadline = now + slot->watch.window;
	if (shared->hold < HOLD_LONGEST)
		shared->hold *= 2;
}

/* To watch for writes alone again costs as much as to watch another address, which is worth more.
 */
static void after_wide(struct control *control, struct target *target, struct slot *slot)
{
	if (choose(control, target) >= 0)
		finish(control, target, slot);
	else
		slot_narrow(target, slot);
}

/* Does it watch what a thread held before its access led to? */
static bool has_origin(const struct slot *slot)
{
	return slot->hits && slot->hit[0]->origin;
}

static void run_armed(struct control *control, struct target *target, struct slot *slot,
		      uint64_t now)
{
	const struct area_slot *shared = &target->shared->slot[slot->index];

	if (atomic_load(&shared->hits) >= slot->watch.hits) {
		finish(control, target, slot);
	} else if (now >= slot->deadline && still_held(slot) && !target->brief.single) {
		slot->deadline = now + HOLD_LOOK;
	} else if (now >= slot->deadline) {
		finish(control, target, slot);
	} else if (is_solitary(slot)) {
		count_one(control, COUNT_SOLITARY);
		finish(control, target, slot);
	} else if (target->brief.single && has_origin(slot) && !still_held(slot)) {
		finish(control, target, slot);
	} else if (slot->wide && !still_held(slot)) {
		after_wide(control, target, slot);
	}
}

static void run_slot(struct control *control, struct target *target, struct slot *slot,
		     uint64_t now)
{
	if (slot->armed) {
		if (now >= slot->deadline && now < slot->armed_at + WINDOW_MAX &&
		    !(slot->watch.access & TL_EXEC) && slot->identities > 1 &&
		    choose(control, target) < 0 && !target->brief.single)
			extend(target, slot, now);
		run_armed(control, target, slot, now);
	}
	if (slot->armed && target->debugged)
		finish(control, target, slot);
	if (slot->probe.until && now >= slot->probe.until)
		probe_end(target, slot);
	if (slot->armed || still_held(slot))
		return;
	hits_forget_slot(control, slot);
	if (may_watch(control, now) && !target->debugged)
		arm_next(control, target, slot, now);
}

static void look(struct target *target, uint64_t now)
{
	code_look(target);
	active_look(target, now);
	target->looks++;
	if (target->looks < LOOKS_SOON)
		target->next_look = now + LOOK_INTERVAL;
	else
		target->next_look =
			now + (target->brief.single ? LOOK_INTERVAL_BRIEF : LOOK_INTERVAL_LATER);
}

void schedule_run(struct control *control)
{
	uint64_t now = control_now();

	expire_requests(control, now);
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = control->target[i];

		if (target && control->options.stall_first) {
			stall_first_run(control, target, now);
			continue;
		}
		if (target && now >= target->next_look && may_watch(control, now))
			look(target, now);
		for (unsigned j = 0; target && j < target->slots; j++)
			run_slot(control, target, &target->slot[j], now);
	}
}

/* Of a slot with a thread that is held. Nobody tells when a hold ends; before its time it seldom
 * does. */
static uint64_t hold_due(const struct slot *slot)
{
	uint64_t soon = control_now() + HOLD_LOOK, first = UINT64_MAX;

	for (unsigned i = 0; i < slot->hits; i++)
		if (!slot->hit[i]->exit && slot->hit[i]->entry + slot->watch.hold < first)
			first = slot->hit[i]->entry + slot->watch.hold;
	return first > soon ? first : soon;
}

static uint64_t slot_due(const struct target *target, const struct slot *slot)
{
	if (slot->armed)
		return slot->deadline;
	if (slot->probe.until)
		return slot->probe.until;
	if (still_held(slot))
		return hold_due(slot);
	if (target->brief.single && is_for_code(target, slot) &&
	    may_watch(target->control, control_now()))
		return target->brief.next;
	return UINT64_MAX;
}

uint64_t schedule_next(const struct control *control)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = control->target[i];

		for (unsigned j = 0; target && j < target->slots; j++) {
			uint64_t due = slot_due(target, &target->slot[j]);

			next = due < next ? due : next;
		}
	}
	return next;
}

/* A data slot for an address that a held thread is about to access: a silent one, else the one that
 * has seen least. One that waits for a meeting stays. */
static struct slot *make_room(struct control *control, struct target *target)
{
	struct slot *least = NULL;

	for (unsigned i = 0; i < target->slots; i++) {
		struct slot *slot = &target->slot[i];

		if ((slot->armed && (slot->watch.access & TL_EXEC)) || still_held(slot) ||
		    meeting_waits(target, slot))
			continue;
		if (!slot->armed)
			least = slot;
		else if (!least || (least->armed && slot->seen < least->seen))
			least = slot;
	}
	if (least && least->armed)
		finish(control, target, least);
	if (least)
		hits_forget_slot(control, least);
	return least;
}

static void move_hit(struct slot *from, struct slot *to, struct hit *hit)
{
	for (unsigned i = 0; i < from->hits; i++)
		if (from->hit[i] == hit) {
			from->hit[i] = from->hit[--from->hits];
			break;
		}
	to->hit[to->hits++] = hit;
}

static struct slot *watch_origin(struct control *control, struct target *target, struct slot *slot,
				 struct hit *hit)
{
	struct tl_watch watch;
	struct slot *data;

	code_came(target, hit);
	if (slot->probes) {
		probe_begin(target, slot, hit);
		return slot;
	}
	if (!code_hit(target, hit, &watch)) {
		if (target->brief.single)
			slot_disarm(target, slot);
		return slot;
	}
	update_note(target, hit);
	data = slot_watching(target, watch.address);
	if (data && hit->usable && data->hits < SLOT_HITS_MAX) {
		/* Before its access as another may be: both at once is a race as well. */
		hit->origin = true;
		move_hit(slot, data, hit);
		return data;
	}
	if (data)
		return slot;
	if (dear_is(target, &watch)) {
		count_one(control, COUNT_REQUESTS_DEAR);
		return slot;
	}
	data = make_room(control, target);
	fill_defaults(&watch);
	meeting_suit(target, &watch);
	if (!data || slot_arm(target, data, &watch))
		return slot;
	if (target->brief.single)
		data->deadline = hit->entry + slot->watch.hold - BRIEF_MARGIN;
	hit->origin = hit->usable;
	if (hit->usable && hit->access.address >= watch.address)
		move_hit(slot, data, hit);
	else
		return slot;
	return data;
}

struct slot *schedule_hit(struct control *control, struct target *target, struct slot *slot,
			  struct hit *hit)
{
	if (control->options.stall_first)
		return stall_first_hit(control, target, slot, hit);
	if (slot->watch.access & TL_EXEC)
		return watch_origin(control, target, slot, hit);
	if (slot->watch.widen && (hit->access.access & TL_WRITE) && slot->widenings < WIDENINGS)
		slot_widen(target, slot);
	return slot;
}
