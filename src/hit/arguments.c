/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a function was called with, told while a thread stands in its midst: from registers that
 * still hold it (insn/origin.h), or by carrying out anew the straight code in front of the call,
 * from what its caller's frame still has. So is the number of a system call told.
 */
#include "hit/arguments.h"

#include "hit/stack.h"
#include "insn/forward.h"

#include "insn/origin.h"
#include "process/entries.h"
#include "symbol/stack.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define ANSWERS 64
#define CALLER_MOST 16384 /* bytes of a caller's code that are looked through */
#define CALL_STEPS 32	  /* from the call to the function: stubs, and one that looks on */
#define STARTS_MOST 16	  /* instructions in front of the call */
#define ALL_KNOWN ((1u << C_ARGUMENTS) - 1)

_Static_assert(C_ARGUMENTS <= INSN_FUNCTION_ARGUMENTS, "insn/hooks.h");

/* The kept analysis of one pc of one process: its code seldom changes, and where it did, an
 * argument is told wrongly at worst. */
struct answer {
	uint64_t pc;
	pid_t pid;
	bool known;
	struct insn_origin origin[INSN_GENERAL];
};

static bool origins(struct space *space, uint64_t start, size_t length, uint64_t pc,
		    struct insn_origin origin[INSN_GENERAL])
{
	struct insn_origin_work *work;
	struct insn_entries entries;
	uint8_t *code;
	bool known;

	if (length > INSN_ORIGIN_CODE || entries_find(space, start, start + length, &entries))
		return false;
	work = malloc(sizeof(*work));
	code = malloc(length);
	known = work && code && space_code(space, start, code, length) == length &&
		insn_origins(code, length, pc - start, &entries, work, origin) == 0;
	free(work);
	free(code);
	return known;
}

static const struct answer *answer_for(const struct arguments_place *place)
{
	static struct answer answers[ANSWERS]; /* one thread */
	uint64_t pc = place->registers->pc;
	struct answer *answer = &answers[pc % ANSWERS];

	if (answer->pc != pc || answer->pid != place->pid) {
		answer->pc = pc;
		answer->pid = place->pid;
		answer->known = origins(place->space, place->start, place->end - place->start, pc,
					answer->origin);
	}
	return answer;
}

/* Takes each argument from the lowest register that still holds it. */
static void from_registers(const struct arguments_place *place, struct c_call *call)
{
	const struct answer *answer = answer_for(place);

	if (!answer->known)
		return;
	for (int i = C_ARGUMENTS - 1; i >= 0; i--) {
		const int number = insn_arch.function_argument[i];

		for (int j = INSN_GENERAL - 1; j >= 0; j--)
			if (answer->origin[j].number == number) {
				call->argument[i] = place->registers->general[j] -
						    (uint64_t)(int64_t)answer->origin[j].offset;
				call->known |= 1u << i;
			}
	}
}

/* Finds where the straight code begins that ends with the call before `back`: no branch leads into
 * it except to its start. `code`: `length` bytes before `back`, of `all` bytes of the function. */
static bool find_straight(const uint8_t *code, size_t all, uint64_t start, uint64_t back,
			  uint64_t *begin, uint64_t *call)
{
	size_t length = back - start, last = 0;
	struct insn insn;

	*begin = start;
	for (size_t at = 0; at < all; at += insn.length) {
		if (insn_decode(code + at, all - at, start + at, &insn) ||
		    insn.flow == INSN_FLOW_JUMP_INDIRECT)
			return false;
		if (at < length)
			last = at;
		if (insn.flow != INSN_FLOW_NEXT && at + insn.length < length &&
		    start + at + insn.length > *begin)
			*begin = start + at + insn.length;
		if (insn.flow == INSN_FLOW_BRANCH && (uint64_t)insn.target > *begin &&
		    (uint64_t)insn.target < back)
			*begin = (uint64_t)insn.target;
	}
	*call = start + last;
	return *begin <= *call;
}

struct reading {
	const struct arguments_place *place;
	const struct symbol_stack_source *stack;
	bool calling; /* at the call itself, whose read says where it leads */
};

/* Reads from the copy of the stack, and from memory that the program cannot change. */
static int read_kept(void *context, uint64_t address, void *to, size_t length)
{
	const struct reading *reading = context;
	uint64_t offset = address - reading->stack->copy_address;

	if (offset < reading->stack->copy_length &&
	    length <= reading->stack->copy_length - offset) {
		memcpy(to, (const uint8_t *)reading->stack->copy + offset, length);
		return 0;
	}
	if (!reading->calling && space_writable(reading->place->space, address))
		return -1;
	return space_read(reading->place->space, address, to, length) == (ssize_t)length ? 0 : -1;
}

static void tell_nobody(void *context, const struct insn_forward_access *access)
{
	(void)context;
	(void)access;
}

static bool step(struct space *space, struct insn_forward *forward)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = space_code(space, forward->pc, bytes, sizeof(bytes));
	bool leaves;

	return insn_forward_step(forward, bytes, available, &leaves) == 0;
}

/* Makes the registers at `begin` from those at the call's return: those that the code between
 * writes are not known, except the stack pointer. */
