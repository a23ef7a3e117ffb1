/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From which byte of its sources each byte of such an instruction's result comes (Intel SDM volume
 * 2). Most do in the upper 16 bytes of a register what they do in the lower.
 */
#include "insn/effect_shuffle.h"

#define SECOND INSN_LANES /* lanes from here on are of source 1 */
#define HALF 16u

enum pattern {
	/* In each 16 bytes: elements in turn from both sources' low or high halves, … */
	LOW,
	HIGH,
	/* … from where bits of a constant say, of one source, or of both in turn by halves, … */
	ONE_BY_CONSTANT,
	BOTH_BY_CONSTANT,
	LOW_WORDS_BY_CONSTANT,
	HIGH_WORDS_BY_CONSTANT,
	/* … of one of two sources at the same place, as a bit of the constant says, … */
	BLEND_BY_CONSTANT,
	/* … bytes moved by as many places as the constant says, … */
	BYTES_LEFT,
	BYTES_RIGHT,
	BYTES_OF_BOTH,
	/* … bits of each element moved so, of which here whole bytes are told, … */
	BITS_LEFT,
	BITS_RIGHT,
	BITS_RIGHT_SIGN,
	/* … each even element twice, or each odd one. */
	EVEN_TWICE,
	ODD_TWICE,
	/* Across the whole register. */
	QUARTERS_BY_CONSTANT,
	HALVES_BY_CONSTANT,
	INSERT_HALF,
	EXTRACT_HALF,
	BROADCAST,
	/* One element is put into the lowest 16 bytes, or taken out of them. */
	INSERT,
	INSERT_FLOAT,
	EXTRACT,
	/* The lowest element is the second source's, or a half of 16 bytes. */
	LOWEST_OF_SECOND,
	LOWS_OF_BOTH,
	HIGHS_OF_BOTH,
	/* Elements in a row become 2, 4 or 8 bytes long, by zeroes … */
	ZEROES_TO_2,
	ZEROES_TO_4,
	ZEROES_TO_8,
	/* … or by what depends on the whole element; or half as long, in each 16 bytes or in a row;
	 * or two neighbours become one. */
	CONVERT_TO_2,
	CONVERT_TO_4,
	CONVERT_TO_8,
	NARROW,
	NARROW_IN_A_ROW,
	PAIRS,
};

