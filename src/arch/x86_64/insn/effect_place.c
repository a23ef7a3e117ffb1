/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/effect_place.h"

static unsigned bytes_of(ZydisRegister name)
{
	return ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, name) / 8u;
}

struct insn_place effect_register_place(ZydisRegister name)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);
	struct insn_place place = {.kind = INSN_PLACE_OTHER, .length = (uint16_t)bytes_of(name)};

	if (whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15) {
		place.kind = INSN_PLACE_GENERAL;
		place.number = (uint8_t)(whole - ZYDIS_REGISTER_RAX);
		place.first = name >= ZYDIS_REGISTER_AH && name <= ZYDIS_REGISTER_BH;
	} else if (whole >= ZYDIS_REGISTER_ZMM0 && whole <= ZYDIS_REGISTER_ZMM31) {
		place.kind = INSN_PLACE_VECTOR;
		place.number = (uint8_t)(whole - ZYDIS_REGISTER_ZMM0);
	} else if (name >= ZYDIS_REGISTER_K0 && name <= ZYDIS_REGISTER_K7) {
		place.kind = INSN_PLACE_MASK;
		place.number = (uint8_t)(name - ZYDIS_REGISTER_K0);
	}
	return place;
}

/* Which of struct insn's operands this one is: they are its memory operands in order. */
static uint8_t memory_number(const struct effect_decoded *decoded, unsigned index)
{
	uint8_t number = 0;

	for (unsigned i = 0; i < index; i++)
		number += decoded->operand[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			  decoded->operand[i].mem.type != ZYDIS_MEMOP_TYPE_AGEN;
	return number;
}

struct insn_place effect_place(const struct effect_decoded *decoded, unsigned index)
{
	const ZydisDecodedOperand *operand = &decoded->operand[index];

	switch (operand->type) {
	case ZYDIS_OPERAND_TYPE_REGISTER:
		return effect_register_place(operand->reg.value);
	case ZYDIS_OPERAND_TYPE_MEMORY:
		return (struct insn_place){.kind = INSN_PLACE_MEMORY,
					   .number = memory_number(decoded, index),
					   .length = (uint16_t)(operand->size / 8)};
	case ZYDIS_OPERAND_TYPE_IMMEDIATE:
		return (struct insn_place){.kind = INSN_PLACE_CONSTANT, .length = 8};
	default:
		return (struct insn_place){.kind = INSN_PLACE_OTHER};
	}
}

struct insn_place effect_flags_place(unsigned flags)
{
	return (struct insn_place){.kind = INSN_PLACE_FLAGS, .number = (uint8_t)flags};
}

static unsigned flags_of(ZydisAccessedFlagsMask flags)
{
	return (flags & ZYDIS_CPUFLAG_CF ? INSN_FLAG_CARRY : 0) |
	       (flags & ZYDIS_CPUFLAG_PF ? INSN_FLAG_PARITY : 0) |
	       (flags & ZYDIS_CPUFLAG_ZF ? INSN_FLAG_ZERO : 0) |
	       (flags & ZYDIS_CPUFLAG_SF ? INSN_FLAG_SIGN : 0) |
	       (flags & ZYDIS_CPUFLAG_OF ? INSN_FLAG_OVERFLOW : 0) |
	       (flags & (ZYDIS_CPUFLAG_AF | ZYDIS_CPUFLAG_DF) ? INSN_FLAG_OTHER : 0);
}

unsigned effect_flags_read(const struct effect_decoded *decoded)
{
	return decoded->instruction.cpu_flags ? flags_of(decoded->instruction.cpu_flags->tested)
					      : 0;
}

unsigned effect_flags_written(const struct effect_decoded *decoded)
{
	const ZydisAccessedFlags *flags = decoded->instruction.cpu_flags;

	return flags ? flags_of(flags->modified | flags->set_0 | flags->set_1 | flags->undefined)
		     : 0;
}
