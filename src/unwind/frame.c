/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/frame.h"

#include <errno.h>

#include "unwind/expression.h"

struct application {
	const struct bytes *section;
	const struct cfi_entry *entry;
	const struct cfi_row *row;
	const struct unwind_registers *callee;
	struct memory *memory;
	uint64_t frame;
};

static bool is_known(const struct unwind_registers *registers, unsigned number)
{
	return number < UNWIND_REGISTER_COUNT && registers->known >> number & 1;
}

/* What the calling convention lets a function change without restoring it. */
static bool is_clobbered(unsigned number)
{
	return number != UNWIND_SP && !(unwind_arch.kept >> number & 1);
}

static int find_frame(struct application *application)
{
	const struct cfi_row *row = application->row;

	if (row->frame_register == CFI_FRAME_BY_EXPRESSION)
		return expression_evaluate(application->section, (uint32_t)row->frame_operand,
					   application->callee, NULL, application->memory,
					   &application->frame);
	if (!is_known(application->callee, row->frame_register))
		return -EINVAL;
	application->frame =
		application->callee->value[row->frame_register] + (uint64_t)row->frame_operand;
	return 0;
}

static int read_saved(struct application *application, uint64_t address, uint64_t *value)
{
	return memory_read(application->memory, address, value, sizeof(*value));
}

/*
 * A slot that holds a register lies in the frame (or the red zone below it), signal frames aside.
 * GCC 12 (x86-64) leaves rbp's rule in force after the epilogue of a realigned function popped it,
 * so that the slot is computed from the caller's rbp: the register then still has its value.
 */
static bool is_stale_slot(const struct application *application, uint64_t address)
{
	uint64_t stack = application->callee->value[UNWIND_SP];

	return !application->entry->signal_frame && is_known(application->callee, UNWIND_SP) &&
	       stack < application->frame &&
	       (address + unwind_arch.red_zone < stack || address >= application->frame);
}

static int find_by_expression(struct application *application, unsigned number, uint64_t *value)
{
	bool is_slot = application->row->rule[number] == CFI_EXPRESSION;
	uint64_t result;
	int status = expression_evaluate(application->section,
					 (uint32_t)application->row->operand[number],
					 application->callee, &application->frame,
					 application->memory, &result);

	if (status)
		return status;
	if (is_slot && is_stale_slot(application, result)) {
		*value = application->callee->value[number];
		return !is_known(application->callee, number);
	}
	if (is_slot)
		return read_saved(application, result, value);
	*value = result;
	return 0;
}

/* 0 and the value in the caller, 1 where it is not known, or -errno. */
static int find_register(struct application *application, unsigned number, uint64_t *value)
{
	int32_t operand = application->row->operand[number];

	switch ((enum cfi_rule)application->row->rule[number]) {
	case CFI_UNSPECIFIED:
		if (number == UNWIND_SP) {
			*value = application->frame;
			return 0;
		}
		if (is_clobbered(number))
			return 1;
		/* fallthrough */
	case CFI_SAME:
		*value = application->callee->value[number];
		return !is_known(application->callee, number);
	case CFI_UNDEFINED:
		return 1;
	case CFI_OFFSET:
		return read_saved(application, application->frame + (uint64_t)operand, value);
	case CFI_VALUE_OFFSET:
		*value = application->frame + (uint64_t)operand;
		return 0;
	case CFI_REGISTER:
		if (!is_known(application->callee, (unsigned)operand))
			return 1;
		*value = application->callee->value[operand];
		return 0;
	case CFI_EXPRESSION:
	case CFI_VALUE_EXPRESSION:
		return find_by_expression(application, number, value);
	}
	return -EINVAL;
}

int frame_apply(const struct bytes *section, const struct cfi_entry *entry,
		const struct cfi_row *row, struct memory *memory,
		struct unwind_registers *registers)
{
	struct application application = {section, entry, row, registers, memory, 0};
	struct unwind_registers caller;
	int status = find_frame(&application);

	if (status)
		return status;
	caller.known = 0;
	for (unsigned i = 0; i < UNWIND_REGISTER_COUNT; i++) {
		caller.value[i] = 0;
		status = find_register(&application, i, &caller.value[i]);
		if (status < 0 && i == entry->return_register)
			return status;
		caller.known |= (uint32_t)!status << i;
	}
	if (!is_known(&caller, entry->return_register))
		return 1;
	caller.value[UNWIND_PC] = caller.value[entry->return_register];
	caller.known |= 1u << UNWIND_PC;
	caller.interrupted = entry->signal_frame;
	*registers = caller;
	return 0;
}

bool frame_is_return_address(struct memory *memory, uint64_t address)
{
	uint8_t before[UNWIND_WINDOW_MOST] = {0};
	const size_t window = unwind_arch.call_window;
	size_t length = window, in_page = address % 4096;

	/* Generated code may begin its mapping within these bytes. */
	if (memory_read(memory, address - length, before, length)) {
		length = in_page < length ? in_page : 0;
		if (!length ||
		    memory_read(memory, address - length, before + window - length, length))
			return false;
	}
	return unwind_arch.ends_with_call(before);
}

/* Called through a bad pointer: nothing ran here, the return address is where the call put it. */
static int undo_call(struct memory *memory, struct unwind_registers *registers)
{
	uint64_t return_address;

	if (!unwind_arch.calls_push) {
		if (!is_known(registers, unwind_arch.link))
			return -ENOENT;
		return_address = registers->value[unwind_arch.link];
	} else if (memory_read(memory, registers->value[UNWIND_SP], &return_address, 8)) {
		return -ENOENT;
	}
	if (!frame_is_return_address(memory, return_address))
		return -ENOENT;
	registers->value[UNWIND_PC] = return_address;
	registers->value[UNWIND_SP] += unwind_arch.calls_push ? 8 : 0;
	registers->interrupted = 0;
	return 0;
}

int frame_follow_pointer(struct memory *memory, struct unwind_registers *registers)
{
	uint64_t frame = registers->value[UNWIND_FP], saved[2];
	uint8_t code;

	if (!is_known(registers, UNWIND_SP))
		return -ENOENT;
	if (registers->interrupted && memory_read(memory, registers->value[UNWIND_PC], &code, 1))
		return undo_call(memory, registers);
	if (!is_known(registers, UNWIND_FP) || frame < registers->value[UNWIND_SP] ||
	    frame % 8 != 0 || memory_read(memory, frame, saved, sizeof(saved)) ||
	    !frame_is_return_address(memory, saved[1]))
		return -ENOENT;
	registers->value[UNWIND_FP] = saved[0];
	registers->value[UNWIND_SP] = frame + unwind_arch.frame_words * sizeof(*saved);
	registers->value[UNWIND_PC] = saved[1];
	registers->known = 1u << UNWIND_FP | 1u << UNWIND_SP | 1u << UNWIND_PC;
	registers->interrupted = 0;
	return 0;
}
