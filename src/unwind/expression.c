/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/expression.h"

#include <errno.h>

#define STACK_DEPTH 32
#define STEP_LIMIT 1000 /* branches can go backwards */

enum {
	ADDRESS = 0x03,
	DEREFERENCE = 0x06,
	CONSTANT_1U = 0x08,
	CONSTANT_1S = 0x09,
	CONSTANT_2U = 0x0a,
	CONSTANT_2S = 0x0b,
	CONSTANT_4U = 0x0c,
	CONSTANT_4S = 0x0d,
	CONSTANT_8U = 0x0e,
	CONSTANT_8S = 0x0f,
	CONSTANT_ULEB = 0x10,
	CONSTANT_SLEB = 0x11,
	DUPLICATE = 0x12,
	DROP = 0x13,
	OVER = 0x14,
	PICK = 0x15,
	SWAP = 0x16,
	ROTATE = 0x17,
	ABSOLUTE = 0x19,
	AND = 0x1a,
	DIVIDE = 0x1b,
	MINUS = 0x1c,
	MODULO = 0x1d,
	MULTIPLY = 0x1e,
	NEGATE = 0x1f,
	NOT = 0x20,
	OR = 0x21,
	PLUS = 0x22,
	PLUS_CONSTANT = 0x23,
	SHIFT_LEFT = 0x24,
	SHIFT_RIGHT = 0x25,
	SHIFT_RIGHT_SIGNED = 0x26,
	EXCLUSIVE_OR = 0x27,
	BRANCH = 0x28,
	EQUAL = 0x29,
	GREATER_OR_EQUAL = 0x2a,
	GREATER = 0x2b,
	LESS_OR_EQUAL = 0x2c,
	LESS = 0x2d,
	NOT_EQUAL = 0x2e,
	SKIP = 0x2f,
	LITERAL_0 = 0x30,
	LITERAL_31 = 0x4f,
	REGISTER_0 = 0x50,
	REGISTER_31 = 0x6f,
	BASE_REGISTER_0 = 0x70,
	BASE_REGISTER_31 = 0x8f,
	REGISTER_X = 0x90,
	BASE_REGISTER_X = 0x92,
	DEREFERENCE_SIZE = 0x94,
	NOP = 0x96,
	ENCODED_ADDRESS = 0xf1, /* GNU extension */
};

struct evaluation {
	struct bytes code;
	const struct unwind_registers *registers;
	struct memory *memory;
	unsigned depth;
	int error;
	uint64_t stack[STACK_DEPTH];
};

static void fail(struct evaluation *evaluation, int error)
{
	if (!evaluation->error)
		evaluation->error = error;
}

static void push(struct evaluation *evaluation, uint64_t value)
{
	if (evaluation->depth == STACK_DEPTH)
		fail(evaluation, -EINVAL);
	else
		evaluation->stack[evaluation->depth++] = value;
}

static uint64_t pop(struct evaluation *evaluation)
{
	if (evaluation->depth == 0) {
		fail(evaluation, -EINVAL);
		return 0;
	}
	return evaluation->stack[--evaluation->depth];
}

static void push_picked(struct evaluation *evaluation, uint64_t below_top)
{
	if (below_top >= evaluation->depth)
		fail(evaluation, -EINVAL);
	else
		push(evaluation, evaluation->stack[evaluation->depth - 1 - below_top]);
}

static uint64_t register_value(struct evaluation *evaluation, uint64_t number)
{
	if (number >= UNWIND_REGISTER_COUNT || !(evaluation->registers->known >> number & 1)) {
		fail(evaluation, -EINVAL);
		return 0;
	}
	return evaluation->registers->value[number];
}

static void dereference(struct evaluation *evaluation, uint64_t size)
{
	uint64_t address = pop(evaluation), value = 0;

	if (size > sizeof(value))
		fail(evaluation, -EINVAL);
	else if (memory_read(evaluation->memory, address, &value, size))
		fail(evaluation, -EFAULT);
	push(evaluation, value);
}

