/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/forward_values.h"

int forward_register_number(ZydisRegister name)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		       ? (int)(whole - ZYDIS_REGISTER_RAX)
		       : -1;
}

static bool is_high_byte(ZydisRegister name)
{
	return name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH;
}

static unsigned width_of(ZydisRegister name)
{
	return ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, name);
}

struct value forward_read_register(const struct insn_forward *forward, ZydisRegister name)
{
	int number = forward_register_number(name);

	if (number < 0 || !(forward->known >> number & 1))
		return value_unknown;
	return value_known(value_cut(forward->general[number] >> (is_high_byte(name) ? 8 : 0),
				     width_of(name)));
}

/* 32 bits clear the upper half; fewer leave the rest as it is. */
void forward_write_register(struct insn_forward *forward, ZydisRegister name, struct value value)
{
	int number = forward_register_number(name);
	unsigned width = width_of(name), shift = is_high_byte(name) ? 8 : 0;
	uint64_t mask = value_cut(~0ull, width) << shift;

	if (number < 0)
		return;
	if (!value.known || (width < 32 && !(forward->known >> number & 1))) {
		forward_forget_register(forward, number);
		return;
	}
	if (width >= 32)
		forward->general[number] = value_cut(value.bits, width);
	else
		forward->general[number] = (forward->general[number] & ~mask) |
					   (value.bits << shift & mask);
	forward->known |= (uint16_t)(1u << number);
}

bool forward_address(const struct step *step, const ZydisDecodedOperand *operand, uint64_t *address)
{
	uint64_t sum = (uint64_t)operand->mem.disp.value;
	struct value part;

	if (operand->mem.segment == ZYDIS_REGISTER_GS ||
	    (operand->mem.segment == ZYDIS_REGISTER_FS && !step->forward->fs_base) ||
	    operand->mem.type == ZYDIS_MEMOP_TYPE_VSIB || step->instruction.address_width != 64)
		return false;
	if (operand->mem.base == ZYDIS_REGISTER_RIP) {
		sum += step->next;
	} else if (operand->mem.base != ZYDIS_REGISTER_NONE) {
		part = forward_read_register(step->forward, operand->mem.base);
		if (!part.known)
			return false;
		sum += part.bits;
	}
	if (operand->mem.index != ZYDIS_REGISTER_NONE) {
		part = forward_read_register(step->forward, operand->mem.index);
		if (!part.known)
			return false;
		sum += part.bits * operand->mem.scale;
	}
	if (operand->mem.segment == ZYDIS_REGISTER_FS)
		sum += step->forward->fs_base;
	*address = sum;
	return true;
}

struct value forward_get(const struct step *step, unsigned index)
{
	const ZydisDecodedOperand *operand = &step->operand[index];
	uint64_t address;

	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return forward_read_register(step->forward, operand->reg.value);
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		return value_known(value_cut(operand->imm.value.u, step->operand[0].size));
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return forward_address(step, operand, &address)
			       ? forward_read_memory(step->forward, address, operand->size / 8)
			       : value_unknown;
	default:
		return value_unknown;
	}
}

void forward_set(struct step *step, unsigned index, struct value value)
{
	const ZydisDecodedOperand *operand = &step->operand[index];
	uint64_t address;

	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
		forward_write_register(step->forward, operand->reg.value, value);
	else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY &&
		 forward_address(step, operand, &address))
		forward_write_memory(step->forward, address, operand->size / 8, value);
	else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		step->forward->strays = true;
}

void forward_set_flags(struct insn_forward *forward, uint64_t result, unsigned size)
{
	forward->flags_known = true;
	forward->zero = value_cut(result, size) == 0;
	forward->sign = result >> (size - 1) & 1;
	forward->parity = !__builtin_parity((unsigned)(result & 0xff));
	forward->carry = forward->overflow = false;
}

void forward_forget_results(struct step *step)
{
	for (unsigned i = 0; i < step->instruction.operand_count; i++) {
		const ZydisDecodedOperand *operand = &step->operand[i];

		if (!(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    operand->reg.value == ZYDIS_REGISTER_RFLAGS)
			step->forward->flags_known = false;
		else if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
			forward_forget_register(step->forward,
						forward_register_number(operand->reg.value));
		else
			forward_set(step, i, value_unknown);
	}
	if (step->instruction.cpu_flags && step->instruction.cpu_flags->modified)
		step->forward->flags_known = false;
}