static void go_back(struct space *space, const struct symbol_registers *caller, uint64_t begin,
		    uint64_t call, struct insn_forward *forward)
{
	uint16_t kept = INSN_KEPT_BY_CALLS;
	uint8_t bytes[INSN_MAX_LENGTH];
	int64_t pushed = 0;
	struct insn insn;

	for (uint64_t at = begin; at < call; at += insn.length) {
		size_t available = space_code(space, at, bytes, sizeof(bytes));

		if (insn_decode(bytes, available, at, &insn))
			return;
		if (insn.stack_change_known)
			pushed += insn.stack_change;
		kept &= (uint16_t) ~(insn.stack_change_known
					     ? insn.written_registers &
						       ~(1u << insn_arch.stack_pointer)
					     : insn.written_registers);
	}
	for (unsigned i = 0; i < 16; i++)
		if ((kept >> i & 1) && symbol_register_known(caller, symbol_register_encoded(i))) {
			forward->general[i] = caller->value[symbol_register_encoded(i)];
			forward->known |= (uint16_t)(1u << i);
		}
	forward->general[insn_arch.stack_pointer] -= (uint64_t)pushed;
}

/* Carries out straight code up to the instruction at `end`. */
static bool step_to(struct reading *reading, struct insn_forward *forward, uint64_t end)
{
	uint64_t begin = forward->pc;

	reading->calling = false;
	while (forward->pc != end)
		if (forward->pc < begin || forward->pc > end ||
		    !step(reading->place->space, forward))
			return false;
	return true;
}

/* The path from the call to the function. */
struct way {
	struct reading *reading;
	struct insn_forward *forward;
	uint64_t frame_end; /* the stack pointer at the function's entry */
	bool frame_known;
	bool looked_on; /* an interposed entry called something on the way */
};

static bool stack_known(const struct insn_forward *forward)
{
	return forward->known >> insn_arch.stack_pointer & 1;
}

/* Does the entry on the way hand out a pointer into its frame? Then what it calls may change what
 * is kept there. */
static bool hands_out_frame(const struct way *way)
{
	const struct insn_forward *forward = way->forward;
	uint64_t frame = forward->general[insn_arch.stack_pointer];

	for (int i = 0; i < INSN_FUNCTION_ARGUMENTS; i++) {
		unsigned number = insn_arch.function_argument[i];

		if ((forward->known >> number & 1) && forward->general[number] >= frame &&
		    forward->general[number] < way->frame_end)
			return true;
	}
	return false;
}

/*
 * Carries out one instruction. Interposed entries (AGENT_ENTRY of agent/hooks.h) may stand between
 * call and function: they keep their arguments, call something that says where to go on, and leave
 * by a jump. What they call has no part in their frame. Where it leads cannot be foretold, but the
 * caller of the function is known, so they did not call it.
 */
static bool step_way(struct way *way)
{
	struct insn_forward *forward = way->forward;
	struct space *space = way->reading->place->space;
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = space_code(space, forward->pc, bytes, sizeof(bytes));
	bool leaves;
	struct insn insn;

	if (insn_decode(bytes, available, forward->pc, &insn))
		return false;
	if (insn.flow == INSN_FLOW_CALL || insn.flow == INSN_FLOW_CALL_INDIRECT) {
		if (!way->frame_known || !stack_known(forward) || hands_out_frame(way))
			return false;
		forward->pc += insn.length;
		forward->known &= INSN_KEPT_BY_CALLS;
		forward->flags_known = false;
		way->looked_on = true;
		return true;
	}
	/* What a stub reads says where it leads; any other memory may have changed since. */
	way->reading->calling = insn.flow == INSN_FLOW_JUMP_INDIRECT;
	if (insn_forward_step(forward, bytes, available, &leaves) == 0)
		return !forward->other;
	if (!way->looked_on || insn.flow != INSN_FLOW_JUMP_INDIRECT || !stack_known(forward) ||
	    forward->general[insn_arch.stack_pointer] != way->frame_end)
		return false;
	forward->pc = way->reading->place->start;
	return true;
}

/* Finds the arguments that the function is entered with, directly or through stubs; none are known
 * where the path does not lead to the function. */
static void carry_out(struct reading *reading, struct insn_forward *forward, uint64_t at_call,
		      struct c_call *call)
{
	const struct arguments_place *place = reading->place;
	struct way way = {.reading = reading, .forward = forward};

	if (!step_to(reading, forward, at_call))
		return;
	reading->calling = true;
	if (!step(place->space, forward))
		return;
	way.frame_end = forward->general[insn_arch.stack_pointer];
	way.frame_known = stack_known(forward);
	for (int i = 0; i < CALL_STEPS && forward->pc != place->start; i++)
		if (!step_way(&way))
			return;
	if (forward->pc != place->start)
		return;
	for (int i = 0; i < C_ARGUMENTS; i++)
		if (!(call->known >> i & 1) &&
		    (forward->known >> insn_arch.function_argument[i] & 1)) {
			call->argument[i] = forward->general[insn_arch.function_argument[i]];
			call->known |= 1u << i;
		}
}

