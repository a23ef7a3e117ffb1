/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/row.h"

#include "dwarf/evaluate.h"
#include "elf/object.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 1024 /* a power of two; direct-mapped */

struct symbol_row_cache {
	struct symbol_row row[ROWS];
};

enum rule { RULE_UNDEFINED, RULE_SAME, RULE_SAVED, RULE_EXPRESSION };

static bool plain_cfa(const Dwarf_Op *ops, size_t count, struct symbol_row *row)
{
	if (count != 1)
		return false;
	if (ops[0].atom >= DW_OP_breg0 && ops[0].atom < DW_OP_breg0 + SYMBOL_REGISTER_COUNT) {
		row->cfa_register = (uint8_t)(ops[0].atom - DW_OP_breg0);
		row->cfa_offset = (int64_t)ops[0].number;
		return true;
	}
	if (ops[0].atom == DW_OP_bregx && ops[0].number < SYMBOL_REGISTER_COUNT) {
		row->cfa_register = (uint8_t)ops[0].number;
		row->cfa_offset = (int64_t)ops[0].number2;
		return true;
	}
	return false;
}

/* The caller's stack pointer is the frame address itself unless said otherwise. */
static bool is_frame_address(unsigned number, const Dwarf_Op *ops, size_t count)
{
	return number == SYMBOL_SP && count == 2 && ops[0].atom == DW_OP_call_frame_cfa &&
	       ops[1].atom == DW_OP_stack_value;
}

static enum rule read_rule(Dwarf_Frame *frame, unsigned number, int64_t *offset)
{
	Dwarf_Op memory[3], *ops;
	size_t count;

	if (dwarf_frame_register(frame, (int)number, memory, &ops, &count) != 0)
		return RULE_UNDEFINED;
	if (count == 0)
		return ops ? RULE_UNDEFINED : RULE_SAME;
	if (is_frame_address(number, ops, count))
		return RULE_UNDEFINED;
	if (ops[0].atom != DW_OP_call_frame_cfa || count > 2)
		return RULE_EXPRESSION;
	*offset = count == 2 ? (int64_t)ops[1].number : 0;
	if (count == 2 && ops[1].atom != DW_OP_plus_uconst)
		return RULE_EXPRESSION;
	return *offset == (int32_t)*offset ? RULE_SAVED : RULE_EXPRESSION;
}

static bool plain_registers(Dwarf_Frame *frame, struct symbol_row *row)
{
	for (unsigned number = 0; number < SYMBOL_REGISTER_COUNT; number++) {
		int64_t offset = 0;

		switch (read_rule(frame, number, &offset)) {
		case RULE_SAME:
			row->same |= 1u << number;
			break;
		case RULE_SAVED:
			row->saved |= 1u << number;
			row->offset[number] = (int32_t)offset;
			break;
		case RULE_EXPRESSION:
			return false;
		case RULE_UNDEFINED:
			row->no_return |= number == SYMBOL_PC;
			break;
		}
	}
	return true;
}

static void fill(struct symbol_object *object, uint64_t address, struct symbol_row *row)
{
	Dwarf_CFI *cfi = symbol_object_eh(object);
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t count;

	free(row->frame);
	*row = (struct symbol_row){.address = address, .used = true, .missing = true};
	if (!cfi || dwarf_cfi_addrframe(cfi, address - object->eh_bias, &frame) != 0) {
		cfi = symbol_object_frame(object);
		if (!cfi || dwarf_cfi_addrframe(cfi, address - object->frame_bias, &frame) != 0)
			return;
	}
	if (dwarf_frame_info(frame, NULL, NULL, &row->signal) != SYMBOL_PC) {
		free(frame);
		return;
	}
	row->missing = false;
	if (dwarf_frame_cfa(frame, &ops, &count) == 0 && plain_cfa(ops, count, row) &&
	    plain_registers(frame, row))
		free(frame);
	else
		row->frame = frame;
}

static void cache_free(struct symbol_row_cache *cache)
{
	for (size_t i = 0; i < ROWS; i++)
		free(cache->row[i].frame);
	free(cache);
}

const struct symbol_row *symbol_row_find(struct symbol_object *object, uint64_t address)
{
	struct symbol_row *row;

	object->rows_free = cache_free;
	if (!object->rows)
		object->rows = calloc(1, sizeof(*object->rows));
	if (!object->rows)
		return NULL;
	row = &object->rows->row[(address * 0x9e3779b97f4a7c15u >> 32) & (ROWS - 1)];
	if (!row->used || row->address != address)
		fill(object, address, row);
	return row->missing ? NULL : row;
}

static bool is_saved_at(const struct symbol_row *row, uint64_t cfa, uint64_t slot)
{
	for (unsigned number = 0; number < SYMBOL_REGISTER_COUNT; number++)
		if (row->saved >> number & 1 &&
		    cfa + (uint64_t)(int64_t)row->offset[number] == slot)
			return true;
	return false;
}