static const struct shuffle {
	uint16_t mnemonic;
	uint8_t element; /* bytes */
	uint8_t pattern;
} shuffles[] = {
#define BOTH(name, element, pattern)                     \
	{ZYDIS_MNEMONIC_##name, element, pattern},       \
	{                                                \
		ZYDIS_MNEMONIC_V##name, element, pattern \
	}
#define ONE(name, element, pattern)                     \
	{                                               \
		ZYDIS_MNEMONIC_##name, element, pattern \
	}
	BOTH(PUNPCKLBW, 1, LOW),
	BOTH(PUNPCKHBW, 1, HIGH),
	BOTH(PUNPCKLWD, 2, LOW),
	BOTH(PUNPCKHWD, 2, HIGH),
	BOTH(PUNPCKLDQ, 4, LOW),
	BOTH(PUNPCKHDQ, 4, HIGH),
	BOTH(PUNPCKLQDQ, 8, LOW),
	BOTH(PUNPCKHQDQ, 8, HIGH),
	BOTH(UNPCKLPS, 4, LOW),
	BOTH(UNPCKHPS, 4, HIGH),
	BOTH(UNPCKLPD, 8, LOW),
	BOTH(UNPCKHPD, 8, HIGH),
	BOTH(PSHUFD, 4, ONE_BY_CONSTANT),
	ONE(VPERMILPS, 4, ONE_BY_CONSTANT),
	ONE(VPERMILPD, 8, ONE_BY_CONSTANT),
	BOTH(SHUFPS, 4, BOTH_BY_CONSTANT),
	BOTH(SHUFPD, 8, BOTH_BY_CONSTANT),
	BOTH(PSHUFLW, 2, LOW_WORDS_BY_CONSTANT),
	BOTH(PSHUFHW, 2, HIGH_WORDS_BY_CONSTANT),
	BOTH(BLENDPS, 4, BLEND_BY_CONSTANT),
	BOTH(BLENDPD, 8, BLEND_BY_CONSTANT),
	BOTH(PBLENDW, 2, BLEND_BY_CONSTANT),
	ONE(VPBLENDD, 4, BLEND_BY_CONSTANT),
	BOTH(PSLLDQ, 1, BYTES_LEFT),
	BOTH(PSRLDQ, 1, BYTES_RIGHT),
	BOTH(PALIGNR, 1, BYTES_OF_BOTH),
	BOTH(PSLLW, 2, BITS_LEFT),
	BOTH(PSLLD, 4, BITS_LEFT),
	BOTH(PSLLQ, 8, BITS_LEFT),
	BOTH(PSRLW, 2, BITS_RIGHT),
	BOTH(PSRLD, 4, BITS_RIGHT),
	BOTH(PSRLQ, 8, BITS_RIGHT),
	BOTH(PSRAW, 2, BITS_RIGHT_SIGN),
	BOTH(PSRAD, 4, BITS_RIGHT_SIGN),
	BOTH(MOVDDUP, 8, EVEN_TWICE),
	BOTH(MOVSLDUP, 4, EVEN_TWICE),
	BOTH(MOVSHDUP, 4, ODD_TWICE),
	ONE(VPERMQ, 8, QUARTERS_BY_CONSTANT),
	ONE(VPERMPD, 8, QUARTERS_BY_CONSTANT),
	ONE(VPERM2F128, 16, HALVES_BY_CONSTANT),
	ONE(VPERM2I128, 16, HALVES_BY_CONSTANT),
	ONE(VINSERTF128, 16, INSERT_HALF),
	ONE(VINSERTI128, 16, INSERT_HALF),
	ONE(VEXTRACTF128, 16, EXTRACT_HALF),
	ONE(VEXTRACTI128, 16, EXTRACT_HALF),
	ONE(VPBROADCASTB, 1, BROADCAST),
	ONE(VPBROADCASTW, 2, BROADCAST),
	ONE(VPBROADCASTD, 4, BROADCAST),
	ONE(VPBROADCASTQ, 8, BROADCAST),
	ONE(VBROADCASTSS, 4, BROADCAST),
	ONE(VBROADCASTSD, 8, BROADCAST),
	ONE(VBROADCASTF128, 16, BROADCAST),
	ONE(VBROADCASTI128, 16, BROADCAST),
	BOTH(PINSRB, 1, INSERT),
	BOTH(PINSRW, 2, INSERT),
	BOTH(PINSRD, 4, INSERT),
	BOTH(PINSRQ, 8, INSERT),
	BOTH(INSERTPS, 4, INSERT_FLOAT),
	BOTH(PEXTRB, 1, EXTRACT),
	BOTH(PEXTRW, 2, EXTRACT),
	BOTH(PEXTRD, 4, EXTRACT),
	BOTH(PEXTRQ, 8, EXTRACT),
	BOTH(EXTRACTPS, 4, EXTRACT),
	ONE(VMOVSS, 4, LOWEST_OF_SECOND),
	ONE(VMOVSD, 8, LOWEST_OF_SECOND),
	ONE(VMOVLPS, 8, LOWEST_OF_SECOND),
	ONE(VMOVLPD, 8, LOWEST_OF_SECOND),
	ONE(VMOVHPS, 8, LOWS_OF_BOTH),
	ONE(VMOVHPD, 8, LOWS_OF_BOTH),
	ONE(VMOVLHPS, 8, LOWS_OF_BOTH),
	ONE(VMOVHLPS, 8, HIGHS_OF_BOTH),
	BOTH(PMOVZXBW, 1, ZEROES_TO_2),
	BOTH(PMOVZXBD, 1, ZEROES_TO_4),
	BOTH(PMOVZXBQ, 1, ZEROES_TO_8),
	BOTH(PMOVZXWD, 2, ZEROES_TO_4),
	BOTH(PMOVZXWQ, 2, ZEROES_TO_8),
	BOTH(PMOVZXDQ, 4, ZEROES_TO_8),
	BOTH(PMOVSXBW, 1, CONVERT_TO_2),
	BOTH(PMOVSXBD, 1, CONVERT_TO_4),
	BOTH(PMOVSXBQ, 1, CONVERT_TO_8),
	BOTH(PMOVSXWD, 2, CONVERT_TO_4),
	BOTH(PMOVSXWQ, 2, CONVERT_TO_8),
	BOTH(PMOVSXDQ, 4, CONVERT_TO_8),
	BOTH(CVTDQ2PD, 4, CONVERT_TO_8),
	BOTH(CVTPS2PD, 4, CONVERT_TO_8),
	BOTH(PACKSSWB, 2, NARROW),
	BOTH(PACKUSWB, 2, NARROW),
	BOTH(PACKSSDW, 4, NARROW),
	BOTH(PACKUSDW, 4, NARROW),
	BOTH(CVTPD2PS, 8, NARROW_IN_A_ROW),
	BOTH(CVTPD2DQ, 8, NARROW_IN_A_ROW),
	BOTH(CVTTPD2DQ, 8, NARROW_IN_A_ROW),
	BOTH(PHADDW, 2, PAIRS),
	BOTH(PHADDD, 4, PAIRS),
	BOTH(PHSUBW, 2, PAIRS),
	BOTH(PHSUBD, 4, PAIRS),
	BOTH(HADDPS, 4, PAIRS),
	BOTH(HADDPD, 8, PAIRS),
	BOTH(HSUBPS, 4, PAIRS),
	BOTH(HSUBPD, 8, PAIRS),
#undef BOTH
#undef ONE
};

/* Which byte it is that the code below asks for. */
struct asked {
	const struct shuffle *shuffle;
	uint64_t constant;
	unsigned byte;	 /* of the result … */
	unsigned base;	 /* … the first of its 16 … */
	unsigned index;	 /* … and its number in these */
	unsigned number; /* of its element in the register … */
	unsigned within; /* … and in 16 bytes */
	unsigned count;	 /* elements of 16 bytes */
	bool memory;	 /* the second source is */
};

static bool bit(const struct asked *asked, unsigned number)
{
	return asked->constant >> number & 1;
}

static unsigned two_bits(const struct asked *asked, unsigned number)
{
	return (unsigned)(asked->constant >> 2 * number) & 3;
}

/* ------------------------------------------------------------------------------------------- */
/* In each 16 bytes, elements: which one, counted through both sources */

/* Of 8 bytes each one has a bit of its own; four of 4 bytes have the same two everywhere. */
static unsigned chosen(const struct asked *asked)
{
	return asked->count == 4 ? two_bits(asked, asked->within) : bit(asked, asked->number);
}

static unsigned element_of(const struct asked *asked)
{
	const unsigned within = asked->within, count = asked->count;

	switch (asked->shuffle->pattern) {
	case LOW:
		return within / 2 + within % 2 * count;
	case HIGH:
		return within / 2 + count / 2 + within % 2 * count;
	case ONE_BY_CONSTANT:
		return chosen(asked);
	case BOTH_BY_CONSTANT:
		return chosen(asked) + (within >= count / 2 ? count : 0);
	case LOW_WORDS_BY_CONSTANT:
		return within < 4 ? two_bits(asked, within) : within;
	case HIGH_WORDS_BY_CONSTANT:
		return within < 4 ? within : 4 + two_bits(asked, within - 4);
	case BLEND_BY_CONSTANT:
		/* Words have the same bits everywhere. */
		return within + (bit(asked, count == 8 ? within : asked->number) ? count : 0);
	case EVEN_TWICE:
		return within & ~1u;
	case ODD_TWICE:
		return within | 1;
	default: /* PAIRS */
		return within < count / 2 ? 2 * within : count + 2 * (within - count / 2);
	}
}

static uint8_t lane_of_element(const struct asked *asked)
{
	const unsigned element = element_of(asked), size = asked->shuffle->element;

	return (uint8_t)(asked->base + element % asked->count * size + asked->byte % size +
			 (element >= asked->count ? SECOND : 0));
}

/* ------------------------------------------------------------------------------------------- */
/* In each 16 bytes, bytes */

static uint8_t lane_of_moved_bytes(const struct asked *asked)
{
	const unsigned by = asked->constant < 2 * HALF ? (unsigned)asked->constant : 2 * HALF;
	const unsigned from = asked->index + by;

	switch (asked->shuffle->pattern) {
	case BYTES_LEFT:
		return asked->index < by ? INSN_LANE_ZERO : (uint8_t)(asked->byte - by);
	case BYTES_RIGHT:
		return from < HALF ? (uint8_t)(asked->base + from) : INSN_LANE_ZERO;
	default: /* the second source's come first */
		if (from >= 2 * HALF)
			return INSN_LANE_ZERO;
		return (uint8_t)(asked->base + from % HALF + (from < HALF ? SECOND : 0));
	}
}

static uint8_t lane_of_moved_bits(const struct asked *asked)
{
	const unsigned size = asked->shuffle->element, at = asked->byte % size;
	const unsigned by = asked->constant / 8 < size ? (unsigned)asked->constant / 8 : size;

	if (asked->shuffle->pattern == BITS_LEFT)
		return at < by ? INSN_LANE_ZERO : (uint8_t)(asked->byte - by);
	if (at + by < size)
		return (uint8_t)(asked->byte + by);
	return asked->shuffle->pattern == BITS_RIGHT ? INSN_LANE_ZERO
						     : (uint8_t)(asked->byte - at + size - 1);
}

/* ------------------------------------------------------------------------------------------- */
/* Across the register, and of its lowest 16 bytes */

static uint8_t lane_across(const struct asked *asked)
{
	const unsigned half = asked->byte / HALF, bits = (unsigned)(asked->constant >> 4 * half);

	switch (asked->shuffle->pattern) {
	case QUARTERS_BY_CONSTANT:
		return (uint8_t)(two_bits(asked, asked->byte / 8) * 8 + asked->byte % 8);
	case HALVES_BY_CONSTANT:
		return bits & 8 ? INSN_LANE_ZERO
				: (uint8_t)(asked->index + (bits & 1) * HALF +
					    (bits & 2 ? SECOND : 0));
	case INSERT_HALF:
		return (uint8_t)(half == bit(asked, 0) ? SECOND + asked->index : asked->byte);
	case EXTRACT_HALF:
		return (uint8_t)(asked->index + bit(asked, 0) * HALF);
	default: /* BROADCAST */
		return (uint8_t)(asked->byte % asked->shuffle->element);
	}
}

/* INSERTPS: which one is taken, where it goes, and which are cleared. Memory has one alone. */
static uint8_t lane_of_floats(const struct asked *asked)
{
	const unsigned from = asked->memory ? 0 : two_bits(asked, 3), to = two_bits(asked, 2);

	if (bit(asked, asked->within))
		return INSN_LANE_ZERO;
	return (uint8_t)(asked->within == to ? SECOND + 4 * from + asked->byte % 4 : asked->byte);
}

static uint8_t lane_of_one(const struct asked *asked)
{
	const unsigned size = asked->shuffle->element;
	const unsigned named = (unsigned)asked->constant & (asked->count - 1);

	switch (asked->shuffle->pattern) {
	case INSERT:
		return (uint8_t)(asked->number == named ? SECOND + asked->byte % size
							: asked->byte);
	case EXTRACT:
		return asked->byte < size ? (uint8_t)(named * size + asked->byte) : INSN_LANE_ZERO;
	case LOWEST_OF_SECOND:
		return (uint8_t)(asked->byte < size ? SECOND + asked->byte : asked->byte);
	case LOWS_OF_BOTH:
		return (uint8_t)(asked->byte < 8 ? asked->byte : SECOND + asked->byte % 8);
	default: /* HIGHS_OF_BOTH */
		return (uint8_t)(asked->byte < 8 ? SECOND + 8 + asked->byte : asked->byte);
	}
}

/* ------------------------------------------------------------------------------------------- */
/* Elements of another length */

static uint8_t lane_of_longer(const struct asked *asked, unsigned longer, bool zeroes)
{
	const unsigned size = asked->shuffle->element, at = asked->byte % longer;

	return zeroes && at >= size ? INSN_LANE_ZERO
				    : (uint8_t)(asked->byte / longer * size + at % size);
}

static uint8_t lane_of_shorter(const struct asked *asked)
{
	const unsigned size = asked->shuffle->element;

	if (asked->shuffle->pattern == NARROW_IN_A_ROW)
		return asked->byte < HALF ? (uint8_t)(asked->byte / (size / 2) * size)
					  : INSN_LANE_ZERO;
	return (uint8_t)(asked->base + asked->index % 8 / (size / 2) * size +
			 (asked->index < 8 ? 0 : SECOND));
}

/* ------------------------------------------------------------------------------------------- */

static uint8_t lane_of(const struct asked *asked)
{
	switch (asked->shuffle->pattern) {
	case BYTES_LEFT:
	case BYTES_RIGHT:
	case BYTES_OF_BOTH:
		return lane_of_moved_bytes(asked);
	case BITS_LEFT:
	case BITS_RIGHT:
	case BITS_RIGHT_SIGN:
		return lane_of_moved_bits(asked);
	case QUARTERS_BY_CONSTANT:
	case HALVES_BY_CONSTANT:
	case INSERT_HALF:
	case EXTRACT_HALF:
	case BROADCAST:
		return lane_across(asked);
	case INSERT_FLOAT:
		return lane_of_floats(asked);
	case INSERT:
	case EXTRACT:
	case LOWEST_OF_SECOND:
	case LOWS_OF_BOTH:
	case HIGHS_OF_BOTH:
		return lane_of_one(asked);
	case ZEROES_TO_2:
	case CONVERT_TO_2:
		return lane_of_longer(asked, 2, asked->shuffle->pattern == ZEROES_TO_2);
	case ZEROES_TO_4:
	case CONVERT_TO_4:
		return lane_of_longer(asked, 4, asked->shuffle->pattern == ZEROES_TO_4);
	case ZEROES_TO_8:
	case CONVERT_TO_8:
		return lane_of_longer(asked, 8, asked->shuffle->pattern == ZEROES_TO_8);
	case NARROW:
	case NARROW_IN_A_ROW:
		return lane_of_shorter(asked);
	default:
		return lane_of_element(asked);
	}
}

static const struct shuffle *find_shuffle(ZydisMnemonic mnemonic)
{
	for (unsigned i = 0; i < sizeof(shuffles) / sizeof(*shuffles); i++)
		if (shuffles[i].mnemonic == mnemonic)
			return &shuffles[i];
	return NULL;
}

static const ZydisDecodedOperand *constant_of(const struct effect_decoded *decoded)
{
	const unsigned count = decoded->instruction.operand_count_visible;
	const ZydisDecodedOperand *last = count ? &decoded->operand[count - 1] : NULL;

	return last && last->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? last : NULL;
}

static bool needs_constant(unsigned pattern)
{
	switch (pattern) {
	case ONE_BY_CONSTANT:
	case QUARTERS_BY_CONSTANT:
	case BITS_LEFT:
	case BITS_RIGHT:
	case BITS_RIGHT_SIGN:
		return true; /* the others have it in any case */
	default:
		return false;
	}
}

/* What is done to 64 bytes is not told where the second 32 are made in another way than the first.
 */
static bool is_told(const struct effect_decoded *decoded, const struct shuffle *shuffle)
{
	const ZydisDecodedInstruction *instruction = &decoded->instruction;
	const ZydisDecodedOperand *constant = constant_of(decoded);

	if (instruction->avx.mask.reg > ZYDIS_REGISTER_K0 ||
	    (instruction->avx.broadcast.mode && !instruction->avx.broadcast.is_static) ||
	    (needs_constant(shuffle->pattern) && !constant))
		return false;
	if (shuffle->pattern >= BITS_LEFT && shuffle->pattern <= BITS_RIGHT_SIGN &&
	    constant->imm.value.u % 8)
		return false;
	return instruction->avx.vector_length != 512 ||
	       (shuffle->pattern <= ODD_TWICE && shuffle->element < 8 &&
		shuffle->pattern != BLEND_BY_CONSTANT);
}

/* Moves of AVX that have the upper part from a register of its own; with two operands they are
 * others. A mask, which EVEX names in any case, is none of these. */
static bool is_move_of_two(const struct effect_decoded *decoded, const struct shuffle *shuffle)
{
	unsigned operands = decoded->instruction.operand_count_visible;

	for (unsigned i = 0; i < decoded->instruction.operand_count_visible; i++)
		operands -= decoded->operand[i].encoding == ZYDIS_OPERAND_ENCODING_MASK;
	return shuffle->pattern >= LOWEST_OF_SECOND && shuffle->pattern <= HIGHS_OF_BOTH &&
	       operands < 3;
}

enum insn_operation effect_shuffle(const struct effect_decoded *decoded, unsigned *element)
{
	const struct shuffle *shuffle = find_shuffle(decoded->instruction.mnemonic);

	if (!shuffle || !is_told(decoded, shuffle) || is_move_of_two(decoded, shuffle))
		return INSN_COMPUTE;
	if (shuffle->pattern < CONVERT_TO_2 && shuffle->pattern != BITS_RIGHT_SIGN)
		return INSN_SHUFFLE;
	*element = shuffle->pattern == BITS_RIGHT_SIGN ? 1u
		   : shuffle->pattern == PAIRS	       ? 2u * shuffle->element
						       : shuffle->element;
	return INSN_CONVERT;
}

void effect_lane(const struct effect_decoded *decoded, uint8_t lane[INSN_LANES])
{
	const ZydisDecodedOperand *constant = constant_of(decoded);
	struct asked asked = {.shuffle = find_shuffle(decoded->instruction.mnemonic),
			      .constant = constant ? constant->imm.value.u : 0,
			      .memory = decoded->operand[1].type == ZYDIS_OPERAND_TYPE_MEMORY ||
					decoded->operand[2].type == ZYDIS_OPERAND_TYPE_MEMORY};

	if (!asked.shuffle)
		return;
	asked.count = HALF / asked.shuffle->element;
	for (unsigned i = 0; i < 2 * HALF; i++) {
		asked.byte = i;
		asked.base = i / HALF * HALF;
		asked.index = i % HALF;
		asked.number = i / asked.shuffle->element;
		asked.within = asked.number % asked.count;
		lane[i] = lane_of(&asked);
	}
}
