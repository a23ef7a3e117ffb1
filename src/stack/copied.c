/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/copied.h"

#include "hit/arguments.h"
#include "tool/registers.h"

#define RCX 1
#define RSI 6
#define SOURCE 1 /* arguments of memcpy() and its like */
#define LENGTH 2
#define WORD 8u
#define LOOKED_AT 65536u /* bytes of the source, at most */
#define CALL_MOST 7u	 /* bytes of a call through memory, without prefixes */

struct source {
	uint64_t address, length;
};

/* The source of `movs`: what it has still to copy, and the element that it has copied last.
 * Accepted: it is taken to go upwards. */
static bool find_string(struct space *space, const struct tl_access *access, struct source *source)
{
	const struct tl_registers *registers = access->registers;
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;

	if (insn_decode(bytes, space_code(space, access->pc, bytes, sizeof(bytes)), access->pc,
			&insn) ||
	    !insn.string || insn.operand_count != 2)
		return false;
	source->address = registers->general[RSI] - insn.operand[0].size;
	source->length = ((insn.repeated ? registers->general[RCX] : 0) + 1) * insn.operand[0].size;
	return true;
}

static bool find_call(struct space *space, const struct tl_access *access, struct source *source)
{
	struct insn_registers registers = tool_registers(access->registers, access->registers->pc);
	struct arguments_place place = {
		.space = space, .pid = access->pid, .registers = &registers};
	const char *name = space_function_name(space, access->pc);
	struct c_call call = {.known = 0};

	if (!name || !c_function_copies(name, !space_is_libc(space, access->pc)) ||
	    space_whole_function(space, access->pc, &place.start, &place.end))
		return false;
	arguments_recover(&place, access->stack, &call);
	if (!(call.known >> SOURCE & 1) || !(call.known >> LENGTH & 1))
		return false;
	*source = (struct source){call.argument[SOURCE], call.argument[LENGTH]};
	return true;
}

/* Does the source lie on the same stack? An array there may be copied together with what lies
 * behind it, and that is frames. */
static bool is_on_stack(struct space *space, const struct tl_access *access, uint64_t address)
{
	uint64_t start, end;

	return !space_mapping(space, access->registers->general[SP], &start, &end) ||
	       (address >= start && address < end);
}

static bool is_return_address(struct space *space, uint64_t word)
{
	struct insn before[INSN_MAX_LENGTH];
	uint8_t bytes[CALL_MOST];
	size_t count;

	if (!space_module(space, word) ||
	    space_code(space, word - sizeof(bytes), bytes, sizeof(bytes)) != sizeof(bytes))
		return false;
	count = insn_previous_candidates(bytes, sizeof(bytes), word, before, INSN_MAX_LENGTH);
	for (size_t i = 0; i < count; i++)
		if (before[i].flow == INSN_FLOW_CALL || before[i].flow == INSN_FLOW_CALL_INDIRECT)
			return true;
	return false;
}

static bool has_frames(struct space *space, const struct source *source, uint64_t start,
		       uint64_t end)
{
	static uint64_t words[LOOKED_AT / WORD]; /* one thread; large */
	bool returns = false, points = false;
	ssize_t length =
		space_read(space, source->address, words,
			   source->length < sizeof(words) ? source->length : sizeof(words));

	for (size_t i = 0; length > 0 && i < (size_t)length / WORD; i++) {
		returns |= !returns && is_return_address(space, words[i]);
		points |= words[i] >= start && words[i] < end;
	}
	return returns && points;
}

enum copied copied_what(struct stack *stack, const struct tl_access *access)
{
	struct space *space = stack_space(stack, access->pid);
	struct source source;
	uint64_t start, end;

	if (!space || !access->registers ||
	    (!find_string(space, access, &source) && !find_call(space, access, &source)) ||
	    is_on_stack(space, access, source.address) ||
	    !space_mapping(space, access->registers->general[SP], &start, &end))
		return COPIED_OTHER;
	if (has_frames(space, &source, start, end))
		return COPIED_STACK;
	/* Asked after the source was read: a thread that is still held has not changed it. */
	return stack->services->held(stack->host) ? COPIED_OTHER : COPIED_UNKNOWN;
}
