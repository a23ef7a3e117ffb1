/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which address goes to which slot, and for how long.
 *
 * A write-only slot costs the program nothing for reads. When it trips, its thread is held as the
 * writer and the slot is widened to reads meanwhile, so that readers walk into it.
 */
#include "explore/aim.h"
#include "explore/background.h"
#include "explore/code.h"
#include "explore/foresee.h"
#include "explore/hold.h"
#include "explore/in_use.h"
#include "explore/probe.h"
#include "explore/strategy.h"
#include "explore/team.h"
#include "hit/collect.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define WINDOW_MAX (2 * SECOND) /* for an address that no other waits to replace */
#define LOOK_INTERVAL (50 * MILLISECOND)
#define LOOKS_SOON 20 /* at the beginning; later ones tell little new and cost as much */
#define LOOK_INTERVAL_LATER (400 * MILLISECOND)
#define LOOK_INTERVAL_BRIEF (4 * SECOND) /* where probes tell more (probe.c) */
#define HOLD_LOOK MILLISECOND		 /* between two looks whether a hold has ended */
#define CODE_WINDOW (60 * MILLISECOND)
/* Of one watch: each widening interrupts every CPU that a covered thread last ran on. */
#define WIDENINGS 3
/* Hits by one thread, and no other, after which an address is given up. */
#define SOLITARY_HITS 6
/* Of so many sampled addresses where look-ahead has shown one thread alone, one is watched. */
#define PRIVATE_PARTS 4
/* Where armed slots are dear (target/transient.h): a watch of all threads lasts so long. */
#define BRIEF_WINDOW (2 * MILLISECOND)
/* One part in so many of the budget's income goes to watches of code in all threads; more of it
 * where conflicts were foreseen with threads that no watch of a single one meets; … */
#define ALL_PARTS 8
#define ALL_PARTS_PROMISED 2
/* … and besides, the same part of what the bucket holds, spread over so many seconds. */
#define ALL_SECONDS 10.0
/* Between two watches of addresses that a tool asked for. */
#define BRIEF_REQUESTS (500 * MILLISECOND)
/* A watch of all threads, made while one is held, ends so long before that hold does. */
#define BRIEF_MARGIN (MILLISECOND / 5)
#define SINGLE_COST 200000ull /* ns of CPU time that an armed slot may take of a single thread */
#define SINGLE_WINDOW_MAX (250 * MILLISECOND)

static void finish(struct explorer *explorer, struct target *target, struct slot *slot)
{
	/* A slot on code is only silenced, which lets nobody go: the thread that it holds stays
	 * held while the address that it is about to access is watched. */
	if (slot->watch.access & TL_EXEC)
		slot_silence(target, slot);
	else
		slot_disarm(target, slot);
	if (slot->watch.access & TL_EXEC)
		code_unwatched(target, slot);
	else
		cooldown_note(target, slot);
	explorer->events->unwatched(target, slot);
}

static void forget_hits(struct target *target, struct slot *slot)
{
	hits_forget_slot(explorer_of(target)->hits, slot);
	choice_of(target, slot)->probe.until = 0; /* its hit is gone */
}

static unsigned code_slots(const struct target *target, bool lasting)
{
	unsigned code = 0;

	for (unsigned i = 0; i < target->slots; i++)
		code += target->slot[i].armed && (target->slot[i].watch.access & TL_EXEC) &&
			choice_of(target, &target->slot[i])->lasts == lasting;
	return code;
}

/*
 * Is this slot to watch code? One slot does, and one is kept for the addresses that its hits lead
 * to. In a program that mostly waits the others do as well, unless a sampled address waits for a
 * slot. Where the process has one slot, it watches code when no address waits.
 */
static bool samples_code(struct explorer *explorer, struct target *target)
{
	unsigned code = code_slots(target, false), lasting = code_slots(target, true);

	if (target->slots == 1)
		return !request_waits(explorer, target);
	if (code + lasting + 1 >= target->slots)
		return code + lasting == 0;
	if (aim_is_on(target))
		return true;
	return code == 0 || (explorer->budget->sleepy && !request_waits(explorer, target));
}

/* ns that an instruction is watched for. Short in a program that mostly waits, while the bucket is
 * more than a quarter of a second full, so that many instructions have a turn. Long in a busy one:
 * hot code is hit at once there, and what arming costs finds more at sampled addresses. */
