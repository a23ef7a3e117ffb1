/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/origin_step.h"

#include "insn/forward_values.h"

#include <errno.h>

struct one {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operand[ZYDIS_MAX_OPERAND_COUNT];
};

static bool decode(const uint8_t *code, size_t available, struct one *one)
{
	ZydisDecoder decoder;

	return ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64)) &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code, available, &one->instruction,
						   one->operand));
}

/* A 64-bit register by its number, or -1. */
static int whole_register(const ZydisDecodedOperand *operand)
{
	if (operand->type != ZYDIS_OPERAND_TYPE_REGISTER || operand->size != 64)
		return -1;
	return forward_register_number(operand->reg.value);
}

static int base_register(const ZydisDecodedOperand *operand)
{
	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.base == ZYDIS_REGISTER_RIP ||
	    operand->mem.index != ZYDIS_REGISTER_NONE)
		return -1;
	return forward_register_number(operand->mem.base);
}

/* The value written to operand 0, where it is one that was there before plus a constant. */
static struct insn_origin result(const struct one *one,
				 const struct insn_origin state[INSN_GENERAL])
{
	struct insn_origin none = {.number = INSN_ORIGIN_NONE}, from;
	int64_t added = 0;
	int number = whole_register(&one->operand[0]);

	switch (one->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
		number = whole_register(&one->operand[1]);
		break;
	case ZYDIS_MNEMONIC_LEA:
		number = one->instruction.address_width == 64 ? base_register(&one->operand[1])
							      : -1;
		added = one->operand[1].mem.disp.value;
		break;
	case ZYDIS_MNEMONIC_INC:
		added = 1;
		break;
	case ZYDIS_MNEMONIC_DEC:
		added = -1;
		break;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (one->operand[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return none;
		added = one->operand[1].imm.value.s;
		if (one->instruction.mnemonic == ZYDIS_MNEMONIC_SUB)
			added = -added;
		break;
	default:
		return none;
	}
	if (number < 0 || state[number].number < 0 || added > INSN_ORIGIN_OFFSET_MOST ||
	    added < -INSN_ORIGIN_OFFSET_MOST)
		return none;
	from = state[number];
	from.offset += (int32_t)added;
	return from.offset > INSN_ORIGIN_OFFSET_MOST || from.offset < -INSN_ORIGIN_OFFSET_MOST
		       ? none
		       : from;
}

/* The stack pointer behind what pushes, pops or leaves a frame; none for all else. */
static struct insn_origin stack_after(const struct one *one,
				      const struct insn_origin state[INSN_GENERAL])
{
	struct insn_origin none = {.number = INSN_ORIGIN_NONE}, stack = state[X86_RSP];

	if (one->instruction.operand_width != 64)
		return none;
	switch (one->instruction.mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		stack.offset -= 8;
		break;
	case ZYDIS_MNEMONIC_POP:
		if (whole_register(&one->operand[0]) == X86_RSP)
			return none;
		stack.offset += 8;
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		stack = state[X86_RBP];
		stack.offset += 8;
		break;
	default:
		return none;
	}
	return stack.offset > INSN_ORIGIN_OFFSET_MOST || stack.offset < -INSN_ORIGIN_OFFSET_MOST
		       ? none
		       : stack;
}

static void carry_out(const struct one *one, struct insn_origin state[INSN_GENERAL])
{
	struct insn_origin first = result(one, state);
	struct insn_origin stack = stack_after(one, state);
	int target = whole_register(&one->operand[0]);

	for (unsigned i = 0; i < one->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &one->operand[i];
		int number = operand->type == ZYDIS_OPERAND_TYPE_REGISTER
				     ? forward_register_number(operand->reg.value)
				     : -1;

		if (number >= 0 && (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			state[number].number = INSN_ORIGIN_NONE;
	}
	if (first.number >= 0 && target >= 0)
		state[target] = first;
	if (stack.number >= 0)
		state[X86_RSP] = stack;
}

static void jump(const struct one *one, struct insn_origin_next *next)
{
	if (one->operand[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		next->jumps_anywhere = true;
		return;
	}
	next->jumps = true;
	next->offset = one->operand[0].imm.value.u;
}

int insn_origin_step(const uint8_t *code, size_t available, struct insn_origin state[INSN_GENERAL],
		     struct insn_origin_next *next)
{
	struct one one;

	*next = (struct insn_origin_next){0};
	if (!decode(code, available, &one))
		return -EILSEQ;
	next->length = one.instruction.length;
	next->pads = one.instruction.mnemonic == ZYDIS_MNEMONIC_NOP ||
		     one.instruction.mnemonic == ZYDIS_MNEMONIC_INT3;
	switch (one.instruction.meta.category) {
	case ZYDIS_CATEGORY_RET:
		next->ends = true;
		break;
	case ZYDIS_CATEGORY_CALL:
		next->calls = true;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		next->ends = true;
		jump(&one, next);
		break;
	case ZYDIS_CATEGORY_COND_BR:
		jump(&one, next);
		break;
	case ZYDIS_CATEGORY_SYSCALL:
		carry_out(&one, state);
		/* Its result, which is no operand of the instruction. */
		state[X86_RAX].number = INSN_ORIGIN_NONE;
		break;
	default:
		carry_out(&one, state);
		break;
	}
	return 0;
}
