/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watching code instead of data: an execution breakpoint on an instruction that accesses memory,
 * chosen at random. When a thread comes by it is held before its access, and another slot watches
 * the address meanwhile and afterwards. This finds what clock samples never see: cold code, and
 * threads that mostly sleep.
 *
 * The instructions come from functions in use: those that samples fell into, those that sleeping
 * threads will return to (found on their stacks), functions called from there, and, rarely, any
 * code of the program.
 */
#include "explore/code.h"

#include "explore/aim.h"
#include "explore/background.h"
#include "explore/in_use.h"
#include "explore/manner.h"
#include "sample/order.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_MAX 1024 /* bytes looked at of one function: decoding is not free */
#define CHOICES_MAX 512
#define OWN_STACK 65536	      /* bytes above the stack pointer that may be the thread's own stack */
#define COLD_HOLD MILLISECOND /* code found this way may run seldom: others come seldom too */
/* Shares, each drawn at random: one in so many … */
#define CALM_PROBES 4 /* of the watches in a background thread, one is no probe, */
#define START_PARTS 4 /* of the probes, one is at any instruction, not where a region begins, */
#define LOOK_PARTS 2  /* of the watches of code, one is where a sleeping thread goes on, */
#define FORESEEN_PROBE_PARTS 2 /* of the choices, one may be a probe of what was foreseen. */
/* Where a sleeping thread goes on is watched for 2^LOOK_DOUBLINGS usual windows. */
#define LOOK_DOUBLINGS 3
#define FORESEEN_HOLD (4 * MILLISECOND)
/* In a busy program a hold at a contended site may cost what it took to get a thread there. */
#define CONTENDED_HOLD (2 * MILLISECOND)
#define AIMED_HITS 3
#define ALL_HITS 3

struct choices {
	struct target *target;
	uint64_t pc[CHOICES_MAX];
	unsigned count;
	uint64_t calls[64];
	unsigned call_count;
	uint64_t site; /* the site in whose function all these stand; 0: it was drawn by chance */
};

/* rsp and rbp lead to the thread's own frame; another thread's is reached by other registers. */
static bool is_worth_watching(const struct insn *insn)
{
	for (unsigned i = 0; i < insn->operand_count; i++) {
		const struct insn_operand *operand = &insn->operand[i];

		if (operand->access && !operand->stack_push && !operand->stack_pop &&
		    operand->base != 4 && !(operand->base == 5 && operand->index < 0) &&
		    operand->segment == 0)
			return true;
	}
	return false;
}

/* Where a call to a stub of the procedure linkage table really goes. */
static uint64_t behind_stub(struct space *space, uint64_t target)
{
	uint8_t bytes[2 * INSN_MAX_LENGTH];
	size_t available = space_code(space, target, bytes, sizeof(bytes)), at = 0;
	uint64_t slot, length, final;

	for (int i = 0; i < 2; i++) {
		struct insn_registers registers = {.pc = target + at};
		struct insn insn;

		if (insn_decode(bytes + at, available - at, target + at, &insn))
			return target;
		if (insn.flow == INSN_FLOW_JUMP_INDIRECT && insn.operand_count == 1 &&
		    insn.operand[0].base == 16 &&
		    insn_operand_before(&insn, 0, &registers, &slot, &length) == 0 &&
		    space_read(space, slot, &final, sizeof(final)) == sizeof(final))
			return final;
		at += insn.length;
	}
	return target;
}

static void consider(struct choices *choices, const struct insn *insn, uint64_t pc)
{
	bool leaves = false;

	if (insn->flow == INSN_FLOW_CALL && choices->call_count < 64) {
		uint64_t target = behind_stub(choices->target->space, (uint64_t)insn->target);

		leaves = !code_is_interesting(choices->target, target) &&
			 !order_is_its_purpose(choices->target->space, target);
		choices->calls[choices->call_count++] = target;
	}
	leaves |= insn->flow == INSN_FLOW_CALL_INDIRECT;
	if (choices->count < CHOICES_MAX && (leaves || is_worth_watching(insn)))
		choices->pc[choices->count++] = pc;
}