/*
 * At a function's end, behind `pop %rbp`, GCC's tables still say where it was saved, which lies
 * below the stack pointer, and so in no copy of the stack; the register has its old value again.
 * Between the two lie at most registers that were popped after it.
 */
static bool is_popped(const struct symbol_row *row, const struct symbol_registers *registers,
		      uint64_t cfa)
{
	const uint64_t stack = registers->value[SYMBOL_SP];
	uint64_t slot = cfa + (uint64_t)(int64_t)row->offset[SYMBOL_FP];

	if (!symbol_register_known(registers, SYMBOL_FP) ||
	    !symbol_register_known(registers, SYMBOL_SP) || slot >= stack)
		return false;
	while (slot < stack && is_saved_at(row, cfa, slot))
		slot += sizeof(uint64_t);
	return slot == stack;
}

static int apply_plain(const struct symbol_row *row, const struct symbol_registers *registers,
		       const struct symbol_memory *memory, struct symbol_registers *caller,
		       uint64_t *cfa)
{
	if (!symbol_register_known(registers, row->cfa_register))
		return -ENODATA;
	*cfa = registers->value[row->cfa_register] + (uint64_t)row->cfa_offset;
	caller->known = registers->known & row->same;
	for (unsigned number = 0; number < SYMBOL_REGISTER_COUNT; number++) {
		uint64_t value, slot;

		if (row->same >> number & 1)
			caller->value[number] = registers->value[number];
		if (!(row->saved >> number & 1))
			continue;
		slot = *cfa + (uint64_t)(int64_t)row->offset[number];
		if (symbol_memory_read(memory, slot, &value, sizeof(value)) == 0)
			symbol_register_set(caller, number, value);
		else if (number == SYMBOL_FP && is_popped(row, registers, *cfa))
			symbol_register_set(caller, number, registers->value[number]);
	}
	if (!(row->saved >> SYMBOL_SP & 1))
		symbol_register_set(caller, SYMBOL_SP, *cfa);
	return 0;
}

static void apply_rule(Dwarf_Frame *frame, unsigned number, struct symbol_evaluation *evaluation,
		       struct symbol_registers *caller)
{
	const struct symbol_registers *registers = evaluation->registers;
	Dwarf_Op memory[3], *ops;
	size_t count;
	struct symbol_location location;
	uint64_t value;

	if (dwarf_frame_register(frame, (int)number, memory, &ops, &count) != 0)
		return;
	if (count == 0) {
		if (!ops && symbol_register_known(registers, number))
			symbol_register_set(caller, number, registers->value[number]);
		return;
	}
	if (symbol_evaluate(evaluation, ops, count, &location) < 0)
		return;
	if (location.kind == SYMBOL_LOCATION_VALUE)
		symbol_register_set(caller, number, location.value);
	else if (location.kind == SYMBOL_LOCATION_REGISTER &&
		 symbol_register_known(registers, (unsigned)location.value))
		symbol_register_set(caller, number, registers->value[location.value]);
	else if (location.kind == SYMBOL_LOCATION_MEMORY &&
		 symbol_memory_read(evaluation->memory, location.value, &value, sizeof(value)) == 0)
		symbol_register_set(caller, number, value);
}

static int apply_frame(const struct symbol_row *row, const struct symbol_registers *registers,
		       const struct symbol_memory *memory, uint64_t bias,
		       struct symbol_registers *caller, uint64_t *cfa)
{
	struct symbol_evaluation evaluation = {
		.registers = registers, .memory = memory, .bias = bias};
	struct symbol_location location;
	Dwarf_Op *ops;
	size_t count;
	int error;

	if (dwarf_frame_cfa(row->frame, &ops, &count) != 0)
		return -EINVAL;
	error = symbol_evaluate(&evaluation, ops, count, &location);
	if (error || location.kind == SYMBOL_LOCATION_REGISTER)
		return error ? error : -EINVAL;
	*cfa = location.value;
	evaluation.cfa = evaluation.initial = *cfa;
	evaluation.has_cfa = true;
	for (unsigned number = 0; number < SYMBOL_REGISTER_COUNT; number++) {
		Dwarf_Op three[3];

		/* DW_CFA_expression starts with the frame address pushed; plain rules name it. */
		if (dwarf_frame_register(row->frame, (int)number, three, &ops, &count) != 0)
			continue;
		evaluation.has_initial = count && ops != three;
		apply_rule(row->frame, number, &evaluation, caller);
	}
	if (!symbol_register_known(caller, SYMBOL_SP))
		symbol_register_set(caller, SYMBOL_SP, *cfa);
	return 0;
}

int symbol_row_apply(const struct symbol_row *row, const struct symbol_registers *registers,
		     const struct symbol_memory *memory, uint64_t bias,
		     struct symbol_registers *caller, uint64_t *cfa)
{
	memset(caller, 0, sizeof(*caller));
	if (row->frame)
		return apply_frame(row, registers, memory, bias, caller, cfa);
	return apply_plain(row, registers, memory, caller, cfa);
}
