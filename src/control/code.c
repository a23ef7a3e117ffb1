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
#include "control/private.h"
#include "control/thread_status.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION_MAX 1024 /* bytes looked at of one function: decoding is not free */
#define CHOICES_MAX 512
#define STACK_WORDS 256
#define COLD_HOLD MILLISECOND /* code found this way may run seldom: others come seldom too */
#define CALM_PROBES 4	      /* of looks at threads that seldom get a CPU, one is no probe */
#define START_PARTS 4	      /* of probes, one is at any instruction of a function */
#define BRIEF_HITS 6	      /* of an address, in all threads: what is dear ends soon */
#define BRIEF_HOLD (MILLISECOND / 10) /* of those that come by while one is held */
#define PROMISING_HOLD                                                            \
	(2 * MILLISECOND) /* to come here costs as much as a longer hold is worth \
			   */

static bool is_call_before(struct space *space, uint64_t pc)
{
	uint8_t bytes[7];

	if (space_code(space, pc - 7, bytes, 7) != 7)
		return false;
	return bytes[2] == 0xe8 || bytes[5] == 0xff || bytes[4] == 0xff || bytes[1] == 0xff ||
	       (bytes[0] == 0xff && (bytes[1] >> 3 & 7) == 2);
}

/* A calm thread does what others do not. */
static struct places *code_places(struct target *target, pid_t tid)
{
	struct calm_thread *thread = brief_calm(target, tid);

	return thread ? &thread->places : &target->places;
}

struct places *code_starts(struct target *target, pid_t tid)
{
	struct calm_thread *thread = brief_calm(target, tid);

	return thread ? &thread->starts : &target->starts;
}

void code_note(struct target *target, pid_t tid, uint64_t pc)
{
	places_note(target->control, code_places(target, tid), pc);
}

static bool is_interesting(struct target *target, uint64_t pc)
{
	const char *module = space_module(target->space, pc);

	return module && control_wants_module(target->control, module) &&
	       !space_is_libc(target->space, pc);
}

/* Return addresses near the top of a sleeping thread's stack. */
static void note_stack(struct target *target, struct places *places, uint64_t stack_pointer)
{
	uint64_t words[STACK_WORDS];
	ssize_t length = space_read(target->space, stack_pointer, words, sizeof(words));
	unsigned found = 0;

	for (ssize_t i = 0; i < length / 8 && found < 4; i++) {
		if (words[i] >> 47 || words[i] < 4096 || !is_interesting(target, words[i]) ||
		    !is_call_before(target->space, words[i]))
			continue;
		places_note(target->control, places, words[i]);
		found++;
	}
}

static void look_at_thread(struct target *target, struct places *places, pid_t tid)
{
	struct thread_sleep waiting;

	if (thread_status_sleep(target->pid, tid, &waiting))
		note_stack(target, places, waiting.stack_pointer);
}

void code_look_at(struct target *target, struct calm_thread *thread)
{
	look_at_thread(target, &thread->places, thread->tid);
}

/* A few threads, at random: their stacks tell what sleepers will do next. */
void code_look(struct target *target)
{
	pid_t chosen[4] = {0};
	char path[64];
	struct dirent *entry;
	unsigned count = 0;
	DIR *directory;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)target->pid);
	directory = opendir(path);
	if (!directory) {
		count_one(target->control, COUNT_LOOKS_FAILED);
		return;
	}
	while ((entry = readdir(directory)) && count < 4096) {
		unsigned place;

		if (entry->d_name[0] == '.')
			continue;
		place = count < 4 ? count
				  : (unsigned)(control_random(target->control) % (count + 1));
		if (place < 4)
			chosen[place] = (pid_t)strtol(entry->d_name, NULL, 10);
		count++;
	}
	closedir(directory);
	for (unsigned i = 0; i < 4; i++)
		if (chosen[i])
			look_at_thread(target, code_places(target, chosen[i]), chosen[i]);
}

struct choices {
	struct target *target;
	uint64_t pc[CHOICES_MAX];
	unsigned count;
	uint64_t calls[64];
	unsigned call_count;
	uint64_t place; /* that all this was listed for */
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

		leaves = !is_interesting(choices->target, target) &&
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

	if (!space_random_code(target->space, control_random(target->control), &start, &end))
		return 0;
	return start + control_random(target->control) % (end - start);
}

