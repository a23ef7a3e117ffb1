/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/evaluate.h"

#include <dwarf.h>
#include <errno.h>

#define STACK_MAX 64
#define STEPS_MAX 1000

struct machine {
	const struct symbol_evaluation *in;
	uint64_t stack[STACK_MAX];
	unsigned depth;
	int error;
	struct symbol_location *location;
	bool located; /* location is final */
};

static void push(struct machine *machine, uint64_t value)
{
	if (machine->depth == STACK_MAX)
		machine->error = -EINVAL;
	else
		machine->stack[machine->depth++] = value;
}

static uint64_t pop(struct machine *machine)
{
	if (machine->depth == 0) {
		machine->error = -EINVAL;
		return 0;
	}
	return machine->stack[--machine->depth];
}

static uint64_t peek(struct machine *machine, uint64_t index)
{
	if (index >= machine->depth) {
		machine->error = -EINVAL;
		return 0;
	}
	return machine->stack[machine->depth - 1 - index];
}

static void push_register(struct machine *machine, uint64_t number, uint64_t offset)
{
	const struct symbol_registers *registers = machine->in->registers;

	if (!registers || number >= SYMBOL_REGISTER_COUNT ||
	    !symbol_register_known(registers, (unsigned)number))
		machine->error = -ENODATA;
	else
		push(machine, registers->value[number] + offset);
}

static void push_known(struct machine *machine, bool known, uint64_t value)
{
	if (known)
		push(machine, value);
	else
		machine->error = -ENODATA;
}

static void dereference(struct machine *machine, uint64_t size)
{
	uint64_t address = pop(machine), value = 0;

	if (machine->error)
		return;
	if (size == 0 || size > sizeof(value))
		machine->error = -EINVAL;
	else if (symbol_memory_read(machine->in->memory, address, &value, size) < 0)
		machine->error = -ENODATA;
	else
		push(machine, value);
}

static uint64_t divide(struct machine *machine, int64_t a, int64_t b)
{
	if (b == 0 || (a == INT64_MIN && b == -1)) {
		machine->error = -EINVAL;
		return 0;
	}
	return (uint64_t)(a / b);
}

static uint64_t shift(unsigned atom, uint64_t a, uint64_t b)
{
	if (atom == DW_OP_shra)
		return (uint64_t)((int64_t)a >> (b > 63 ? 63 : b));
	if (b > 63)
		return 0;
	return atom == DW_OP_shl ? a << b : a >> b;
}

static bool arithmetic(struct machine *machine, unsigned atom, uint64_t a, uint64_t b,
		       uint64_t *result)
{
	switch (atom) {
	case DW_OP_and:
		*result = a & b;
		return true;
	case DW_OP_or:
		*result = a | b;
		return true;
	case DW_OP_xor:
		*result = a ^ b;
		return true;
	case DW_OP_plus:
		*result = a + b;
		return true;
	case DW_OP_minus:
		*result = a - b;
		return true;
	case DW_OP_mul:
		*result = a * b;
		return true;
	case DW_OP_div:
		*result = divide(machine, (int64_t)a, (int64_t)b);
		return true;
	case DW_OP_mod:
		machine->error = b ? machine->error : -EINVAL;
		*result = b ? a % b : 0;
		return true;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra:
		*result = shift(atom, a, b);
		return true;
	default:
		return false;
	}
}

static bool comparison(unsigned atom, int64_t a, int64_t b, uint64_t *result)
{
	switch (atom) {
	case DW_OP_eq:
		*result = a == b;
		return true;
	case DW_OP_ne:
		*result = a != b;
		return true;
	case DW_OP_lt:
		*result = a < b;
		return true;
	case DW_OP_le:
		*result = a <= b;
		return true;
	case DW_OP_gt:
		*result = a > b;
		return true;
	case DW_OP_ge:
		*result = a >= b;
		return true;
	default:
		return false;
	}
}

static bool binary(struct machine *machine, unsigned atom)
{
	uint64_t b = peek(machine, 0), a = peek(machine, 1), result;

	if (machine->error) /* too few operands */
		return true;
	if (!arithmetic(machine, atom, a, b, &result) &&
	    !comparison(atom, (int64_t)a, (int64_t)b, &result))
		return false;
	if (machine->error)
		return true;
	machine->depth -= 2;
	push(machine, result);
	return true;
}

static void swap(struct machine *machine)
{
	uint64_t top = pop(machine), second = pop(machine);

	push(machine, top);
	push(machine, second);
}

static void rotate(struct machine *machine)
{
	uint64_t first = pop(machine), second = pop(machine), third = pop(machine);

	push(machine, first);
	push(machine, third);
	push(machine, second);
}

