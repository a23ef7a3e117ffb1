/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which address goes to which slot, and for how long.
 *
 * A write-only slot costs the program nothing for reads. When it trips, its thread is held as the
 * writer and the slot is widened to reads meanwhile, so that readers walk into it.
 */
#include "control/private.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define DEFAULT_WINDOW (100 * MILLISECOND)
#define WINDOW_MAX (2 * SECOND) /* for an address that no other waits to replace */
#define LOOK_INTERVAL (50 * MILLISECOND)
#define LOOKS_SOON 20 /* at the beginning; later ones tell little new and cost as much */
#define LOOK_INTERVAL_LATER (400 * MILLISECOND)
#define HOLD_LOOK MILLISECOND /* between two looks whether a hold has ended */
#define CODE_WINDOW (60 * MILLISECOND)
#define WINDOW_COST (10 * MILLISECOND) /* of CPU time, of all threads */
#define WINDOW_LEAST (2 * MILLISECOND)
#define DEFAULT_HITS 16
#define WIDEN_HITS 8 /* of a watch that is widened for each writer … */
#define WIDENINGS 3  /* … at most so often: each interrupts every CPU a thread last ran on */
#define HOLD_WRITER 400000u /* ns: readers must have time to come, and the controller to widen */
#define HOLD_ACCESS 150000u
#define SOLITARY_HITS 6
#define CALM_PRIORITY 90	/* of addresses that several threads were seen to access */
#define CALM_ARM_TIME 400000ull /* ns: choosing an instruction, opening and closing one event */
#define CALM_WINDOW_MAX (500 * MILLISECOND)
#define CALM_SHARED_WINDOW \
	(2 * MILLISECOND) /* of an address that busy threads were seen to access */

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
	return control->credit > (int64_t)(SECOND / 8) ? CODE_WINDOW / 2 : CODE_WINDOW;
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
	if (watch->widen && !target->calm.on) {
		watch->widen = false;
		watch->access = TL_READ | TL_WRITE;
	}
	if ((watch->access & TL_EXEC) && watch->hold < 3 * target->arm_time)
		watch->hold = 3 * target->arm_time < HOLD_LONGEST ? 3 * target->arm_time
								  : HOLD_LONGEST;
}

/* So long that being armed costs the thread about as much as arming costs us. */
static uint64_t calm_window(const struct target *target, const struct calm_thread *thread)
{
	double price = thread->comings * (double)atomic_load(&target->control->switch_price);
	double window = (double)(CALM_ARM_TIME * SECOND) / (price + 1);

	return window > (double)CALM_WINDOW_MAX ? CALM_WINDOW_MAX : (uint64_t)window;
}

static bool anybody_watches_data(const struct target *target)
{
	for (unsigned i = 0; i < target->slots; i++)
		if (target->slot[i].armed && !target->slot[i].only)
			return true;
	return false;
}

/* Code in all slots but one, which is for what that leads to, and for what samples showed. */
static void arm_next_calm(struct control *control, struct target *target, struct slot *slot,
			  uint64_t now)
{
	struct calm_thread *thread = calm_choose(target, now);
	struct code_choice code;
	struct tl_watch watch;
	int request;

	if (thread && code_slots(target) + 1 < target->slots &&
	    code_choose_in(target, thread, &code)) {
		code.watch.window = calm_window(target, thread);
		slot_arm_in(target, slot, &code.watch, thread);
		slot->place = code.place;
		return;
	}
	request = choose(control, target);
	if (request < 0 || anybody_watches_data(target) ||
	    (is_scarce(control) && control->request[request].watch.priority < CALM_PRIORITY))
		return;
	watch = control->request[request].watch;
	drop_request(control, (unsigned)request);
	watch.widen = false;
	watch.access = TL_READ | TL_WRITE;
	watch.window = CALM_SHARED_WINDOW;
	slot_arm(target, slot, &watch);
}

/* So long that being armed costs the program no more than so much: where threads come and go that
 * often, who is to come by comes soon. */
static uint64_t affordable(const struct target *target, uint64_t window)
{
	double price = (double)atomic_load(&target->control->switch_price) / (double)SECOND;
	double longest = (double)WINDOW_COST / (target->switch_rate * price + 1e-9);

	if (target->control->options.aggressive || target->control->options.stall_first ||
	    (double)window < longest)
		return window;
	return longest > (double)WINDOW_LEAST ? (uint64_t)longest : WINDOW_LEAST;
}

static void arm_next(struct control *control, struct target *target, struct slot *slot,
		     uint64_t now)
{
	int request;
	struct code_choice code;
	struct tl_watch watch;

	if (target->calm.on) {
		arm_next_calm(control, target, slot, now);
		return;
	}
	slot_suit_threads(target, slot);
	if (samples_code(control, target) && code_choose(target, &code)) {
		code.watch.window = affordable(target, code_window(control)) + 4 * target->arm_time;
		suit_threads(target, &code.watch);
		slot_arm(target, slot, &code.watch);
		slot->place = code.place;
		return;
	}
	request = choose(control, target);
	if (request < 0)
		return;
	watch = control->request[request].watch;
	drop_request(control, (unsigned)request);
	suit_threads(target, &watch);
	watch.window = affordable(target, watch.window);
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

static void run_armed(struct control *control, struct target *target, struct slot *slot,
		      uint64_t now)
{
	const struct area_slot *shared = &target->shared->slot[slot->index];

	if (atomic_load(&shared->hits) >= slot->watch.hits) {
		finish(control, target, slot);
	} else if (now >= slot->deadline && still_held(slot)) {
		slot->deadline = now + HOLD_LOOK;
	} else if (now >= slot->deadline) {
		finish(control, target, slot);
	} else if (is_solitary(slot)) {
		count_one(control, COUNT_SOLITARY);
		finish(control, target, slot);
	} else if (target->calm.on && slot->brief && !slot->only && slot->hits &&
		   !still_held(slot)) {
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
		    choose(control, target) < 0 && !target->calm.on)
			extend(target, slot, now);
		run_armed(control, target, slot, now);
	}
	if (slot->armed && target->debugged)
		finish(control, target, slot);
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
	target->next_look =
		now + (target->looks < LOOKS_SOON ? LOOK_INTERVAL : LOOK_INTERVAL_LATER);
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

/* Nobody tells when a hold ends. */
static uint64_t slot_due(const struct slot *slot)
{
	if (slot->armed)
		return slot->deadline;
	return still_held(slot) ? control_now() + HOLD_LOOK : UINT64_MAX;
}

uint64_t schedule_next(const struct control *control)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = control->target[i];

		for (unsigned j = 0; target && j < target->slots; j++) {
			uint64_t due = slot_due(&target->slot[j]);

			next = due < next ? due : next;
		}
	}
	return next;
}

/* A data slot for an address that a held thread is about to access: a silent one, else the one that
 * has seen least. */
static struct slot *make_room(struct control *control, struct target *target)
{
	struct slot *least = NULL;

	for (unsigned i = 0; i < target->slots; i++) {
		struct slot *slot = &target->slot[i];

		if ((slot->armed && (slot->watch.access & TL_EXEC)) || still_held(slot))
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

	if (!code_hit(target, hit, &watch)) {
		if (target->calm.on)
			slot_disarm(target, slot);
		return slot;
	}
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
	if (!data || slot_arm(target, data, &watch))
		return slot;
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