static void list_function(struct choices *choices, uint64_t start, uint64_t end)
{
	uint8_t *bytes;
	size_t available, at = 0;

	if (end - start > FUNCTION_MAX)
		end = start + FUNCTION_MAX;
	bytes = malloc(end - start);
	if (!bytes)
		return;
	available = space_code(choices->target->space, start, bytes, end - start);
	while (at < available) {
		struct insn insn;

		if (insn_decode(bytes + at, available - at, start + at, &insn))
			break;
		consider(choices, &insn, start + at);
		at += insn.length;
	}
	free(bytes);
}

static uint64_t any_code(struct target *target)
{
	uint64_t start, end;

	if (!space_random_code(target->space, random_next(&target->program->random), &start, &end))
		return 0;
	return start + random_next(&target->program->random) % (end - start);
}

/* A function in use, or now and then one that such a function calls, or any. */
static bool choose_function(struct target *target, const struct sites *sites, uint64_t *start,
			    uint64_t *end, struct choices *choices)
{
	struct explorer *explorer = explorer_of(target);
	bool noted = sites->used && random_next(&explorer->program->random) % 16;
	uint64_t pc = noted ? sites_draw(sites, &explorer->program->random) : any_code(target);

	if (!pc || !code_is_interesting(target, pc) ||
	    space_function(target->space, pc, start, end))
		return false;
	choices->target = target;
	choices->site = noted ? pc : 0;
	/* A noted site is the start of an instruction. Every other time decoding begins there, so
	 * that what lies beyond the first FUNCTION_MAX bytes of a function has its turn. */
	if (noted && random_next(&explorer->program->random) % 2)
		*start = pc;
	list_function(choices, *start, *end);
	if (choices->call_count && random_next(&explorer->program->random) % 3 == 0) {
		pc = choices->calls[random_next(&explorer->program->random) % choices->call_count];
		if (code_is_interesting(target, pc) &&
		    space_function(target->space, pc, start, end) == 0) {
			choices->count = choices->call_count = 0;
			choices->site = 0;
			list_function(choices, *start, *end);
		}
	}
	return choices->count > 0;
}

static unsigned interest_of(void *context, uint64_t pc)
{
	struct target *target = context;

	return explorer_of(target)->events->interest(target, pc);
}

static struct contended_site *choose_contended(struct target *target, contended_filter_fn *filter,
					       unsigned *interest)
{
	struct explorer *explorer = explorer_of(target);
	struct contended_wish wish = {budget_is_scarce(explorer->budget), interest_of, filter,
				      target};

	if (is_off(target, HEURISTIC_CONTENDED))
		return NULL;
	return contended_choose(&target->explored->memory.contended, &explorer->program->random,
				&wish, interest);
}

void code_contended(struct target *target, uint64_t pc, pid_t tid)
{
	if (!space_is_libc(target->space, pc))
		contended_note(&target->explored->memory.contended, &target->program->random, pc,
			       tid);
}

void code_foreseen(struct target *target, uint64_t pc, pid_t tid, uint64_t other)
{
	if (code_is_interesting(target, pc))
		contended_foresee(&target->explored->memory.contended, &target->program->random, pc,
				  tid, other);
}

void code_changed(struct target *target, uint64_t pc, pid_t tid)
{
	if (!space_is_libc(target->space, pc))
		contended_change(&target->explored->memory.contended, &target->program->random, pc,
				 tid);
}

/* One of `count`, each as likely as it is interesting; 0 when none is. */
static uint64_t choose_weighted(struct target *target, const uint64_t *pc, unsigned count,
				unsigned *interest)
{
	uint64_t weight[CHOICES_MAX];
	unsigned drawn;

	for (unsigned i = 0; i < count; i++)
		weight[i] = interest_of(target, pc[i]);
	drawn = random_draw(&target->program->random, weight, count);
	if (drawn == count)
		return 0;
	*interest = (unsigned)weight[drawn];
	return pc[drawn];
}