static void jump(struct evaluation *evaluation, bool taken)
{
	int64_t distance = bytes_signed(&evaluation->code, 2);

	/* A wrapped position lies past the end, which the next read notices. */
	if (taken)
		evaluation->code.at += (size_t)distance;
}

static uint64_t divide(struct evaluation *evaluation, int64_t left, int64_t right)
{
	if (right == 0 || (right == -1 && left == INT64_MIN)) {
		fail(evaluation, -EINVAL);
		return 0;
	}
	return (uint64_t)(left / right);
}

static uint64_t modulo(struct evaluation *evaluation, uint64_t left, uint64_t right)
{
	if (right == 0) {
		fail(evaluation, -EINVAL);
		return 0;
	}
	return left % right;
}

static uint64_t shift(uint8_t operation, uint64_t value, uint64_t count)
{
	if (operation == SHIFT_RIGHT_SIGNED)
		return (uint64_t)((int64_t)value >> (count > 63 ? 63 : count));
	if (count > 63)
		return 0;
	return operation == SHIFT_LEFT ? value << count : value >> count;
}

static uint64_t combine(struct evaluation *evaluation, uint8_t operation, uint64_t left,
			uint64_t right)
{
	switch (operation) {
	case AND:
		return left & right;
	case DIVIDE:
		return divide(evaluation, (int64_t)left, (int64_t)right);
	case MINUS:
		return left - right;
	case MODULO:
		return modulo(evaluation, left, right);
	case MULTIPLY:
		return left * right;
	case OR:
		return left | right;
	case PLUS:
		return left + right;
	case SHIFT_LEFT:
	case SHIFT_RIGHT:
	case SHIFT_RIGHT_SIGNED:
		return shift(operation, left, right);
	case EXCLUSIVE_OR:
		return left ^ right;
	case EQUAL:
		return left == right;
	case GREATER_OR_EQUAL:
		return (int64_t)left >= (int64_t)right;
	case GREATER:
		return (int64_t)left > (int64_t)right;
	case LESS_OR_EQUAL:
		return (int64_t)left <= (int64_t)right;
	case LESS:
		return (int64_t)left < (int64_t)right;
	case NOT_EQUAL:
		return left != right;
	default:
		fail(evaluation, -EINVAL);
		return 0;
	}
}

static bool run_constant(struct evaluation *evaluation, uint8_t operation)
{
	struct bytes *code = &evaluation->code;

	if (operation >= LITERAL_0 && operation <= LITERAL_31) {
		push(evaluation, operation - LITERAL_0);
		return true;
	}
	switch (operation) {
	case CONSTANT_1U:
	case CONSTANT_2U:
	case CONSTANT_4U:
	case CONSTANT_8U:
		push(evaluation, bytes_unsigned(code, 1u << ((operation - CONSTANT_1U) / 2)));
		return true;
	case CONSTANT_1S:
	case CONSTANT_2S:
	case CONSTANT_4S:
	case CONSTANT_8S:
		push(evaluation,
		     (uint64_t)bytes_signed(code, 1u << ((operation - CONSTANT_1S) / 2)));
		return true;
	case ADDRESS:
		push(evaluation, bytes_unsigned(code, 8));
		return true;
	case CONSTANT_ULEB:
		push(evaluation, bytes_uleb128(code));
		return true;
	case CONSTANT_SLEB:
		push(evaluation, (uint64_t)bytes_sleb128(code));
		return true;
	case ENCODED_ADDRESS:
		push(evaluation, bytes_pointer(code, (uint8_t)bytes_unsigned(code, 1), 0));
		return true;
	default:
		return false;
	}
}

static bool run_register(struct evaluation *evaluation, uint8_t operation)
{
	struct bytes *code = &evaluation->code;
	uint64_t number, value;

	if (operation >= REGISTER_0 && operation <= REGISTER_31) {
		push(evaluation, register_value(evaluation, operation - REGISTER_0));
	} else if (operation == REGISTER_X) {
		push(evaluation, register_value(evaluation, bytes_uleb128(code)));
	} else if ((operation >= BASE_REGISTER_0 && operation <= BASE_REGISTER_31) ||
		   operation == BASE_REGISTER_X) {
		number = operation == BASE_REGISTER_X ? bytes_uleb128(code)
						      : (uint64_t)(operation - BASE_REGISTER_0);
		value = register_value(evaluation, number);
		push(evaluation, value + (uint64_t)bytes_sleb128(code));
	} else {
		return false;
	}
	return true;
}

