/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/vector.h"

bool vector_is(const ZydisDecodedInstruction *instruction)
{
	/* Integer instructions that came with SSE. */
	if (instruction->mnemonic == ZYDIS_MNEMONIC_MOVNTI ||
	    instruction->mnemonic == ZYDIS_MNEMONIC_POPCNT ||
	    instruction->mnemonic == ZYDIS_MNEMONIC_CRC32 ||
	    instruction->meta.category == ZYDIS_CATEGORY_PREFETCH)
		return false;
	switch (instruction->meta.isa_ext) {
	case ZYDIS_ISA_EXT_X87:
	case ZYDIS_ISA_EXT_MMX:
	case ZYDIS_ISA_EXT_AMD3DNOW:
	case ZYDIS_ISA_EXT_SSE:
	case ZYDIS_ISA_EXT_SSE2:
	case ZYDIS_ISA_EXT_SSE3:
	case ZYDIS_ISA_EXT_SSSE3:
	case ZYDIS_ISA_EXT_SSE4:
	case ZYDIS_ISA_EXT_SSE4A:
		return true;
	default:
		return instruction->encoding >= ZYDIS_INSTRUCTION_ENCODING_XOP &&
		       instruction->meta.category != ZYDIS_CATEGORY_BMI1 &&
		       instruction->meta.category != ZYDIS_CATEGORY_BMI2 &&
		       instruction->meta.category != ZYDIS_CATEGORY_TBM;
	}
}

bool vector_moves_whole(const ZydisDecodedInstruction *instruction)
{
	if (instruction->encoding >= ZYDIS_INSTRUCTION_ENCODING_XOP &&
	    (instruction->avx.vector_length != 128 ||
	     instruction->avx.mask.reg > ZYDIS_REGISTER_K0))
		return false;
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVAPD:
	case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_VMOVAPS:
	case ZYDIS_MNEMONIC_VMOVAPD:
	case ZYDIS_MNEMONIC_VMOVDQA32:
	case ZYDIS_MNEMONIC_VMOVDQA64:
		return true;
	default:
		return false;
	}
}

bool vector_is_outcome(const ZydisDecodedInstruction *instruction,
		       const ZydisDecodedOperand *operands)
{
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_PMOVMSKB:
	case ZYDIS_MNEMONIC_VPMOVMSKB:
	case ZYDIS_MNEMONIC_MOVMSKPS:
	case ZYDIS_MNEMONIC_MOVMSKPD:
	case ZYDIS_MNEMONIC_VMOVMSKPS:
	case ZYDIS_MNEMONIC_VMOVMSKPD:
	case ZYDIS_MNEMONIC_KORTESTB:
	case ZYDIS_MNEMONIC_KORTESTW:
	case ZYDIS_MNEMONIC_KORTESTD:
	case ZYDIS_MNEMONIC_KORTESTQ:
	case ZYDIS_MNEMONIC_KTESTB:
	case ZYDIS_MNEMONIC_KTESTW:
	case ZYDIS_MNEMONIC_KTESTD:
	case ZYDIS_MNEMONIC_KTESTQ:
	case ZYDIS_MNEMONIC_PTEST:
	case ZYDIS_MNEMONIC_VPTEST:
	case ZYDIS_MNEMONIC_PCMPISTRI:
	case ZYDIS_MNEMONIC_PCMPESTRI:
	case ZYDIS_MNEMONIC_VPCMPISTRI:
	case ZYDIS_MNEMONIC_VPCMPESTRI:
		return true;
	case ZYDIS_MNEMONIC_KMOVB:
	case ZYDIS_MNEMONIC_KMOVW:
	case ZYDIS_MNEMONIC_KMOVD:
	case ZYDIS_MNEMONIC_KMOVQ:
		return operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		       (operands[0].reg.value < ZYDIS_REGISTER_K0 ||
			operands[0].reg.value > ZYDIS_REGISTER_K7);
	default:
		return false;
	}
}