/* A function in use, or now and then one that such a function calls, or any. */
static bool choose_function(struct target *target, const struct places *places, uint64_t *start,
			    uint64_t *end, struct choices *choices)
{
	struct control *control = target->control;
	bool noted = places->used && control_random(control) % 16;
	uint64_t pc = noted ? places_draw(control, places) : any_code(target);

	if (!pc || !is_interesting(target, pc) || space_function(target->space, pc, start, end))
		return false;
	choices->target = target;
	choices->place = noted ? pc : 0;
	/* A noted place is the start of an instruction: large functions are not always read from
	 * their own. */
	if (noted && control_random(control) % 2)
		*start = pc;
	list_function(choices, *start, *end);
	if (choices->call_count && control_random(control) % 3 == 0) {
		pc = choices->calls[control_random(control) % choices->call_count];
		if (is_interesting(target, pc) &&
		    space_function(target->space, pc, start, end) == 0) {
			choices->count = choices->call_count = 0;
			choices->place = 0;
			list_function(choices, *start, *end);
		}
	}
	return choices->count > 0;
}

unsigned code_interest(struct target *target, uint64_t pc)
{
	const struct control_observer *observer = &target->control->observer;

	return observer->interest ? observer->interest(observer->context, target->pid, pc)
				  : INTEREST_EQUAL;
}

/* One of `count`, each as likely as it is interesting; 0 when none is. */
static uint64_t choose_weighted(struct target *target, const uint64_t *pc, unsigned count,
				unsigned *interest)
{
	uint64_t weight[CHOICES_MAX];
	unsigned drawn;

	for (unsigned i = 0; i < count; i++)
		weight[i] = code_interest(target, pc[i]);
	drawn = control_draw(target->control, weight, count);
	if (drawn == count)
		return 0;
	*interest = (unsigned)weight[drawn];
	return pc[drawn];
}

/* A function is drawn first, so that each has its turn, then one of its instructions; one of little
 * interest is drawn again as a rule. */