static uint64_t code_window(const struct explorer *explorer)
{
	if (!explorer->budget->sleepy)
		return CODE_WINDOW;
	if (explorer->budget->bucket.tokens > (int64_t)(SECOND / 4))
		return CODE_WINDOW / 5;
	return budget_is_scarce(explorer->budget) ? CODE_WINDOW : CODE_WINDOW / 2;
}

static bool may_watch(const struct explorer *explorer, uint64_t now)
{
	uint64_t begin = explorer->program->started + explorer->program->options.start_delay;

	return now >= explorer->budget->paused_until && now >= begin &&
	       (!explorer->program->options.duration ||
		now <= begin + explorer->program->options.duration);
}

/* Where arming is slow: no widening, which would come too late, and holds at code long enough for
 * the slot to be armed that watches what the held thread is about to access. */
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
	double price = thread->rate * target_wakeup_price(target);
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
	choice_of(target, slot)->place = code.place;
	choice_of(target, slot)->start = code.start;
	choice_of(target, slot)->probes = code.probe;
	choice_of(target, slot)->heuristic = code.heuristic;
}

/* False: there is no instruction to watch. */
static bool arm_code(struct target *target, struct slot *slot, uint64_t window)
{
	struct code_choice code;

	if (!code_choose(target, &code))
		return false;
	if (code_slots(target, true))
		code.doublings = 0;
	code.watch.window = window << code.doublings;
	if (code.heuristic == HEURISTIC_AIM && !armed_is_dear(target))
		code.watch.window = aim_window(target, window, WINDOW_MAX / 2);
	suit_threads(target, &code.watch);
	if (!slot_arm(target, slot, &code.watch)) {
		choice_of(target, slot)->place = code.place;
		choice_of(target, slot)->heuristic = code.heuristic;
		choice_of(target, slot)->lasts = code.doublings;
		hold_keep(target, slot);
	}
	return true;
}

/*
 * Where armed slots are dear: is it time for a watch of code in all threads? Each thread that comes
 * by is held, so that two are seen at once whose accesses lie nearer to each other than arming a
 * second slot takes, and stores that leave the value as it was, which a probe does not see. What
 * such a watch is expected to cost decides when the next may be: ALL_PARTS.
 */
static bool is_turn_of_all(const struct explorer *explorer, struct target *target, uint64_t now)
{
	double cost = (double)(target->arm_time + 3 * explorer->budget->prices.hit) +
		      target->wakeups.rate * target_wakeup_price(target) * (double)BRIEF_WINDOW /
			      (double)SECOND;
	double left = explorer->budget->bucket.tokens > 0
			      ? (double)explorer->budget->bucket.tokens / ALL_SECONDS
			      : 0;
	double parts = ALL_PARTS;

	if (now < target->explored->next_all)
		return false;
	if (code_promises_all(target))
		parts = ALL_PARTS_PROMISED;
	target->explored->next_all = now + (uint64_t)(cost * parts * (double)SECOND /
						      (explorer->budget->income + left + 1));
	return true;
}

/* Where armed slots are dear. All slots but the last watch code; the last watches the addresses that
 * code hits lead to, and now and then a sampled one. */
static void arm_next_brief(struct explorer *explorer, struct target *target, struct slot *slot,
			   uint64_t now)
{
	struct tl_watch watch;

	if (is_for_code(target, slot)) {
		if (is_turn_of_all(explorer, target, now))
			arm_code(target, slot, BRIEF_WINDOW);
		else
			arm_single(target, slot, now);
		return;
	}
	if (budget_is_scarce(explorer->budget) || now < target->explored->next_request)
		return;
	if (!request_take(explorer, target, &watch))
		return;
	target->explored->next_request = now + BRIEF_REQUESTS;
	watch.widen = false;
	watch.access = TL_READ | TL_WRITE;
	watch.window = BRIEF_WINDOW;
	slot_arm(target, slot, &watch);
	choice_of(target, slot)->heuristic = HEURISTIC_SAMPLE;
}

/* Look-ahead has shown one thread alone there: three of four such addresses are passed over. The
 * fourth is watched all the same, since look-ahead does not see every access. */