/* Draws a function, so that each has its turn, then one of its instructions, up to four times: the
 * less interesting an instruction is, the likelier it is that another is drawn. */
static uint64_t choose_instruction(struct target *target, const struct sites *sites, uint64_t *site)
{
	static struct choices choices; /* one thread; too large for comfort on the stack */
	uint64_t start, end, best = 0;
	unsigned best_interest = 0;

	for (int attempt = 0; attempt < 4; attempt++) {
		unsigned interest = 0;
		uint64_t pc;

		choices.count = choices.call_count = 0;
		if (!choose_function(target, sites, &start, &end, &choices))
			continue;
		pc = choose_weighted(target, choices.pc, choices.count, &interest);
		if (interest <= best_interest)
			continue;
		best = pc;
		best_interest = interest;
		*site = choices.site;
		if (random_next(&target->program->random) % INTEREST_EQUAL < interest)
			break;
	}
	return best;
}

static void fill(struct target *target, uint64_t pc, unsigned hits, uint64_t hold,
		 struct tl_watch *watch)
{
	*watch = (struct tl_watch){
		.size = sizeof(*watch),
		.pid = target->pid,
		.address = pc,
		.length = 8,
		.access = TL_EXEC,
		.hits = hits,
		.hold = hold,
	};
}

/* The thread that was at the site, if it may be held. If it is no background thread, any other that
 * is none will do: threads that often get a CPU are taken to run the same code. */
static const struct thread_rate *thread_for(struct target *target, pid_t tid, uint64_t now)
{
	const struct thread_rate *thread = single_find(target, tid, now);

	if (thread || background_find(target, tid))
		return thread;
	thread = single_choose(target, now);
	return thread && !background_find(target, thread->tid) ? thread : NULL;
}

static bool was_seen(void *context, const struct contended_site *site)
{
	(void)context;
	return site->seen;
}

static bool is_by_known(void *context, const struct contended_site *site)
{
	return site->conflict && single_is_known(context, site->tid);
}

/* A thread that has ended, or is yet to begin, cannot be watched by itself: its like is met only in
 * watches of all threads. */
static bool is_by_stranger(void *context, const struct contended_site *site)
{
	return site->conflict && !single_is_known(context, site->tid);
}

bool code_is_for_all(void *context, const struct contended_site *site)
{
	return site->seen || is_by_stranger(context, site);
}

static bool choose_site_single(struct target *target, contended_filter_fn *filter, uint64_t now,
			       struct code_choice *choice)
{
	unsigned interest;
	struct contended_site *site = choose_contended(target, filter, &interest);
	const struct thread_rate *thread = site ? thread_for(target, site->tid, now) : NULL;

	if (!thread)
		return false;
	site->tries += site->changes > 0;
	choice->thread = *thread;
	choice->heuristic = site->changes ? HEURISTIC_PROBE : HEURISTIC_CONTENDED;
	fill(target, site->pc, 1, single_hold(target), &choice->watch);
	return true;
}

/* A foreseen conflict, where armed slots are dear: a probe tells first whether the memory changes
 * under a held thread, before the address is watched in all threads. */
static bool choose_foreseen_single(struct target *target, uint64_t now, struct code_choice *choice)
{
	if (random_next(&target->program->random) % FORESEEN_PROBE_PARTS ||
	    !choose_site_single(target, is_by_known, now, choice))
		return false;
	choice->heuristic = HEURISTIC_FORESIGHT;
	choice->probe = true;
	return true;
}

static bool choose_aimed_single(struct target *target, uint64_t now, struct code_choice *choice)
{
	pid_t tid = 0;
	uint64_t pc = aim_choose(target, &tid);
	const struct thread_rate *thread;

	if (!pc)
		return false;
	thread = tid ? thread_for(target, tid, now) : single_choose(target, now);
	if (!thread)
		return false;
	choice->thread = *thread;
	choice->heuristic = HEURISTIC_AIM;
	count_one(target->program, COUNT_AIMED);
	fill(target, pc, 1, single_hold(target), &choice->watch);
	return true;
}

