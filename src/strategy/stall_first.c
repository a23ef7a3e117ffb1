/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The strategy of google/gwpsan ("the peer"), to compare ours with: `--strategy stall-first`.
 *
 * A timer of CPU time interrupts each thread now and then. A thread that is interrupted just before
 * a memory access is held there, the only watchpoint is put on what it is about to access, and a
 * thread that makes a conflicting access within 100 us races with it. The peer arms within the
 * signal handler. Here the hold lasts until the controller has armed, and 100 us are counted from
 * then; the budget is charged the whole time.
 *
 * Slot 0 is the timer, slot 1 the watchpoint.
 */
#include "explore/explorer.h"
#include "hit/collect.h"
#include "strategy/explored.h"
#include "strategy/strategies.h"
#include "target/cover.h"

#include "base/syscall.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <trapline/event.h>

#define TIMER 0
#define DATA 1
#define INTERVAL \
	(2 * MILLISECOND)  /* of a thread's CPU time, as our own samples; credit bounds it */
#define STALL 100000u	   /* ns */
#define STALL_MOST 500000u /* ns, the arming included */
#define LOOK_AHEAD 12	   /* instructions; the peer looks at one */
#define OWN_STACK 262144

static int open_timer(struct target *target, struct slot *slot)
{
	struct coverage_target coverage = cover_threads(target);
	struct perf_request request = {.counter = TL_CPU_TIME, .period = INTERVAL, .signal = true};
	uint64_t data;
	int err;

	slot->watch = (struct tl_watch){.access = TL_EXEC, .hits = UINT_MAX, .hold = STALL_MOST};
	slot->deadline = UINT64_MAX;
	slot_publish(target, slot);
	atomic_store(&target->shared->slot[TIMER].shared, 1);
	data = area_tag(target->index, TIMER, slot->generation);
	err = cover_open(target, &slot->coverage, &coverage, &request, data);
	slot->open = !err;
	return err;
}

static int open_slots(struct target *target)
{
	int err;

	explored_prepare(target);
	target->placed = target->program->options.placed;
	target->slot[TIMER].index = TIMER;
	target->slot[DATA].index = DATA;
	err = open_timer(target, &target->slot[TIMER]);
	if (!err)
		err = slot_open(target, &target->slot[DATA]);
	target->slots = DATA + 1;
	return err;
}

static void release(struct target *target)
{
	struct area_slot *shared = &target->shared->slot[TIMER];

	atomic_fetch_add(&shared->turn, 1);
	raw_futex((uint32_t *)&shared->turn, FUTEX_WAKE, INT_MAX, NULL);
}

static bool is_watchable(struct target *target, const struct tl_access *access, uint64_t stack)
{
	return access->length && access->address >= 4096 && !(access->address >> 47) &&
	       !(access->address >= stack - 128 && access->address < stack + OWN_STACK) &&
	       space_writable(target->space, access->address);
}

static bool operand_known(const struct insn_operand *operand, uint32_t changed)
{
	return operand->access && !operand->stack_push && !operand->stack_pop &&
	       operand->segment == 0 && operand->vector_index < 0 &&
	       !(operand->base >= 0 && operand->base < INSN_GENERAL &&
		 changed >> operand->base & 1) &&
	       !(operand->index >= 0 && operand->index < INSN_GENERAL &&
		 changed >> operand->index & 1);
}

static bool take_operand(struct target *target, const struct insn *insn,
			 struct insn_registers *registers, uint32_t changed,
			 struct tl_access *access)
{
	for (unsigned i = 0; i < insn->operand_count; i++) {
		if (!operand_known(&insn->operand[i], changed) ||
		    insn_operand_before(insn, i, registers, &access->address, &access->length) ||
		    !is_watchable(target, access, registers->general[insn_arch.stack_pointer]))
			continue;
		access->pc = registers->pc;
		access->access = insn->operand[i].access | (insn->atomic ? TL_ATOMIC : 0);
		access->traits = insn_traits(insn, i, access->address, access->length);
		return true;
	}
	return false;
}

/* Finds the next memory access of the thread that has these registers. */
static bool next_access(struct target *target, const struct area_registers *noted,
			struct tl_access *access)
{
	struct insn_registers registers = {.pc = noted->pc, .flags = noted->flags};
	uint8_t bytes[LOOK_AHEAD * 8];
	size_t available = space_code(target->space, noted->pc, bytes, sizeof(bytes)), at = 0;
	uint32_t changed = 0;