static bool is_hardly_worth(struct target *target, const struct tl_watch *watch)
{
	return foresight_view(&target->explored->memory.foresight, watch->address) ==
		       FORESIGHT_PRIVATE &&
	       random_next(&target->program->random) % PRIVATE_PARTS;
}

/* The first waiting request that is worth a watch; those passed over are dropped. All are looked at
 * now, since nothing comes back to this slot until the next event. */
static bool take_worth(struct explorer *explorer, struct target *target, struct tl_watch *watch)
{
	while (request_take(explorer, target, watch)) {
		if (!is_hardly_worth(target, watch))
			return true;
		count_one(explorer->program, COUNT_REQUESTS_PRIVATE);
	}
	return false;
}

static void arm_next(struct explorer *explorer, struct target *target, struct slot *slot,
		     uint64_t now)
{
	struct tl_watch watch;

	if (armed_is_dear(target)) {
		arm_next_brief(explorer, target, slot, now);
		return;
	}
	slot_suit_threads(target, slot);
	if (team_arm(target, slot))
		return;
	if (samples_code(explorer, target) &&
	    arm_code(target, slot, code_window(explorer) + 4 * target->arm_time))
		return;
	if (aim_is_on(target) && now < target->explored->next_request)
		return;
	if (!take_worth(explorer, target, &watch))
		return;
	target->explored->next_request = now + BRIEF_REQUESTS;
	suit_threads(target, &watch);
	meeting_suit(target, &watch);
	slot_arm(target, slot, &watch);
	choice_of(target, slot)->heuristic = HEURISTIC_SAMPLE;
	hold_keep(target, slot);
}

/* One thread alone came, SOLITARY_HITS times: no other is likely to in the rest of the window. */
static bool is_solitary(const struct slot *slot)
{
	return slot->identities == 1 && slot->seen >= SOLITARY_HITS &&
	       !(slot->watch.access & TL_EXEC);
}

/* The window is over, several threads came, and no other address waits for the slot: it stays for
 * another window, with holds twice as long, since threads seldom come by. */
static void extend(struct target *target, struct slot *slot, uint64_t now)
{
	struct area_slot *shared = &target->shared->slot[slot->index];

	slot->deadline = now + slot->watch.window;
	if (shared->hold < HOLD_LONGEST)
		shared->hold *= 2;
}

/* A slot that was widened to reads, and whose holds are over. Narrowing it to writes costs as much
 * as arming it for another address, which is worth more where one waits. */
static void after_wide(struct explorer *explorer, struct target *target, struct slot *slot)
{
	if (request_waits(explorer, target))
		finish(explorer, target, slot);
	else
		slot_narrow(target, slot);
}

/* Was it armed for what a thread, held before its access, was about to access? */
static bool has_origin(const struct slot *slot)
{
	return slot->hits && slot->hit[0]->origin;
}

static void run_armed(struct explorer *explorer, struct target *target, struct slot *slot,
		      uint64_t now)
{
	const struct area_slot *shared = &target->shared->slot[slot->index];

	if (atomic_load(&shared->hits) >= slot->watch.hits) {
		finish(explorer, target, slot);
	} else if (now >= slot->deadline && hits_are_held(slot) && !armed_is_dear(target)) {
		slot->deadline = now + HOLD_LOOK;
	} else if (now >= slot->deadline) {
		finish(explorer, target, slot);
	} else if (is_solitary(slot)) {
		count_one(explorer->program, COUNT_SOLITARY);
		finish(explorer, target, slot);
	} else if (armed_is_dear(target) && has_origin(slot) && !hits_are_held(slot) &&
		   choice_of(target, slot)->heuristic != HEURISTIC_AIM) {
		finish(explorer, target, slot);
	} else if (slot->wide && !hits_are_held(slot)) {
		after_wide(explorer, target, slot);
	}
}

static void run_slot(struct explorer *explorer, struct target *target, struct slot *slot,
		     uint64_t now)
{
	team_run(target, slot, now);
	if (slot->armed) {
		if (now >= slot->deadline && now < slot->armed_at + WINDOW_MAX &&
		    !(slot->watch.access & TL_EXEC) && slot->identities > 1 &&
		    !request_waits(explorer, target) && !armed_is_dear(target))
			extend(target, slot, now);
		run_armed(explorer, target, slot, now);
	}
	if (slot->armed && target->debugged)
		finish(explorer, target, slot);
	if (choice_of(target, slot)->probe.until && now >= choice_of(target, slot)->probe.until)
		probe_end(target, slot);
	if (slot->armed || hits_are_held(slot))
		return;
	forget_hits(target, slot);
	if (may_watch(explorer, now) && !target->debugged)
		arm_next(explorer, target, slot, now);
}