bool code_choose_single(struct target *target, uint64_t now, struct code_choice *choice)
{
	struct explorer *explorer = explorer_of(target);
	const struct thread_rate *thread;
	const struct sites *starts;
	uint64_t pc = 0;

	*choice = (struct code_choice){0};
	if (choose_aimed_single(target, now, choice) ||
	    choose_site_single(target, was_seen, now, choice) ||
	    choose_foreseen_single(target, now, choice))
		return true;
	thread = single_choose(target, now);
	if (!thread)
		return false;
	choice->thread = *thread;
	/* A background thread seldom comes by and is waited for long, so that it is worth more than
	 * a probe, which sees neither reads nor stores of what was there: one watch in CALM_PROBES
	 * is none. */
	choice->heuristic = background_find(target, thread->tid) ? HEURISTIC_BACKGROUND
								 : HEURISTIC_CODE;
	choice->probe = !is_off(target, HEURISTIC_PROBE) &&
			(!background_find(target, thread->tid) ||
			 random_next(&explorer->program->random) % CALM_PROBES);
	starts = code_starts(target, thread->tid);
	choice->start = choice->probe && starts->used && !is_off(target, HEURISTIC_START) &&
			random_next(&explorer->program->random) % START_PARTS;
	if (choice->start)
		choice->heuristic = HEURISTIC_START;
	if (choice->start)
		pc = choice->site = sites_draw_sharply(starts, &explorer->program->random);
	else if (!is_off(target, HEURISTIC_CODE))
		pc = choose_instruction(target, code_sites(target, thread->tid), &choice->site);
	fill(target, pc, 1, single_hold(target), &choice->watch);
	return pc;
}

static bool choose_aimed(struct target *target, struct code_choice *choice)
{
	pid_t tid;
	uint64_t pc = aim_choose(target, &tid);

	if (!pc)
		return false;
	*choice = (struct code_choice){.heuristic = HEURISTIC_AIM};
	count_one(target->program, COUNT_AIMED);
	fill(target, pc, AIMED_HITS, CONTENDED_HOLD, &choice->watch);
	return true;
}

static bool choose_site(struct target *target, const struct code_wish *wish,
			struct code_choice *choice)
{
	unsigned interest = 0;
	const struct contended_site *site = choose_contended(target, wish->filter, &interest);
	uint64_t hold = COLD_HOLD;

	if (!site)
		return false;
	if (interest > INTEREST_EQUAL && !explorer_of(target)->budget->sleepy)
		hold = CONTENDED_HOLD;
	*choice = (struct code_choice){.heuristic = HEURISTIC_CONTENDED};
	if (site->conflict && !(wish->met_first && site->seen)) {
		choice->heuristic = HEURISTIC_FORESIGHT;
		choice->doublings = site->vain < FORESEEN_DOUBLINGS ? site->vain
								    : FORESEEN_DOUBLINGS;
		choice->look = !contended_is_met(&target->explored->memory.contended, site);
		hold = FORESEEN_HOLD;
	}
	fill(target, site->pc, ALL_HITS, choice->look ? 0 : hold, &choice->watch);
	return true;
}

/* Where a sleeping thread goes on, to see what it does next. */
static bool choose_wake(struct target *target, struct code_choice *choice)
{
	uint64_t pc;

	if (is_off(target, HEURISTIC_FORESIGHT) || samples_come_first(target) ||
	    random_next(&target->program->random) % LOOK_PARTS)
		return false;
	pc = code_wake(target);
	*choice = (struct code_choice){
		.heuristic = HEURISTIC_FORESIGHT, .look = true, .doublings = LOOK_DOUBLINGS};
	fill(target, pc, ALL_HITS, 0, &choice->watch);
	return pc;
}

