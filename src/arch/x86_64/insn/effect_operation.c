/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/effect_operation.h"

static enum insn_operation shift_operation(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHLX:
		return INSN_SHIFT_LEFT;
	case ZYDIS_MNEMONIC_SHR:
	case ZYDIS_MNEMONIC_SHRX:
		return INSN_SHIFT_RIGHT;
	case ZYDIS_MNEMONIC_SAR:
	case ZYDIS_MNEMONIC_SARX:
		return INSN_SHIFT_RIGHT_SIGN;
	case ZYDIS_MNEMONIC_ROL:
		return INSN_ROTATE_LEFT;
	case ZYDIS_MNEMONIC_ROR:
	case ZYDIS_MNEMONIC_RORX:
		return INSN_ROTATE_RIGHT;
	default:
		return INSN_COMPUTE;
	}
}

/* The operations of integer instructions that have one. */
static enum insn_operation integer_operation(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOV:
	case ZYDIS_MNEMONIC_MOVZX:
	case ZYDIS_MNEMONIC_MOVNTI:
	case ZYDIS_MNEMONIC_LODSB:
	case ZYDIS_MNEMONIC_LODSW:
	case ZYDIS_MNEMONIC_LODSD:
	case ZYDIS_MNEMONIC_LODSQ:
		return INSN_COPY;
	case ZYDIS_MNEMONIC_MOVSX:
	case ZYDIS_MNEMONIC_MOVSXD:
	case ZYDIS_MNEMONIC_CBW:
	case ZYDIS_MNEMONIC_CWDE:
	case ZYDIS_MNEMONIC_CDQE:
		return INSN_COPY_SIGN;
	case ZYDIS_MNEMONIC_BSWAP:
	case ZYDIS_MNEMONIC_MOVBE:
		return INSN_COPY_REVERSED;
	case ZYDIS_MNEMONIC_AND:
	case ZYDIS_MNEMONIC_TEST:
		return INSN_AND;
	case ZYDIS_MNEMONIC_ANDN:
		return INSN_AND_NOT;
	case ZYDIS_MNEMONIC_OR:
		return INSN_OR;
	case ZYDIS_MNEMONIC_XOR:
	case ZYDIS_MNEMONIC_NOT:
		return INSN_XOR;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_ADC:
	case ZYDIS_MNEMONIC_INC:
	case ZYDIS_MNEMONIC_LEA:
		return INSN_ADD;
	case ZYDIS_MNEMONIC_SUB:
	case ZYDIS_MNEMONIC_SBB:
	case ZYDIS_MNEMONIC_CMP:
	case ZYDIS_MNEMONIC_DEC:
	case ZYDIS_MNEMONIC_NEG:
		return INSN_SUBTRACT;
	case ZYDIS_MNEMONIC_BSF:
	case ZYDIS_MNEMONIC_TZCNT:
		return INSN_LOWEST_BIT;
	case ZYDIS_MNEMONIC_BSR:
	case ZYDIS_MNEMONIC_LZCNT:
		return INSN_HIGHEST_BIT;
	case ZYDIS_MNEMONIC_BZHI:
		return INSN_LOW_BITS;
	case ZYDIS_MNEMONIC_BT:
	case ZYDIS_MNEMONIC_BTC:
		return INSN_BIT;
	case ZYDIS_MNEMONIC_BTS:
	case ZYDIS_MNEMONIC_BTR:
		return INSN_BIT_MADE;
	default:
		return shift_operation(mnemonic);
	}
}