static void look(struct target *target, uint64_t now)
{
	code_look(target);
	active_look(target, now);
	target->explored->looks++;
	if (target->explored->looks < LOOKS_SOON)
		target->explored->next_look = now + LOOK_INTERVAL;
	else
		target->explored->next_look =
			now + (armed_is_dear(target) ? LOOK_INTERVAL_BRIEF : LOOK_INTERVAL_LATER);
}

static void run(struct program *program)
{
	struct explorer *explorer = program->explorer;
	uint64_t now = clock_now();

	requests_expire(explorer, now);
	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		struct target *target = explorer->program->target[i];

		if (target)
			background_look(target);
		if (target && target->slots && may_watch(explorer, now))
			aim_look(target, now);
		if (target && target->slots && now >= target->explored->next_look &&
		    may_watch(explorer, now))
			look(target, now);
		for (unsigned j = 0; target && j < target->slots; j++)
			run_slot(explorer, target, &target->slot[j], now);
	}
}

/* When a slot with held threads is looked at next. The program does not tell when a hold ends: the
 * controller looks when the first is due, since few end earlier, and then every HOLD_LOOK. */
static uint64_t hold_due(const struct slot *slot)
{
	uint64_t soon = clock_now() + HOLD_LOOK, first = UINT64_MAX;

	for (unsigned i = 0; i < slot->hits; i++)
		if (!slot->hit[i]->exit && slot->hit[i]->entry + slot->watch.hold < first)
			first = slot->hit[i]->entry + slot->watch.hold;
	return first > soon ? first : soon;
}

static uint64_t slot_due(const struct target *target, const struct slot *slot)
{
	if (slot->armed)
		return slot->deadline;
	if (choice_of(target, slot)->probe.until)
		return choice_of(target, slot)->probe.until;
	if (hits_are_held(slot))
		return hold_due(slot);
	if (armed_is_dear(target) && is_for_code(target, slot) &&
	    may_watch(explorer_of(target), clock_now()))
		return target->explored->next;
	return UINT64_MAX;
}

static uint64_t next_due(const struct program *program)
{
	const struct explorer *explorer = program->explorer;
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = explorer->program->target[i];

		for (unsigned j = 0; target && j < target->slots; j++) {
			uint64_t due = slot_due(target, &target->slot[j]);

			next = due < next ? due : next;
		}
	}
	return next;
}

/* A slot for the address that a held thread is about to access: a silent one, else the one on data
 * that has seen fewest hits, whose watch ends. Not one that holds somebody, nor one where two
 * threads are expected to coincide (hold.h). */
static struct slot *make_room(struct explorer *explorer, struct target *target)
{
	struct slot *least = NULL;

	for (unsigned i = 0; i < target->slots; i++) {
		struct slot *slot = &target->slot[i];

		if ((slot->armed && (slot->watch.access & TL_EXEC)) || hits_are_held(slot) ||
		    meeting_waits(target, slot))
			continue;
		if (!slot->armed)
			least = slot;
		else if (!least || (least->armed && slot->seen < least->seen))
			least = slot;
	}
	if (least && least->armed)
		finish(explorer, target, least);
	if (least)
		forget_hits(target, least);
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

static struct slot *watch_origin(struct explorer *explorer, struct target *target,
				 struct slot *slot, struct hit *hit)
{
	struct tl_watch watch;
	struct slot *data;