static uint64_t choose_instruction(struct target *target, const struct places *places,
				   uint64_t *place)
{
	static struct choices choices; /* one thread; too large for comfort on the stack */
	uint64_t start, end, best = 0;
	unsigned best_interest = 0;

	for (int attempt = 0; attempt < 4; attempt++) {
		unsigned interest = 0;
		uint64_t pc;

		choices.count = choices.call_count = 0;
		if (!choose_function(target, places, &start, &end, &choices))
			continue;
		pc = choose_weighted(target, choices.pc, choices.count, &interest);
		if (interest <= best_interest)
			continue;
		best = pc;
		best_interest = interest;
		*place = choices.place;
		if (control_random(target->control) % INTEREST_EQUAL < interest)
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

/* The thread that was there, or, since threads that often get a CPU all do the same, another. */
static const struct thread_rate *thread_for(struct target *target, const struct promise *promise,
					    uint64_t now)
{
	const struct thread_rate *thread = brief_find(target, promise->tid, now);

	if (thread || brief_calm(target, promise->tid))
		return thread;
	thread = brief_choose(target, now);
	return thread && !brief_calm(target, thread->tid) ? thread : NULL;
}

static bool choose_promised(struct target *target, uint64_t now, struct code_choice *choice)
{
	unsigned interest;
	struct promise *promise = promises_choose(target, &interest);
	const struct thread_rate *thread = promise ? thread_for(target, promise, now) : NULL;

	if (!thread)
		return false;
	promise->tries += promise->changes > 0;
	choice->thread = *thread;
	fill(target, promise->pc, 1, brief_hold(target), &choice->watch);
	return true;
}

bool code_choose_single(struct target *target, uint64_t now, struct code_choice *choice)
{
	struct control *control = target->control;
	const struct thread_rate *thread;
	const struct places *starts;
	uint64_t pc;

	*choice = (struct code_choice){0};
	if (choose_promised(target, now, choice))
		return true;
	thread = brief_choose(target, now);
	if (!thread)
		return false;
	choice->thread = *thread;
	/* Who seldom comes by is waited for long, and probes do not see all. */
	choice->probe = !brief_calm(target, thread->tid) || control_random(control) % CALM_PROBES;
	starts = code_starts(target, thread->tid);
	choice->start = choice->probe && starts->used && control_random(control) % START_PARTS;
	if (choice->start)
		pc = choice->place = places_draw_sharply(control, starts);
	else
		pc = choose_instruction(target, code_places(target, thread->tid), &choice->place);
	fill(target, pc, 1, brief_hold(target), &choice->watch);
	return pc;
}

bool code_choose(struct target *target, struct code_choice *choice)
{
	unsigned interest = 0;
	const struct promise *promise = promises_choose(target, &interest);
	uint64_t pc = promise ? promise->pc : 0, hold = COLD_HOLD;

	*choice = (struct code_choice){0};
	if (promise && interest > INTEREST_EQUAL && !target->control->sleepy)
		hold = PROMISING_HOLD;
	if (!pc)
		pc = choose_instruction(target, &target->places, &choice->place);
	fill(target, pc, 3, hold, &choice->watch);
	return pc;
}

void code_tell(struct target *target, const struct slot *slot, bool worth)
{
	if (slot->place)
		places_tell(slot->start ? code_starts(target, slot->only)
					: code_places(target, slot->only),
			    slot->place, worth);
}

void code_unwatched(struct target *target, const struct slot *slot)
{
	bool came = atomic_load(&target->shared->slot[slot->index].hits);

	/* What came of a probe is told at its end. */
	if (!(came && slot->probes))
		code_tell(target, slot, came);
}

/* Functions reached through pointers are found by asking a thread that is about to call one. */
static void note_callee(struct target *target, const struct hit *hit)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	uint64_t pc = hit->access.pc, place, length, callee = 0;
	struct insn_registers registers = hit_registers(&hit->stack.registers);
	size_t available = space_code(target->space, pc, bytes, sizeof(bytes));
	struct insn insn;

	if (insn_decode(bytes, available, pc, &insn) || insn.flow != INSN_FLOW_CALL_INDIRECT)
		return;
	if (insn.target_register >= 0)
		callee = registers.general[insn.target_register];
	else if (insn_operand_before(&insn, 0, &registers, &place, &length) ||
		 space_read(target->space, place, &callee, sizeof(callee)) != sizeof(callee))
		return;
	if (is_interesting(target, callee))
		code_note(target, hit->access.tid, callee);
}

bool code_is_shareable(struct target *target, const struct hit *hit, uint64_t address)
{
	uint64_t stack = hit->stack.registers.general[4];

	return address >= 4096 && !(address >> 47) &&
	       !(address >= stack - 128 && address < stack + 65536) &&
	       space_writable(target->space, address);
}

static unsigned aligned_length(uint64_t address, uint64_t length)
{
	unsigned result = 8;

	while (result > length || address % result)
		result /= 2;
	return result;
}

/* At a call that leaves the program's own code: what it is handed to read or write. */
static bool watch_argument(struct target *target, const struct hit *hit, struct tl_watch *watch)
{
	uint64_t argument =
		hit->stack.registers.general[control_random(target->control) & 1 ? 7 : 6];

	if (!code_is_shareable(target, hit, argument))
		return false;
	watch->address = argument & ~7ull;
	watch->length = 8;
	watch->access = TL_READ | TL_WRITE;
	return true;
}

/* Who called it is looked at next. */
static void note_calm(struct target *target, const struct hit *hit)
{
	struct calm_thread *thread = brief_calm(target, hit->access.tid);

	if (!thread)
		return;
	note_stack(target, &thread->places, hit->stack.registers.general[4]);
}

void code_came(struct target *target, const struct hit *hit)
{
	note_calm(target, hit);
	code_note(target, hit->access.tid, hit->access.pc);
	note_callee(target, hit);
}

/* Whoever comes by while the first is held is enough. */
static void shorten(struct target *target, struct tl_watch *watch)
{
	watch->widen = false;
	watch->hits = BRIEF_HITS;
	watch->hold = BRIEF_HOLD;
	watch->window = brief_hold(target);
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
	/* Another's read conflicts with a write only. */
	watch->access = hit->access.access & TL_WRITE ? TL_READ | TL_WRITE : TL_WRITE;
	watch->widen = watch->access == TL_WRITE && !arms_slowly(target);
	if (target->brief.single)
		shorten(target, watch);
	return true;
}
