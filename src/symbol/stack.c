/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/stack.h"

#include "dwarf/row.h"
#include "elf/object.h"
#include "session/asking.h"
#include "session/session.h"

#include <errno.h>
#include <string.h>

static int read_stack(void *context, uint64_t address, void *to, size_t length)
{
	const struct symbol_stack_source *source = context;
	uint64_t offset = address - source->copy_address;

	if (offset <= source->copy_length && length <= source->copy_length - offset) {
		memcpy(to, (const uint8_t *)source->copy + offset, length);
		return 0;
	}
	return symbol_memory_read(source->memory, address, to, length);
}

static bool is_code(struct symbol_modules *modules, uint64_t address)
{
	const struct symbol_module *module = symbol_modules_find(modules, address);
	struct symbol_object *object = module ? symbol_module_object(modules, module) : NULL;

	return object && symbol_image_is_code(&object->image, address - module->bias);
}

/* After a call through a bad pointer, the return address is still on top of the stack. */
static bool guess_from_top(struct symbol_modules *modules, const struct symbol_memory *memory,
			   const struct symbol_registers *registers,
			   struct symbol_registers *caller)
{
	uint64_t pc;

	if (!symbol_register_known(registers, SYMBOL_SP) ||
	    symbol_memory_read(memory, registers->value[SYMBOL_SP], &pc, sizeof(pc)) < 0 ||
	    !is_code(modules, pc))
		return false;
	*caller = *registers;
	symbol_register_set(caller, SYMBOL_PC, pc);
	symbol_register_set(caller, SYMBOL_SP, registers->value[SYMBOL_SP] + 8);
	return true;
}

/* Generated code without unwind information usually keeps a frame pointer; the caller's place is
 * taken from it. */
static bool guess_from_frame_pointer(const struct symbol_memory *memory,
				     const struct symbol_registers *registers,
				     struct symbol_registers *caller)
{
	uint64_t pair[2], frame = registers->value[SYMBOL_FP];

	if (!symbol_register_known(registers, SYMBOL_FP) ||
	    !symbol_register_known(registers, SYMBOL_SP) || frame % 8 ||
	    frame < registers->value[SYMBOL_SP] ||
	    symbol_memory_read(memory, frame, pair, sizeof(pair)) < 0)
		return false;
	memset(caller, 0, sizeof(*caller));
	symbol_register_set(caller, SYMBOL_FP, pair[0]);
	symbol_register_set(caller, SYMBOL_PC, pair[1]);
	symbol_register_set(caller, SYMBOL_SP, frame + 16);
	return true;
}

enum outcome { STEPPED, OUTERMOST, LOST };

static enum outcome guess(struct symbol_modules *modules, const struct symbol_memory *memory,
			  struct symbol_stack_frame *frame, struct symbol_registers *caller)
{
	frame->guessed = true;
	if (!frame->return_address && !is_code(modules, frame->pc) &&
	    guess_from_top(modules, memory, &frame->registers, caller))
		return STEPPED;
	return guess_from_frame_pointer(memory, &frame->registers, caller) ? STEPPED : LOST;
}

static enum outcome step(struct symbol_modules *modules, const struct symbol_memory *memory,
			 struct symbol_stack_frame *frame, struct symbol_registers *caller)
{
	uint64_t address = frame->pc - frame->return_address;
	const struct symbol_module *module = symbol_modules_find(modules, address);
	struct symbol_object *object = module ? symbol_module_object(modules, module) : NULL;
	const struct symbol_row *row = object ? symbol_row_find(object, address - module->bias)
					      : NULL;

	if (!row)
		return guess(modules, memory, frame, caller);
	frame->signal = row->signal;
	/* Nobody has called the kernel's trampoline: pc is its first byte, to which the handler
	 * returns. */
	frame->return_address &= !row->signal;
	if (symbol_row_apply(row, &frame->registers, memory, module->bias, caller, &frame->cfa) < 0)
		return LOST;
	frame->has_cfa = true;
	if (!symbol_register_known(caller, SYMBOL_PC))
		return row->frame || row->no_return ? OUTERMOST : LOST;
	return STEPPED;
}

/* A stack grows down, so a caller's frame is above. A handler of a signal may have a stack of its
 * own. */
static bool goes_up(const struct symbol_stack_frame *frame, const struct symbol_registers *caller)
{
	if (frame->signal || !symbol_register_known(&frame->registers, SYMBOL_SP))
		return true;
	return caller->value[SYMBOL_SP] > frame->registers.value[SYMBOL_SP];
}

size_t symbol_stack_unwind(struct symbol_modules *modules, const struct symbol_stack_source *source,
			   struct symbol_stack_frame *frames, size_t max, bool *complete)
{
	struct symbol_session *session = symbol_modules_session(modules);
	struct symbol_memory memory = {read_stack, (void *)source};
	struct symbol_registers registers = source->registers;
	enum outcome outcome = LOST;
	bool return_address = false;
	size_t count = 0;

	if (SYMBOL_ASK(symbol_modules_session(modules), stack, modules, source, frames, max,
		       complete, &count))
		return count;
	symbol_count(session, SYMBOL_STATISTIC_STACKS);
	while (count < max) {
		struct symbol_stack_frame *frame = &frames[count++];

		memset(frame, 0, sizeof(*frame));
		frame->registers = registers;
		frame->pc = registers.value[SYMBOL_PC];
		frame->return_address = return_address;
		outcome = step(modules, &memory, frame, &registers);
		if (outcome == STEPPED && registers.value[SYMBOL_PC] == 0)
			outcome = OUTERMOST;
		if (outcome == STEPPED && !goes_up(frame, &registers))
			outcome = LOST;
		if (outcome != STEPPED)
			break;
		return_address = !frame->signal;
	}
	*complete = outcome == OUTERMOST;
	if (!*complete)
		symbol_count(session, SYMBOL_STATISTIC_STACKS_INCOMPLETE);
	return count;
}