	code_came(target, hit);
	contended_tell(&target->explored->memory.contended, hit->access.pc, 1, true);
	if (choice_of(target, slot)->probes) {
		probe_begin(target, slot, hit);
		return slot;
	}
	if (!code_hit(target, hit, &watch)) {
		if (armed_is_dear(target))
			slot_disarm(target, slot);
		return slot;
	}
	update_note(target, hit);
	data = slot_watching(target, watch.address);
	if (data && hit->usable && data->hits < SLOT_HITS_MAX) {
		/* The address is watched already: this thread, held before its access, counts as
		 * there, and makes a pair with another that is held at its own. */
		hit->origin = true;
		move_hit(slot, data, hit);
		return data;
	}
	if (data)
		return slot;
	if (cooldown_forbids(target, &watch)) {
		count_one(explorer->program, COUNT_REQUESTS_DEAR);
		return slot;
	}
	data = make_room(explorer, target);
	request_fill(&watch);
	meeting_suit(target, &watch);
	if (!data || slot_arm(target, data, &watch))
		return slot;
	if (armed_is_dear(target))
		data->deadline = hit->entry + slot->watch.hold - BRIEF_MARGIN;
	/* Of a finding aimed at, the watch outlasts the hold: a thread that waited for a lock of
	 * the held one comes right behind it, which counts as a chance of the two to meet. */
	if (armed_is_dear(target) && choice_of(target, slot)->heuristic == HEURISTIC_AIM)
		data->deadline = hit->entry + slot->watch.hold + BRIEF_WINDOW;
	choice_of(target, data)->heuristic = hit->usable ? choice_of(target, slot)->heuristic
							 : HEURISTIC_ARGUMENT;
	if (!hold_is_led(target, slot))
		hold_keep(target, data);
	if (!hit->usable) {
		choice_of(target, data)->caller = slot;
		choice_of(target, data)->calling = hit->access.tid;
	}
	hit->origin = hit->usable;
	if (hit->usable && hit->access.address >= watch.address)
		move_hit(slot, data, hit);
	else
		return slot;
	return data;
}

/* The slot watches memory that a call is about to be handed, its caller held in front of the call;
 * now another thread has come to that memory and is held. The caller is let go, so that it makes
 * its own access while the other is still held. */
static void let_caller_go(struct target *target, struct slot *slot, const struct hit *hit)
{
	struct slot_choice *choice = choice_of(target, slot);
	struct slot *caller = choice->caller;

	if (!caller || hit->access.tid == choice->calling)
		return;
	choice->caller = NULL;
	for (unsigned i = 0; i < caller->hits; i++)
		if (!caller->hit[i]->exit && caller->hit[i]->access.tid == choice->calling)
			slot_release(target, caller);
}

static struct slot *take_hit(struct target *target, struct slot *slot, struct hit *hit)
{
	if (team_has(target, slot) && (slot->watch.access & TL_EXEC)) {
		team_came(target, slot, hit);
		return slot;
	}
	if (slot->watch.access & TL_EXEC)
		return watch_origin(explorer_of(target), target, slot, hit);
	let_caller_go(target, slot, hit);
	if (slot->watch.widen && (hit->access.access & TL_WRITE) && slot->widenings < WIDENINGS)
		slot_widen(target, slot);
	return slot;
}

static void note_shared(struct target *target, const struct hit *hit, const struct hit *other)
{
	code_contended(target, hit->access.pc, hit->access.tid);
	code_contended(target, other->access.pc, other->access.tid);
}

static int open_slots(struct target *target)
{
	const struct control_options *options = &target->program->options;

	explorer_prepare(target);
	target->placed = options->placed;
	for (unsigned i = 0; i < options->slots; i++) {
		int err;

		target->slot[i].index = i;
		err = slot_open(target, &target->slot[i]);
		if (err)
			return i > 0 && err == -ENOSPC ? 0 : err;
		target->slots = i + 1;
	}
	team_begin(target);
	return 0;
}

static void collect(struct program *program)
{
	hits_collect(program->explorer->hits);
}

/* Whether the thread was held or not: its registers tell what it will do next (foresee.h). */
static void note_visit(struct target *target, const struct slot *slot, const struct hit *hit)
{
	aim_visit(target, slot, hit);
	meeting_note(target, slot, hit);
	team_held(target, slot, hit);
	if (!hit->exit && choice_of(target, slot)->team == TEAM_NONE) {
		struct insn_registers registers = hit_registers(&hit->stack.registers);

		foresee(target, hit->access.tid, &registers);
	}
}

const struct strategy choosing_strategy = {
	.name = "choosing",
	.ways = {.sampled = true, .budgeted = true},
	.open = open_slots,
	.publish = choose_hold,
	.collect = collect,
	.run = run,
	.next = next_due,
	.hit = take_hit,
	.visit = note_visit,
	.shared = note_shared,
};