static bool is_vector_move(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_MOVAPS:
	case ZYDIS_MNEMONIC_MOVAPD:
	case ZYDIS_MNEMONIC_MOVUPS:
	case ZYDIS_MNEMONIC_MOVUPD:
	case ZYDIS_MNEMONIC_MOVDQA:
	case ZYDIS_MNEMONIC_MOVDQU:
	case ZYDIS_MNEMONIC_MOVNTDQ:
	case ZYDIS_MNEMONIC_MOVNTPS:
	case ZYDIS_MNEMONIC_MOVNTPD:
	case ZYDIS_MNEMONIC_MOVNTDQA:
	case ZYDIS_MNEMONIC_LDDQU:
	case ZYDIS_MNEMONIC_MOVD:
	case ZYDIS_MNEMONIC_MOVQ:
	case ZYDIS_MNEMONIC_MOVSS:
	case ZYDIS_MNEMONIC_MOVSD:
	case ZYDIS_MNEMONIC_VMOVSS:
	case ZYDIS_MNEMONIC_VMOVSD:
	case ZYDIS_MNEMONIC_VMOVAPS:
	case ZYDIS_MNEMONIC_VMOVAPD:
	case ZYDIS_MNEMONIC_VMOVUPS:
	case ZYDIS_MNEMONIC_VMOVUPD:
	case ZYDIS_MNEMONIC_VMOVDQA:
	case ZYDIS_MNEMONIC_VMOVDQU:
	case ZYDIS_MNEMONIC_VMOVDQA32:
	case ZYDIS_MNEMONIC_VMOVDQA64:
	case ZYDIS_MNEMONIC_VMOVDQU8:
	case ZYDIS_MNEMONIC_VMOVDQU16:
	case ZYDIS_MNEMONIC_VMOVDQU32:
	case ZYDIS_MNEMONIC_VMOVDQU64:
	case ZYDIS_MNEMONIC_VMOVNTDQ:
	case ZYDIS_MNEMONIC_VMOVNTPS:
	case ZYDIS_MNEMONIC_VMOVNTPD:
	case ZYDIS_MNEMONIC_VMOVNTDQA:
	case ZYDIS_MNEMONIC_VLDDQU:
	case ZYDIS_MNEMONIC_VMOVD:
	case ZYDIS_MNEMONIC_VMOVQ:
		return true;
	default:
		return false;
	}
}

static enum insn_operation logical_operation(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_PAND:
	case ZYDIS_MNEMONIC_ANDPS:
	case ZYDIS_MNEMONIC_ANDPD:
	case ZYDIS_MNEMONIC_VPAND:
	case ZYDIS_MNEMONIC_VPANDD:
	case ZYDIS_MNEMONIC_VPANDQ:
	case ZYDIS_MNEMONIC_VANDPS:
	case ZYDIS_MNEMONIC_VANDPD:
		return INSN_AND;
	case ZYDIS_MNEMONIC_PANDN:
	case ZYDIS_MNEMONIC_ANDNPS:
	case ZYDIS_MNEMONIC_ANDNPD:
	case ZYDIS_MNEMONIC_VPANDN:
	case ZYDIS_MNEMONIC_VPANDND:
	case ZYDIS_MNEMONIC_VPANDNQ:
	case ZYDIS_MNEMONIC_VANDNPS:
	case ZYDIS_MNEMONIC_VANDNPD:
		return INSN_AND_NOT;
	case ZYDIS_MNEMONIC_POR:
	case ZYDIS_MNEMONIC_ORPS:
	case ZYDIS_MNEMONIC_ORPD:
	case ZYDIS_MNEMONIC_VPOR:
	case ZYDIS_MNEMONIC_VPORD:
	case ZYDIS_MNEMONIC_VPORQ:
	case ZYDIS_MNEMONIC_VORPS:
	case ZYDIS_MNEMONIC_VORPD:
		return INSN_OR;
	case ZYDIS_MNEMONIC_PXOR:
	case ZYDIS_MNEMONIC_XORPS:
	case ZYDIS_MNEMONIC_XORPD:
	case ZYDIS_MNEMONIC_VPXOR:
	case ZYDIS_MNEMONIC_VPXORD:
	case ZYDIS_MNEMONIC_VPXORQ:
	case ZYDIS_MNEMONIC_VXORPS:
	case ZYDIS_MNEMONIC_VXORPD:
		return INSN_XOR;
	case ZYDIS_MNEMONIC_PBLENDVB:
	case ZYDIS_MNEMONIC_BLENDVPS:
	case ZYDIS_MNEMONIC_BLENDVPD:
	case ZYDIS_MNEMONIC_VPBLENDVB:
	case ZYDIS_MNEMONIC_VBLENDVPS:
	case ZYDIS_MNEMONIC_VBLENDVPD:
		return INSN_BLEND;
	default:
		return INSN_COMPUTE;
	}
}

/* Element by element, of so many bytes. Zydis names a vector's elements as the encoding does, which
 * for some is the whole register. */