bool code_choose(struct target *target, const struct code_wish *wish, struct code_choice *choice)
{
	uint64_t pc;

	if (choose_aimed(target, choice) || choose_site(target, wish, choice) ||
	    (wish->wakes && choose_wake(target, choice)))
		return true;
	if (is_off(target, HEURISTIC_CODE))
		return false;
	*choice = (struct code_choice){.heuristic = HEURISTIC_CODE};
	pc = choose_instruction(target, &target->explored->memory.sites, &choice->site);
	fill(target, pc, ALL_HITS, COLD_HOLD, &choice->watch);
	return pc;
}

bool code_promises_all(struct target *target)
{
	return contended_promises(&target->explored->memory.contended, is_by_stranger, target);
}

void code_tell(struct target *target, const struct slot *slot, bool worth)
{
	if (choice_of(target, slot)->site)
		sites_tell(choice_of(target, slot)->start ? code_starts(target, slot->only)
							  : code_sites(target, slot->only),
			   choice_of(target, slot)->site, worth);
}

void code_unwatched(struct target *target, const struct slot *slot)
{
	bool came = atomic_load(&target->shared->slot[slot->index].hits);

	contended_tell(&target->explored->memory.contended, slot->watch.address, 0, came);

	/* A probe that somebody came to tells its result when the hold ends (probe_end()). */
	if (!(came && choice_of(target, slot)->probes))
		code_tell(target, slot, came);
}

bool code_is_shareable(struct target *target, const struct hit *hit, uint64_t address)
{
	uint64_t stack = hit->stack.registers.general[insn_arch.stack_pointer];

	return address >= 4096 && !(address >> 47) &&
	       !space_is_own_stack(target->space, stack, address, OWN_STACK) &&
	       space_writable(target->space, address);
}

static unsigned aligned_length(uint64_t address, uint64_t length)
{
	unsigned result = 8;

	while (result > length || address % result)
		result /= 2;
	return result;
}

/* One of the first two arguments: one whose memory a conflict was foreseen at, else either. */
static uint64_t choose_argument(struct target *target, const struct hit *hit)
{
	unsigned first = random_next(&target->program->random) & 1 ? 7 : 6;
	const uint64_t *general = hit->stack.registers.general;

	return foresight_view(&target->explored->memory.foresight, general[13 - first]) ==
			       FORESIGHT_SHARED
		       ? general[13 - first]
		       : general[first];
}

/* At a call that leaves the program's own code: what it is handed to read or write. */
static bool watch_argument(struct target *target, const struct hit *hit, struct tl_watch *watch)
{
	uint64_t argument = choose_argument(target, hit);

	if (is_off(target, HEURISTIC_ARGUMENT) || !code_is_shareable(target, hit, argument))
		return false;
	watch->address = argument & ~7ull;
	watch->length = 8;
	watch->access = TL_READ | TL_WRITE;
	return true;
}

bool code_hit(struct target *target, const struct hit *hit, struct tl_watch *watch)
{
	*watch = (struct tl_watch){
		.size = sizeof(*watch), .pid = target->pid, .hold = COLD_HOLD, .priority = 60};
	if (!hit->usable)
		return watch_argument(target, hit, watch);
	if (!code_is_shareable(target, hit, hit->access.address) || hit->access.length == 0)
		return false;
	watch->length = aligned_length(hit->access.address, hit->access.length);
	watch->address = hit->access.address;
	/* A read of the held thread's conflicts with writes of others alone. */
	watch->access = hit->access.access & TL_WRITE ? TL_READ | TL_WRITE : TL_WRITE;
	if (is_off(target, HEURISTIC_WIDENING))
		watch->access = TL_READ | TL_WRITE;
	watch->widen = watch->access == TL_WRITE && !arms_slowly(target);
	if (manner_of(target)->suit)
		manner_of(target)->suit(target, watch);
	return true;
}