	memcpy(registers.general, noted->general, sizeof(registers.general));
	for (unsigned i = 0; i < LOOK_AHEAD; i++) {
		struct insn insn;

		registers.pc = noted->pc + at;
		if (insn_decode(bytes + at, available - at, registers.pc, &insn))
			return false;
		if (take_operand(target, &insn, &registers, changed, access))
			return true;
		changed |= insn.written_registers;
		at += insn.length;
		if (insn.flow != INSN_FLOW_NEXT)
			return false;
	}
	return false;
}

static struct tl_watch watch_of(const struct target *target, const struct tl_access *access)
{
	unsigned length = 8;

	while (length > access->length || access->address % length)
		length /= 2;
	return (struct tl_watch){.size = sizeof(struct tl_watch),
				 .pid = target->pid,
				 .address = access->address,
				 .length = length,
				 .access = access->access & TL_WRITE ? TL_READ | TL_WRITE
								     : TL_WRITE,
				 .hits = SLOT_HITS_MAX / 2,
				 .window = STALL};
}

static void move_last_hit(struct slot *from, struct slot *to)
{
	to->hit[to->hits++] = from->hit[--from->hits];
}

static struct slot *take_hit(struct target *target, struct slot *slot, struct hit *hit)
{
	const struct explorer *explorer = explorer_of(target);
	struct slot *data = &target->slot[DATA];
	struct tl_watch watch;

	if (slot->index != TIMER)
		return slot;
	/* The only watchpoint is in use: this thread goes on when the other one's hold ends. */
	if (data->armed || hits_are_held(data))
		return slot;
	if (clock_now() < explorer->budget->paused_until ||
	    !next_access(target, &hit->stack.registers, &hit->access)) {
		release(target);
		return slot;
	}
	hits_forget_slot(explorer_of(target)->hits, data);
	watch = watch_of(target, &hit->access);
	if (slot_arm(target, data, &watch)) {
		release(target);
		return slot;
	}
	hit->usable = hit->origin = hit->access.before = true;
	move_last_hit(slot, data);
	return data;
}

static void run_target(struct target *target, uint64_t now)
{
	struct slot *timer = &target->slot[TIMER], *data = &target->slot[DATA];

	if (data->armed && now >= data->deadline) {
		slot_disarm(target, data);
		release(target);
	}
	if (!data->armed && !hits_are_held(data))
		hits_forget_slot(explorer_of(target)->hits, data);
	if (!hits_are_held(timer))
		hits_forget_slot(explorer_of(target)->hits, timer);
}

static void run(struct program *program)
{
	uint64_t now = clock_now();

	for (unsigned i = 0; i < AREA_PROCESSES; i++)
		if (program->target[i])
			run_target(program->target[i], now);
}

static uint64_t next_due(const struct program *program)
{
	uint64_t next = UINT64_MAX, soon = clock_now() + MILLISECOND;

	for (unsigned i = 0; i < AREA_PROCESSES; i++) {
		const struct target *target = program->target[i];

		if (!target)
			continue;
		if (target->slot[DATA].armed && target->slot[DATA].deadline < next)
			next = target->slot[DATA].deadline;
		/* The program does not tell when a hold ends: the controller looks every
		 * millisecond. */
		if (!target->slot[DATA].armed && hits_are_held(&target->slot[DATA]) && soon < next)
			next = soon;
	}
	return next;
}

/* All watches hold threads alike: what choosing learns of addresses (hold.h) is not used. */
static void note_choice(struct target *target, struct slot *slot)
{
	*choice_of(target, slot) = (struct slot_choice){.heuristic = HEURISTIC_STALL_FIRST};
}

static void ignore_visit(struct target *target, const struct slot *slot, const struct hit *hit)
{
	(void)target;
	(void)slot;
	(void)hit;
}

static void ignore_shared(struct target *target, const struct hit *hit, const struct hit *other)
{
	(void)target;
	(void)hit;
	(void)other;
}

static void collect(struct program *program)
{
	hits_collect(program->explorer->hits);
}

const struct strategy stall_first_strategy = {
	.name = "stall-first",
	.open = open_slots,
	/* Not `sampled`: this strategy samples by a timer of its own in each thread. */
	.ways = {.slots_stay = true, .budgeted = true},
	.publish = note_choice,
	.collect = collect,
	.run = run,
	.next = next_due,
	.hit = take_hit,
	.visit = ignore_visit,
	.shared = ignore_shared,
};