static const struct element_of {
	uint16_t mnemonic;
	uint8_t element;
} by_element[] = {
#define INTEGERS(element, name)                  \
	{ZYDIS_MNEMONIC_P##name, element},       \
	{                                        \
		ZYDIS_MNEMONIC_VP##name, element \
	}
#define FLOATS(name)                                                     \
	{ZYDIS_MNEMONIC_##name##PS, 4}, {ZYDIS_MNEMONIC_V##name##PS, 4}, \
		{ZYDIS_MNEMONIC_##name##PD, 8},                          \
	{                                                                \
		ZYDIS_MNEMONIC_V##name##PD, 8                            \
	}
#define FUSED(name)                                                                   \
	{ZYDIS_MNEMONIC_##name##132PS, 4}, {ZYDIS_MNEMONIC_##name##132PD, 8},         \
		{ZYDIS_MNEMONIC_##name##213PS, 4}, {ZYDIS_MNEMONIC_##name##213PD, 8}, \
		{ZYDIS_MNEMONIC_##name##231PS, 4},                                    \
	{                                                                             \
		ZYDIS_MNEMONIC_##name##231PD, 8                                       \
	}
	INTEGERS(1, ADDB),
	INTEGERS(1, SUBB),
	INTEGERS(1, CMPEQB),
	INTEGERS(1, CMPGTB),
	INTEGERS(1, MINUB),
	INTEGERS(1, MAXUB),
	INTEGERS(1, MINSB),
	INTEGERS(1, MAXSB),
	INTEGERS(1, ADDUSB),
	INTEGERS(1, SUBUSB),
	INTEGERS(1, AVGB),
	INTEGERS(1, ABSB),
	INTEGERS(2, ADDW),
	INTEGERS(2, SUBW),
	INTEGERS(2, CMPEQW),
	INTEGERS(2, CMPGTW),
	INTEGERS(2, MULLW),
	INTEGERS(2, MULHW),
	INTEGERS(2, MINSW),
	INTEGERS(2, MAXSW),
	INTEGERS(2, ABSW),
	INTEGERS(4, ADDD),
	INTEGERS(4, SUBD),
	INTEGERS(4, CMPEQD),
	INTEGERS(4, CMPGTD),
	INTEGERS(4, MULLD),
	INTEGERS(4, MINSD),
	INTEGERS(4, MAXSD),
	INTEGERS(4, MINUD),
	INTEGERS(4, MAXUD),
	INTEGERS(4, ABSD),
	INTEGERS(8, ADDQ),
	INTEGERS(8, SUBQ),
	INTEGERS(8, CMPEQQ),
	INTEGERS(8, CMPGTQ),
	INTEGERS(8, MULUDQ),
	INTEGERS(1, ADDSB),
	INTEGERS(1, SUBSB),
	INTEGERS(1, SIGNB),
	INTEGERS(2, ADDSW),
	INTEGERS(2, SUBSW),
	INTEGERS(2, ADDUSW),
	INTEGERS(2, SUBUSW),
	INTEGERS(2, AVGW),
	INTEGERS(2, MULHUW),
	INTEGERS(2, MINUW),
	INTEGERS(2, MAXUW),
	INTEGERS(2, SIGNW),
	INTEGERS(4, SIGND),
	INTEGERS(8, MULDQ),
	/* Of elements together: an element of the result is made of those in its place. */
	INTEGERS(2, MADDUBSW),
	INTEGERS(4, MADDWD),
	INTEGERS(8, SADBW),
	FLOATS(ADD),
	FLOATS(SUB),
	FLOATS(MUL),
	FLOATS(DIV),
	FLOATS(MIN),
	FLOATS(MAX),
	FLOATS(SQRT),
	FLOATS(CMP),
	FLOATS(ADDSUB),
	{ZYDIS_MNEMONIC_CVTDQ2PS, 4},
	{ZYDIS_MNEMONIC_VCVTDQ2PS, 4},
	{ZYDIS_MNEMONIC_CVTPS2DQ, 4},
	{ZYDIS_MNEMONIC_VCVTPS2DQ, 4},
	{ZYDIS_MNEMONIC_CVTTPS2DQ, 4},
	{ZYDIS_MNEMONIC_VCVTTPS2DQ, 4},
	{ZYDIS_MNEMONIC_VPSLLVD, 4},
	{ZYDIS_MNEMONIC_VPSRLVD, 4},
	{ZYDIS_MNEMONIC_VPSRAVD, 4},
	{ZYDIS_MNEMONIC_VPSLLVQ, 8},
	{ZYDIS_MNEMONIC_VPSRLVQ, 8},
	FUSED(VFMADD),
	FUSED(VFMSUB),
	FUSED(VFNMADD),
	FUSED(VFNMSUB),
};

/* Shifts of each element by the same number of bits. */
static const struct element_of shifts[] = {
	INTEGERS(2, SLLW), INTEGERS(2, SRLW), INTEGERS(2, SRAW), INTEGERS(4, SLLD),
	INTEGERS(4, SRLD), INTEGERS(4, SRAD), INTEGERS(8, SLLQ), INTEGERS(8, SRLQ),
};

/* By how much, where a register says it, is a source of all elements: of those nothing is told. */
static bool is_shift_by_constant(const ZydisDecodedInstruction *instruction,
				 const ZydisDecodedOperand *operands)
{
	return operands[instruction->operand_count_visible - 1].type ==
	       ZYDIS_OPERAND_TYPE_IMMEDIATE;
}

static unsigned element_size(const struct effect_decoded *decoded)
{
	ZydisMnemonic mnemonic = decoded->instruction.mnemonic;

	for (unsigned i = 0; i < sizeof(by_element) / sizeof(*by_element); i++)
		if (by_element[i].mnemonic == mnemonic)
			return by_element[i].element;
	for (unsigned i = 0; i < sizeof(shifts) / sizeof(*shifts); i++)
		if (shifts[i].mnemonic == mnemonic &&
		    is_shift_by_constant(&decoded->instruction, decoded->operand))
			return shifts[i].element;
	return 0;
}

static bool is_one_of(ZydisMnemonic mnemonic, const uint16_t *list, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (list[i] == mnemonic)
			return true;
	return false;
}

static void tell_shift(const struct effect_decoded *decoded, struct insn_result *result)
{
	static const uint16_t left[] = {ZYDIS_MNEMONIC_PSLLW, ZYDIS_MNEMONIC_VPSLLW,
					ZYDIS_MNEMONIC_PSLLD, ZYDIS_MNEMONIC_VPSLLD,
					ZYDIS_MNEMONIC_PSLLQ, ZYDIS_MNEMONIC_VPSLLQ};
	static const uint16_t by_sign[] = {ZYDIS_MNEMONIC_PSRAW, ZYDIS_MNEMONIC_VPSRAW,
					   ZYDIS_MNEMONIC_PSRAD, ZYDIS_MNEMONIC_VPSRAD};
	const ZydisMnemonic mnemonic = decoded->instruction.mnemonic;
	const unsigned last = decoded->instruction.operand_count_visible - 1u;
	const uint64_t most = result->element * 8u, by = decoded->operand[last].imm.value.u;
	const int bits = (int)(by < most ? by : most);

	result->shifted =
		(int8_t)(is_one_of(mnemonic, left, sizeof(left) / sizeof(*left)) ? bits : -bits);
	result->shifts_sign = is_one_of(mnemonic, by_sign, sizeof(by_sign) / sizeof(*by_sign));
}

void effect_element(const struct effect_decoded *decoded, struct insn_result *result)
{
	const ZydisMnemonic mnemonic = decoded->instruction.mnemonic;

	switch (mnemonic) {
	case ZYDIS_MNEMONIC_PMULUDQ:
	case ZYDIS_MNEMONIC_VPMULUDQ:
	case ZYDIS_MNEMONIC_PMULDQ:
	case ZYDIS_MNEMONIC_VPMULDQ:
		result->taken = 4;
		break;
	case ZYDIS_MNEMONIC_PSADBW:
	case ZYDIS_MNEMONIC_VPSADBW:
		result->made = 2;
		break;
	default:
		for (unsigned i = 0; i < sizeof(shifts) / sizeof(*shifts); i++)
			if (shifts[i].mnemonic == mnemonic)
				tell_shift(decoded, result);
	}
}

/* Of the instructions that gather top bits into a general register; else 0. */
static unsigned top_bits_element(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_PMOVMSKB:
	case ZYDIS_MNEMONIC_VPMOVMSKB:
		return 1;
	case ZYDIS_MNEMONIC_MOVMSKPS:
	case ZYDIS_MNEMONIC_VMOVMSKPS:
		return 4;
	case ZYDIS_MNEMONIC_MOVMSKPD:
	case ZYDIS_MNEMONIC_VMOVMSKPD:
		return 8;
	default:
		return 0;
	}
}

bool effect_compares_equal(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
	case ZYDIS_MNEMONIC_PCMPEQB:
	case ZYDIS_MNEMONIC_PCMPEQW:
	case ZYDIS_MNEMONIC_PCMPEQD:
	case ZYDIS_MNEMONIC_PCMPEQQ:
	case ZYDIS_MNEMONIC_VPCMPEQB:
	case ZYDIS_MNEMONIC_VPCMPEQW:
	case ZYDIS_MNEMONIC_VPCMPEQD:
	case ZYDIS_MNEMONIC_VPCMPEQQ:
		return true;
	default:
		return false;
	}
}

static bool is_register_twice(const struct effect_decoded *decoded)
{
	unsigned last = decoded->instruction.operand_count_visible;
	const ZydisDecodedOperand *a, *b;

	if (last < 2)
		return false;
	a = &decoded->operand[last - 2];
	b = &decoded->operand[last - 1];
	return a->type == ZYDIS_OPERAND_TYPE_REGISTER && b->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       a->reg.value == b->reg.value;
}

/* Which truth table vpternlog has, of three bits; -1: it is another instruction. */
static int truth_table(const struct effect_decoded *decoded)
{
	unsigned last = decoded->instruction.operand_count_visible;

	if (decoded->instruction.mnemonic != ZYDIS_MNEMONIC_VPTERNLOGD &&
	    decoded->instruction.mnemonic != ZYDIS_MNEMONIC_VPTERNLOGQ)
		return -1;
	return (int)(decoded->operand[last - 1].imm.value.u & 0xff);
}

uint64_t effect_constant(const struct effect_decoded *decoded)
{
	bool ones = effect_compares_equal(decoded->instruction.mnemonic) ||
		    truth_table(decoded) == 0xff;

	return ones ? ~0ull : 0;
}

/* What the sources hold does not matter. */
static bool cancels(const struct effect_decoded *decoded, enum insn_operation operation)
{
	ZydisMnemonic mnemonic = decoded->instruction.mnemonic;
	int table = truth_table(decoded);

	if (table == 0 || table == 0xff)
		return true;
	if (!is_register_twice(decoded))
		return false;
	if (operation == INSN_XOR || operation == INSN_AND_NOT)
		return true;
	/* sbb with itself spreads the carry; psub and pcmpeq of one register are 0 and all ones. */
	return mnemonic == ZYDIS_MNEMONIC_SUB ||
	       (mnemonic >= ZYDIS_MNEMONIC_PSUBB && mnemonic <= ZYDIS_MNEMONIC_PSUBQ) ||
	       effect_compares_equal(mnemonic);
}

static bool writes_mask(const struct effect_decoded *decoded)
{
	return decoded->operand[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       decoded->operand[0].reg.value >= ZYDIS_REGISTER_K0 &&
	       decoded->operand[0].reg.value <= ZYDIS_REGISTER_K7;
}

enum insn_operation effect_operation(const struct effect_decoded *decoded, unsigned *element)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;
	ZydisMnemonic mnemonic = instruction->mnemonic;
	enum insn_operation operation = integer_operation(mnemonic);

	*element = 0;
	/* In memory a register may name a bit far away. */
	if ((operation == INSN_BIT || operation == INSN_BIT_MADE) &&
	    decoded->operand[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	    decoded->operand[1].type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
		return INSN_COMPUTE;
	if (operation == INSN_COMPUTE)
		operation = logical_operation(mnemonic);
	if (operation == INSN_COMPUTE && is_vector_move(mnemonic) &&
	    instruction->avx.mask.reg <= ZYDIS_REGISTER_K0)
		operation = INSN_COPY;
	if (operation == INSN_COMPUTE && mnemonic == ZYDIS_MNEMONIC_IMUL &&
	    instruction->operand_count_visible > 1)
		operation = INSN_MULTIPLY;
	if (operation == INSN_COMPUTE && instruction->meta.category == ZYDIS_CATEGORY_CMOV)
		operation = INSN_SELECT;
	/* A mask has a bit for each element. */
	if (operation == INSN_COMPUTE && !writes_mask(decoded) &&
	    (*element = element_size(decoded)))
		operation = INSN_ELEMENTS;
	if (operation == INSN_COMPUTE && (*element = top_bits_element(mnemonic)))
		operation = INSN_TOP_BITS;
	/* A masked result keeps elements of what was there. */
	if (instruction->avx.mask.reg > ZYDIS_REGISTER_K0 &&
	    instruction->avx.mask.reg <= ZYDIS_REGISTER_K7)
		return INSN_COMPUTE;
	/* Each element is made of the one that memory has. */
	if (instruction->avx.broadcast.mode && !instruction->avx.broadcast.is_static)
		return INSN_COMPUTE;
	return cancels(decoded, operation) ? INSN_CONSTANT : operation;
}

unsigned effect_scalar(ZydisMnemonic mnemonic, bool *takes_destination)
{
	*takes_destination = true;
	switch (mnemonic) {
#define ARITHMETIC(name, element)    \
	case ZYDIS_MNEMONIC_##name:  \
	case ZYDIS_MNEMONIC_V##name: \
		return element;
		ARITHMETIC(ADDSS, 4)
		ARITHMETIC(SUBSS, 4)
		ARITHMETIC(MULSS, 4)
		ARITHMETIC(DIVSS, 4)
		ARITHMETIC(MINSS, 4)
		ARITHMETIC(MAXSS, 4)
		ARITHMETIC(ADDSD, 8)
		ARITHMETIC(SUBSD, 8)
		ARITHMETIC(MULSD, 8)
		ARITHMETIC(DIVSD, 8)
		ARITHMETIC(MINSD, 8)
		ARITHMETIC(MAXSD, 8)
		ARITHMETIC(CMPSS, 4)
		ARITHMETIC(CMPSD, 8)
#undef ARITHMETIC
	case ZYDIS_MNEMONIC_CVTSI2SS:
	case ZYDIS_MNEMONIC_VCVTSI2SS:
	case ZYDIS_MNEMONIC_CVTSD2SS:
	case ZYDIS_MNEMONIC_VCVTSD2SS:
	case ZYDIS_MNEMONIC_SQRTSS:
	case ZYDIS_MNEMONIC_VSQRTSS:
	case ZYDIS_MNEMONIC_ROUNDSS:
	case ZYDIS_MNEMONIC_VROUNDSS:
		*takes_destination = false;
		return 4;
	case ZYDIS_MNEMONIC_CVTSI2SD:
	case ZYDIS_MNEMONIC_VCVTSI2SD:
	case ZYDIS_MNEMONIC_CVTSS2SD:
	case ZYDIS_MNEMONIC_VCVTSS2SD:
	case ZYDIS_MNEMONIC_SQRTSD:
	case ZYDIS_MNEMONIC_VSQRTSD:
	case ZYDIS_MNEMONIC_ROUNDSD:
	case ZYDIS_MNEMONIC_VROUNDSD:
		*takes_destination = false;
		return 8;
	default:
		return 0;
	}
}

unsigned effect_scalar_fused(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
#define FUSED_SCALAR(name, of, element)      \
	case ZYDIS_MNEMONIC_##name##132##of: \
	case ZYDIS_MNEMONIC_##name##213##of: \
	case ZYDIS_MNEMONIC_##name##231##of: \
		return element;
		FUSED_SCALAR(VFMADD, SS, 4)
		FUSED_SCALAR(VFMSUB, SS, 4)
		FUSED_SCALAR(VFNMADD, SS, 4)
		FUSED_SCALAR(VFNMSUB, SS, 4)
		FUSED_SCALAR(VFMADD, SD, 8)
		FUSED_SCALAR(VFMSUB, SD, 8)
		FUSED_SCALAR(VFNMADD, SD, 8)
		FUSED_SCALAR(VFNMSUB, SD, 8)
#undef FUSED_SCALAR
	default:
		return 0;
	}
}

unsigned effect_scalar_taken(ZydisMnemonic mnemonic)
{
	switch (mnemonic) {
#define TAKES(name, element)         \
	case ZYDIS_MNEMONIC_##name:  \
	case ZYDIS_MNEMONIC_V##name: \
		return element;
		TAKES(COMISS, 4)
		TAKES(UCOMISS, 4)
		TAKES(CVTSS2SI, 4)
		TAKES(CVTTSS2SI, 4)
		TAKES(COMISD, 8)
		TAKES(UCOMISD, 8)
		TAKES(CVTSD2SI, 8)
		TAKES(CVTTSD2SI, 8)
#undef TAKES
	default:
		return 0;
	}
}