static bool manipulate(struct machine *machine, const Dwarf_Op *op)
{
	switch (op->atom) {
	case DW_OP_dup:
		push(machine, peek(machine, 0));
		return true;
	case DW_OP_drop:
		pop(machine);
		return true;
	case DW_OP_over:
		push(machine, peek(machine, 1));
		return true;
	case DW_OP_pick:
		push(machine, peek(machine, op->number));
		return true;
	case DW_OP_swap:
		swap(machine);
		return true;
	case DW_OP_rot:
		rotate(machine);
		return true;
	case DW_OP_neg:
		push(machine, -pop(machine));
		return true;
	case DW_OP_not:
		push(machine, ~pop(machine));
		return true;
	case DW_OP_abs: {
		uint64_t value = pop(machine);

		push(machine, (int64_t)value < 0 ? -value : value);
		return true;
	}
	case DW_OP_plus_uconst:
		push(machine, pop(machine) + op->number);
		return true;
	case DW_OP_deref:
		dereference(machine, 8);
		return true;
	case DW_OP_deref_size:
		dereference(machine, op->number);
		return true;
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

static bool push_operand(struct machine *machine, const Dwarf_Op *op)
{
	const struct symbol_evaluation *in = machine->in;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(machine, op->atom - DW_OP_lit0);
		return true;
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push_register(machine, op->atom - DW_OP_breg0, op->number);
		return true;
	}
	switch (op->atom) {
	case DW_OP_addr:
		push(machine, op->number + in->bias);
		return true;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		push(machine, op->number);
		return true;
	case DW_OP_bregx:
		push_register(machine, op->number, op->number2);
		return true;
	case DW_OP_fbreg:
		push_known(machine, in->has_frame_base, in->frame_base + op->number);
		return true;
	case DW_OP_call_frame_cfa:
		push_known(machine, in->has_cfa, in->cfa);
		return true;
	default:
		return false;
	}
}

/* What has no room among the registers known here is unknown, of whatever number a file writes. */
static void locate_register(struct machine *machine, uint64_t number)
{
	if (number >= SYMBOL_REGISTER_COUNT)
		machine->error = -ENODATA;
	*machine->location = (struct symbol_location){SYMBOL_LOCATION_REGISTER, number};
}

static bool locate(struct machine *machine, const Dwarf_Op *op)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)
		locate_register(machine, op->atom - DW_OP_reg0);
	else if (op->atom == DW_OP_regx)
		locate_register(machine, op->number);
	else if (op->atom == DW_OP_stack_value)
		*machine->location = (struct symbol_location){SYMBOL_LOCATION_VALUE, pop(machine)};
	else
		return false;
	machine->located = true;
	return true;
}

/* Index of the operation a branch goes to, by its offset in bytes; `count` means the end. */
static size_t branch(struct machine *machine, const Dwarf_Op *ops, size_t count, size_t from)
{
	/* The operand counts from the next operation; these operations are 3 bytes long. */
	Dwarf_Word target = ops[from].offset + 3 + (uint64_t)(int64_t)(int16_t)ops[from].number;

	for (size_t i = 0; i < count; i++)
		if (ops[i].offset == target)
			return i;
	machine->error = -EINVAL;
	return count;
}

static size_t step(struct machine *machine, const Dwarf_Op *ops, size_t count, size_t at)
{
	const Dwarf_Op *op = &ops[at];

	if (op->atom == DW_OP_skip || (op->atom == DW_OP_bra && pop(machine) != 0))
		return branch(machine, ops, count, at);
	if (op->atom == DW_OP_bra)
		return at + 1;
	if (!push_operand(machine, op) && !manipulate(machine, op) && !locate(machine, op) &&
	    !binary(machine, op->atom))
		machine->error = -EINVAL;
	return at + 1;
}

int symbol_evaluate(const struct symbol_evaluation *evaluation, const Dwarf_Op *ops, size_t count,
		    struct symbol_location *location)
{
	struct machine machine = {.in = evaluation, .location = location};
	size_t at = 0;

	if (count == 0)
		return -ENODATA;
	if (evaluation->has_initial)
		push(&machine, evaluation->initial);
	for (unsigned steps = 0; at < count && !machine.error; steps++) {
		if (steps == STEPS_MAX || machine.located)
			return -EINVAL; /* pieces, or a loop */
		at = step(&machine, ops, count, at);
	}
	if (!machine.error && !machine.located)
		*location = (struct symbol_location){SYMBOL_LOCATION_MEMORY, pop(&machine)};
	return machine.error;
}
