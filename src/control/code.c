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
#define INTEREST_EQUAL 32     /* of an instruction that nobody has an opinion of */
#define COLD_HOLD MILLISECOND /* code found this way may run seldom: others come seldom too */
#define CALM_HOLD \
	(3 * MILLISECOND / 2) /* of a thread that seldom runs, so that busy ones come by */
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

void code_note(struct target *target, pid_t tid, uint64_t pc)
{
	struct calm_thread *thread = calm_find(target, tid);

	places_note(target->control, &target->places, pc);
	if (thread)
		places_note(target->control, &thread->places, pc);
}

void code_promise(struct target *target, uint64_t pc)
{
	struct control *control = target->control;
	unsigned place;

	if (space_is_libc(target->space, pc))
		return;
	for (unsigned i = 0; i < target->promising_used; i++)
		if (target->promising[i] == pc)
			return;
	place = target->promising_used < PROMISING_MAX
			? target->promising_used++
			: (unsigned)(control_random(control) % PROMISING_MAX);
	target->promising[place] = pc;
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
			look_at_thread(target, &target->places, chosen[i]);
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

/* Its argument is a lock, or memory that is nobody's: held there, a thread meets no race. */
static bool orders_threads(struct space *space, uint64_t function)
{
	static const char *const stems[] = {"pthread_",	     "sem_",	       "mtx_",
					    "cnd_",	     "call_once",      "malloc",
					    "calloc",	     "free",	       "realloc",
					    "aligned_alloc", "posix_memalign", "sched_",
					    "nanosleep",     "clock_"};
	const char *name = space_function_name(space, function);

	while (name && *name == '_')
		name++;
	for (size_t i = 0; name && i < sizeof(stems) / sizeof(stems[0]); i++)
		if (strncmp(name, stems[i], strlen(stems[i])) == 0)
			return true;
	return false;
}

static void consider(struct choices *choices, const struct insn *insn, uint64_t pc)
{
	bool leaves = false;

	if (insn->flow == INSN_FLOW_CALL && choices->call_count < 64) {
		uint64_t target = behind_stub(choices->target->space, (uint64_t)insn->target);

		leaves = !is_interesting(choices->target, target) &&
			 !orders_threads(choices->target->space, target);
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

static unsigned interest_in(struct target *target, uint64_t pc)
{
	const struct control_observer *observer = &target->control->observer;

	return observer->interest ? observer->interest(observer->context, target->pid, pc)
				  : INTEREST_EQUAL;
}

/* One of `count`, each as likely as it is interesting; 0 when none is. */
static uint64_t choose_weighted(struct target *target, const uint64_t *pc, unsigned count,
				unsigned *interest)
{
	unsigned weight[CHOICES_MAX];
	uint64_t sum = 0, at;

	for (unsigned i = 0; i < count; i++) {
		weight[i] = interest_in(target, pc[i]);
		sum += weight[i];
	}
	if (!sum)
		return 0;
	at = control_random(target->control) % sum;
	for (unsigned i = 0; i < count; i++) {
		if (at < weight[i]) {
			*interest = weight[i];
			return pc[i];
		}
		at -= weight[i];
	}
	return 0;
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

bool code_choose_in(struct target *target, struct calm_thread *thread, struct code_choice *choice)
{
	uint64_t pc = choose_instruction(target, &thread->places, &choice->place);

	fill(target, pc, 1, CALM_HOLD, &choice->watch);
	return pc;
}

/* One that promises something, or 0. What was looked at often without a find leaves its turn to
 * others: of few that promise one would always be drawn. */
static uint64_t choose_promising(struct target *target, unsigned *interest)
{
	struct control *control = target->control;
	uint64_t pc;

	if (control_random(control) % 8 >= (is_scarce(control) ? 6 : 4))
		return 0;
	pc = choose_weighted(target, target->promising, target->promising_used, interest);
	return control_random(control) % INTEREST_EQUAL < *interest ? pc : 0;
}

bool code_choose(struct target *target, struct code_choice *choice)
{
	unsigned interest = 0;
	uint64_t pc = choose_promising(target, &interest), hold = COLD_HOLD;

	choice->place = 0;
	if (pc && interest > INTEREST_EQUAL && !target->control->sleepy)
		hold = PROMISING_HOLD;
	if (!pc)
		pc = choose_instruction(target, &target->places, &choice->place);
	fill(target, pc, 3, hold, &choice->watch);
	return pc;
}

void code_unwatched(struct target *target, const struct slot *slot)
{
	struct calm_thread *thread = slot->brief ? calm_find(target, slot->only) : NULL;
	bool came = atomic_load(&target->shared->slot[slot->index].hits);

	if (slot->place)
		places_tell(thread ? &thread->places : &target->places, slot->place, came);
}

/* Functions reached through pointers are found by asking a thread that is about to call one. */
static void note_callee(struct target *target, const struct hit *hit)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	uint64_t pc = hit->access.pc, place, length, callee = 0;
	struct insn_registers registers = {.pc = pc};
	size_t available = space_code(target->space, pc, bytes, sizeof(bytes));
	struct insn insn;

	if (insn_decode(bytes, available, pc, &insn) || insn.flow != INSN_FLOW_CALL_INDIRECT)
		return;
	memcpy(registers.general, hit->stack.registers.general, sizeof(registers.general));
	if (insn.target_register >= 0)
		callee = registers.general[insn.target_register];
	else if (insn_operand_before(&insn, 0, &registers, &place, &length) ||
		 space_read(target->space, place, &callee, sizeof(callee)) != sizeof(callee))
		return;
	if (is_interesting(target, callee))
		code_note(target, hit->access.tid, callee);
}

static bool is_shareable(struct target *target, const struct hit *hit, uint64_t address)
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

	if (!is_shareable(target, hit, argument))
		return false;
	watch->address = argument & ~7ull;
	watch->length = 8;
	watch->access = TL_READ | TL_WRITE;
	return true;
}

/* Who called it is looked at next. */
static void note_calm(struct target *target, const struct hit *hit)
{
	struct calm_thread *thread = calm_find(target, hit->access.tid);

	if (!thread)
		return;
	note_stack(target, &thread->places, hit->stack.registers.general[4]);
}

bool code_hit(struct target *target, const struct hit *hit, struct tl_watch *watch)
{
	*watch = (struct tl_watch){
		.size = sizeof(*watch), .pid = target->pid, .hold = COLD_HOLD, .priority = 60};
	note_calm(target, hit);
	code_note(target, hit->access.tid, hit->access.pc);
	note_callee(target, hit);
	if (!hit->usable)
		return watch_argument(target, hit, watch);
	if (!is_shareable(target, hit, hit->access.address) || hit->access.length == 0)
		return false;
	watch->length = aligned_length(hit->access.address, hit->access.length);
	watch->address = hit->access.address;
	/* Another's read conflicts with a write only. */
	watch->access = hit->access.access & TL_WRITE ? TL_READ | TL_WRITE : TL_WRITE;
	watch->widen = watch->access == TL_WRITE && (target->calm.on || !arms_slowly(target));
	if (target->calm.on)
		watch->window = CALM_HOLD;
	return true;
}