/* Tries from each instruction of the straight code on, the earliest first: registers that a later
 * one overwrites are known from there on. */
static void from_code(struct reading *reading, const struct symbol_registers *caller,
		      uint64_t begin, uint64_t at_call, struct c_call *call)
{
	struct space *space = reading->place->space;
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;

	for (int i = 0; i < STARTS_MOST && begin <= at_call && call->known != ALL_KNOWN; i++) {
		struct insn_forward forward = {
			.pc = begin, .read = read_kept, .tell = tell_nobody, .context = reading};

		go_back(space, caller, begin, at_call, &forward);
		carry_out(reading, &forward, at_call, call);
		if (insn_decode(bytes, space_code(space, begin, bytes, sizeof(bytes)), begin,
				&insn))
			return;
		begin += insn.length;
	}
}

static void from_call(const struct arguments_place *place, const struct tl_stack *stack,
		      struct c_call *call)
{
	struct symbol_stack_frame frames[2];
	struct symbol_stack_source source = hit_stack_source(stack, NULL);
	struct reading reading = {.place = place, .stack = &source};
	uint64_t start, end, begin, at_call, back;
	bool complete;
	uint8_t *code;

	if (symbol_stack_unwind(space_modules(place->space), &source, frames, 2, &complete) < 2 ||
	    frames[0].guessed || frames[0].signal)
		return;
	back = frames[1].pc;
	if (space_whole_function(place->space, back - 1, &start, &end) || back <= start ||
	    back > end || end - start > CALLER_MOST)
		return;
	code = malloc(end - start);
	if (code && space_code(place->space, start, code, end - start) == end - start &&
	    find_straight(code, end - start, start, back, &begin, &at_call))
		from_code(&reading, &frames[1].registers, begin, at_call, call);
	free(code);
}

void arguments_recover(const struct arguments_place *place, const struct tl_stack *stack,
		       struct c_call *call)
{
	call->known = 0;
	from_registers(place, call);
	if (call->known != ALL_KNOWN && stack)
		from_call(place, stack, call);
}

/* ---- the number of a system call ------------------------------------------------------------- */

/* Carries out, as above, the straight code in front of the instruction that enters the kernel,
 * which leaves the thread's registers as they are except for a few that no call keeps. */
static bool number_from_code(struct reading *reading, const uint8_t *code, uint64_t call_pc,
			     uint64_t *number)
{
	const struct arguments_place *place = reading->place;
	const uint8_t in = insn_arch.call_number;
	uint8_t bytes[INSN_MAX_LENGTH];
	uint64_t begin, at_call;
	struct insn insn;

	if (!find_straight(code, place->end - place->start, place->start,
			   call_pc + insn_arch.call_length, &begin, &at_call) ||
	    at_call != call_pc)
		return false;
	for (int i = 0; i < STARTS_MOST && begin <= call_pc; i++, begin += insn.length) {
		struct insn_forward forward = {
			.pc = begin, .read = read_kept, .tell = tell_nobody, .context = reading};

		go_back(place->space, &reading->stack->registers, begin, call_pc, &forward);
		if (step_to(reading, &forward, call_pc) && (forward.known >> in & 1)) {
			*number = forward.general[in];
			return true;
		}
		if (insn_decode(bytes, space_code(place->space, begin, bytes, sizeof(bytes)), begin,
				&insn))
			return false;
	}
	return false;
}

/* The number as an argument of the function: of syscall(2), and of the function by which glibc
 * makes system calls that end with a thread's cancellation. */
static bool number_from_call(const struct arguments_place *place, const struct tl_stack *stack,
			     uint64_t call_pc, uint64_t *number)
{
	struct insn_registers before = *place->registers;
	struct arguments_place at_call = *place;
	const struct insn_origin *origin;
	const struct answer *answer;
	struct c_call call = {0};

	before.pc = call_pc;
	at_call.registers = &before;
	answer = answer_for(&at_call);
	origin = &answer->origin[insn_arch.call_number];
	if (!answer->known || origin->number == INSN_ORIGIN_NONE)
		return false;
	for (unsigned i = 0; i < C_ARGUMENTS; i++) {
		if (origin->number != (int)insn_arch.function_argument[i])
			continue;
		*number = (uint64_t)(int64_t)origin->offset;
		arguments_recover(place, stack, &call);
		*number += call.argument[i];
		return call.known >> i & 1;
	}
	return false;
}

int arguments_call_number(const struct arguments_place *place, const struct tl_stack *stack)
{
	const uint64_t call_pc = place->registers->pc - insn_arch.call_length;
	struct symbol_stack_source source = hit_stack_source(stack, NULL);
	struct reading reading = {.place = place, .stack = &source};
	size_t length = place->end - place->start;
	bool known = false;
	uint64_t number;
	uint8_t *code;

	if (call_pc < place->start || call_pc >= place->end || length > CALLER_MOST)
		return -1;
	code = malloc(length);
	known = code && space_code(place->space, place->start, code, length) == length &&
		(number_from_code(&reading, code, call_pc, &number) ||
		 number_from_call(place, stack, call_pc, &number));
	free(code);
	return known && number <= INT_MAX ? (int)number : -1;
}
