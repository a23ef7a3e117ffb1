/* SPDX-License-Identifier: Apache-2.0 */
#include "record/condition.h"

#include <stdint.h>

struct cell {
	uint64_t value;
	bool known;
};

static bool compare(uint32_t operation, bool is_signed, uint64_t left, uint64_t right)
{
	bool less = is_signed ? (int64_t)left < (int64_t)right : left < right;

	switch (operation) {
	case CONDITION_EQUAL:
		return left == right;
	case CONDITION_UNEQUAL:
		return left != right;
	case CONDITION_LESS:
		return less;
	case CONDITION_LESS_EQUAL:
		return less || left == right;
	case CONDITION_GREATER:
		return !less && left != right;
	default:
		return !less;
	}
}

/* What C leaves undefined is not known: it must not stop the program. */
static struct cell divide(uint32_t operation, bool is_signed, uint64_t left, uint64_t right)
{
	bool remainder = operation == CONDITION_REMAINDER;

	if (!right || (is_signed && (int64_t)left == INT64_MIN && (int64_t)right == -1))
		return (struct cell){0, false};
	if (!is_signed)
		return (struct cell){remainder ? left % right : left / right, true};
	return (struct cell){(uint64_t)(remainder ? (int64_t)left % (int64_t)right
						  : (int64_t)left / (int64_t)right),
			     true};
}

static struct cell shift(uint32_t operation, bool is_signed, uint64_t left, uint64_t right)
{
	if (right > 63)
		return (struct cell){0, false};
	if (operation == CONDITION_SHIFT_LEFT)
		return (struct cell){left << right, true};
	return (struct cell){is_signed ? (uint64_t)((int64_t)left >> right) : left >> right, true};
}

static uint64_t calculate(uint32_t operation, uint64_t left, uint64_t right)
{
	switch (operation) {
	case CONDITION_ADD:
		return left + right;
	case CONDITION_SUBTRACT:
		return left - right;
	case CONDITION_MULTIPLY:
		return left * right;
	case CONDITION_BIT_AND:
		return left & right;
	case CONDITION_BIT_OR:
		return left | right;
	default:
		return left ^ right;
	}
}

/* Either side alone decides when it is the one that settles the matter. */
static struct cell combine(uint32_t operation, struct cell left, struct cell right)
{
	bool settles = operation == CONDITION_OR;

	if ((left.known && !!left.value == settles) || (right.known && !!right.value == settles))
		return (struct cell){settles, true};
	return (struct cell){!settles, left.known && right.known};
}

static struct cell apply(uint32_t operation, bool is_signed, struct cell left, struct cell right)
{
	if (operation == CONDITION_AND || operation == CONDITION_OR)
		return combine(operation, left, right);
	if (!left.known || !right.known)
		return (struct cell){0, false};
	if (operation <= CONDITION_GREATER_EQUAL)
		return (struct cell){compare(operation, is_signed, left.value, right.value), true};
	if (operation == CONDITION_DIVIDE || operation == CONDITION_REMAINDER)
		return divide(operation, is_signed, left.value, right.value);
	if (operation >= CONDITION_SHIFT_LEFT)
		return shift(operation, is_signed, left.value, right.value);
	return (struct cell){calculate(operation, left.value, right.value), true};
}

static void change(uint32_t operation, struct cell *top)
{
	if (operation == CONDITION_NOT)
		top->value = !top->value;
	else if (operation == CONDITION_NEGATE)
		top->value = 0 - top->value;
	else
		top->value = ~top->value;
}

static struct cell operand(const struct condition_step *step, uint32_t operation,
			   const struct condition_values *values)
{
	if (operation == CONDITION_OLD)
		return (struct cell){values->old_value, values->old_known};
	if (operation == CONDITION_NEW)
		return (struct cell){values->new_value, values->new_known};
	return (struct cell){step->number, true};
}

bool condition_holds(const struct condition *condition, const struct condition_values *values)
{
	/* The steps lie in memory that the program can write: every one is bounded here. */
	uint32_t count = condition->count;
	struct cell stack[CONDITION_DEPTH];
	unsigned depth = 0;

	if (count > CONDITION_STEPS)
		return true;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t operation = condition->step[i].operation;

		if (operation <= CONDITION_NEW) {
			if (depth == CONDITION_DEPTH)
				return true;
			stack[depth++] = operand(&condition->step[i], operation, values);
		} else if (operation <= CONDITION_COMPLEMENT) {
			if (!depth)
				return true;
			change(operation, &stack[depth - 1]);
		} else {
			if (depth < 2 || operation >= CONDITION_OPERATIONS)
				return true;
			depth--;
			stack[depth - 1] =
				apply(operation, values->is_signed, stack[depth - 1], stack[depth]);
		}
	}
	return depth != 1 || !stack[0].known || stack[0].value;
}

bool condition_uses_values(const struct condition *condition)
{
	for (uint32_t i = 0; i < condition->count && i < CONDITION_STEPS; i++)
		if (condition->step[i].operation == CONDITION_OLD ||
		    condition->step[i].operation == CONDITION_NEW)
			return true;
	return false;
}