static void rotate(struct evaluation *evaluation)
{
	uint64_t first = pop(evaluation), second = pop(evaluation), third = pop(evaluation);

	push(evaluation, first);
	push(evaluation, third);
	push(evaluation, second);
}

static void swap(struct evaluation *evaluation)
{
	uint64_t first = pop(evaluation), second = pop(evaluation);

	push(evaluation, first);
	push(evaluation, second);
}

static bool run_stack(struct evaluation *evaluation, uint8_t operation)
{
	switch (operation) {
	case DUPLICATE:
		push_picked(evaluation, 0);
		return true;
	case DROP:
		pop(evaluation);
		return true;
	case OVER:
		push_picked(evaluation, 1);
		return true;
	case PICK:
		push_picked(evaluation, bytes_unsigned(&evaluation->code, 1));
		return true;
	case SWAP:
		swap(evaluation);
		return true;
	case ROTATE:
		rotate(evaluation);
		return true;
	default:
		return false;
	}
}

static bool run_single(struct evaluation *evaluation, uint8_t operation)
{
	uint64_t value;

	switch (operation) {
	case DEREFERENCE:
		dereference(evaluation, 8);
		return true;
	case DEREFERENCE_SIZE:
		dereference(evaluation, bytes_unsigned(&evaluation->code, 1));
		return true;
	case ABSOLUTE:
		value = pop(evaluation);
		push(evaluation, (int64_t)value < 0 ? 0 - value : value);
		return true;
	case NEGATE:
		push(evaluation, 0 - pop(evaluation));
		return true;
	case NOT:
		push(evaluation, ~pop(evaluation));
		return true;
	case PLUS_CONSTANT:
		value = pop(evaluation);
		push(evaluation, value + bytes_uleb128(&evaluation->code));
		return true;
	case BRANCH:
		jump(evaluation, pop(evaluation) != 0);
		return true;
	case SKIP:
		jump(evaluation, true);
		return true;
	case NOP:
		return true;
	default:
		return false;
	}
}

static void run_operation(struct evaluation *evaluation)
{
	uint8_t operation = (uint8_t)bytes_unsigned(&evaluation->code, 1);
	uint64_t left, right;

	if (run_constant(evaluation, operation) || run_register(evaluation, operation) ||
	    run_stack(evaluation, operation) || run_single(evaluation, operation))
		return;
	right = pop(evaluation);
	left = pop(evaluation);
	push(evaluation, combine(evaluation, operation, left, right));
}

int expression_evaluate(const struct bytes *section, size_t position,
			const struct unwind_registers *registers, const uint64_t *initial,
			struct memory *memory, uint64_t *result)
{
	struct evaluation evaluation;
	uint64_t length;
	size_t first;
	unsigned steps = 0;

	evaluation.code = *section;
	evaluation.code.at = position;
	evaluation.code.failed = false;
	evaluation.registers = registers;
	evaluation.memory = memory;
	evaluation.depth = 0;
	evaluation.error = 0;
	length = bytes_uleb128(&evaluation.code);
	first = evaluation.code.at;
	bytes_skip(&evaluation.code, length);
	if (evaluation.code.failed)
		return -EINVAL;
	evaluation.code.length = evaluation.code.at;
	evaluation.code.at = first;
	if (initial)
		push(&evaluation, *initial);
	while (evaluation.code.at != evaluation.code.length) {
		run_operation(&evaluation);
		/* A jump to before the block is as wrong as one past its end. */
		if (evaluation.code.failed || evaluation.code.at < first || ++steps > STEP_LIMIT)
			fail(&evaluation, -EINVAL);
		if (evaluation.error)
			return evaluation.error;
	}
	*result = pop(&evaluation);
	return evaluation.error;
}
