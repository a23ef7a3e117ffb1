/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Length of an instruction. Walking through a function to the trap decodes hundreds, nearly all of
 * them of a few shapes: those are measured here from one table, some twenty times faster than by a
 * full decoder; whatever the table leaves out, or only some forms of which exist, is asked of
 * Zydis. Where both answer they agree: fuzz/insn_decode.c and tests/unit/insn_functions.c hold them
 * to it.
 *
 * Source: Intel SDM volume 2, 2.1 (instruction format) and appendix A (opcode map).
 */
#include "insn/length.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdbool.h>

#include "insn/insn.h"

/* What follows an opcode. 0: not in the table. */
enum shape {
	KNOWN = 0x01,
	MODRM = 0x02,
	BYTE = 0x04,   /* an 8-bit immediate or offset */
	WORD = 0x08,   /* 16 or 32 bits, by operand size */
	OFFSET = 0x10, /* a 32-bit branch offset */
	FULL = 0x20,   /* 16, 32 or 64 bits (mov to register) */
	PLAIN = 0x40,  /* without an F2 or F3 prefix, at most 66 */
	MEMORY = 0x80, /* only with a memory operand */
	ANY = 0x100,   /* with or without 66, F2, F3 */
	GROUP = 0x200, /* the ModRM's middle field selects: see group_shape() */
	NO_66 = 0x400, /* without 66 too */
};

/* Register and memory both ways in two sizes, then the accumulator with an immediate. */
#define ALU(op) \
	[(op)...(op) + 3] = KNOWN | MODRM, [(op) + 4] = KNOWN | BYTE, [(op) + 5] = KNOWN | WORD

static const uint16_t one_byte[256] = {
	ALU(0x00),
	ALU(0x08),
	ALU(0x10),
	ALU(0x18),
	ALU(0x20),
	ALU(0x28),
	ALU(0x30),
	ALU(0x38),
	[0x50 ... 0x5f] = KNOWN,
	[0x63] = KNOWN | MODRM,
	[0x68] = KNOWN | WORD,
	[0x69] = KNOWN | MODRM | WORD,
	[0x6a] = KNOWN | BYTE,
	[0x6b] = KNOWN | MODRM | BYTE,
	[0x70 ... 0x7f] = KNOWN | BYTE | NO_66,
	[0x80] = KNOWN | MODRM | BYTE,
	[0x81] = KNOWN | MODRM | WORD,
	[0x83] = KNOWN | MODRM | BYTE,
	[0x84 ... 0x8b] = KNOWN | MODRM,
	[0x8d] = KNOWN | MODRM | MEMORY,
	[0x90 ... 0x99] = KNOWN,
	[0xa4 ... 0xa7] = KNOWN,
	[0xa8] = KNOWN | BYTE,
	[0xa9] = KNOWN | WORD,
	[0xaa ... 0xaf] = KNOWN,
	[0xb0 ... 0xb7] = KNOWN | BYTE,
	[0xb8 ... 0xbf] = KNOWN | FULL,
	[0xc0 ... 0xc1] = KNOWN | MODRM | BYTE | GROUP,
	[0xc3] = KNOWN | NO_66,
	[0xc6] = KNOWN | MODRM | BYTE | GROUP,
	[0xc7] = KNOWN | MODRM | WORD | GROUP,
	[0xc9] = KNOWN | NO_66,
	[0xcc] = KNOWN,
	[0xd0 ... 0xd3] = KNOWN | MODRM | GROUP,
	[0xe8 ... 0xe9] = KNOWN | OFFSET | NO_66,
	[0xeb] = KNOWN | BYTE | NO_66,
	[0xf6 ... 0xf7] = KNOWN | MODRM | GROUP,
	[0xfe ... 0xff] = KNOWN | MODRM | GROUP | NO_66,
};

/* After 0F. */
static const uint16_t two_byte[256] = {
	[0x05] = KNOWN | PLAIN | NO_66,		 [0x0b] = KNOWN | PLAIN | NO_66,
	[0x10 ... 0x11] = KNOWN | MODRM | ANY,	 [0x28 ... 0x29] = KNOWN | MODRM | PLAIN,
	[0x2e ... 0x2f] = KNOWN | MODRM | PLAIN, [0x40 ... 0x4f] = KNOWN | MODRM | PLAIN,
	[0x54 ... 0x57] = KNOWN | MODRM | PLAIN, [0x58 ... 0x59] = KNOWN | MODRM | ANY,
	[0x5c ... 0x5f] = KNOWN | MODRM | ANY,	 [0x6e ... 0x6f] = KNOWN | MODRM | PLAIN,
	[0x7e ... 0x7f] = KNOWN | MODRM | PLAIN, [0x80 ... 0x8f] = KNOWN | OFFSET | PLAIN | NO_66,
	[0x90 ... 0x9f] = KNOWN | MODRM | PLAIN, [0xa2] = KNOWN | PLAIN | NO_66,
	[0xaf] = KNOWN | MODRM | PLAIN,		 [0xb0 ... 0xb1] = KNOWN | MODRM | PLAIN,
	[0xb6 ... 0xb7] = KNOWN | MODRM | PLAIN, [0xbe ... 0xbf] = KNOWN | MODRM | PLAIN,
	[0xc0 ... 0xc1] = KNOWN | MODRM | PLAIN, [0xef] = KNOWN | MODRM | PLAIN,
};

struct prefixes {
	bool operand_16;
	bool repeat; /* F2 or F3 */
	bool wide;   /* REX.W */
};

/* Some members of the groups are other instructions or none: only the common ones. */
static unsigned group_shape(uint8_t opcode, unsigned shape, unsigned member)
{
	static const uint8_t members[256] = {
		[0xc0 ... 0xc1] = 0xbf, /* all but the undocumented 6 */
		[0xd0 ... 0xd3] = 0xbf, [0xc6 ... 0xc7] = 0x01,
		[0xf6 ... 0xf7] = 0xfd,		       /* all but the undocumented 1 */
		[0xfe] = 0x03,		[0xff] = 0x57, /* inc, dec, call, jmp, push */
	};

	if (!(members[opcode] >> member & 1))
		return 0;
	if ((opcode & 0xfe) == 0xf6 && member == 0)
		shape |= opcode == 0xf6 ? BYTE : WORD;
	return shape;
}

/* Bytes of SIB and displacement after this ModRM. `sib` is valid if a SIB byte follows. */
static unsigned address_length(uint8_t modrm, uint8_t sib)
{
	unsigned mod = modrm >> 6, register_or_memory = modrm & 7;
	unsigned length = register_or_memory == 4 ? 1 : 0;

	if (mod == 3)
		return 0;
	if (mod == 1)
		return length + 1;
	if (mod == 2 || register_or_memory == 5 || (length && (sib & 7) == 5))
		return length + 4;
	return length;
}

static unsigned immediate_length(unsigned shape, const struct prefixes *prefixes)
{
	unsigned length = shape & BYTE ? 1 : 0;

	if (shape & OFFSET)
		length += 4;
	if (shape & (WORD | FULL))
		length += prefixes->wide ? (shape & FULL ? 8 : 4) : prefixes->operand_16 ? 2 : 4;
	return length;
}

static unsigned read_prefixes(const uint8_t *bytes, struct prefixes *prefixes)
{
	unsigned at = 0;

	if (bytes[at] == 0x66) {
		prefixes->operand_16 = true;
		at++;
	} else if (bytes[at] == 0xf2 || bytes[at] == 0xf3) {
		prefixes->repeat = true;
		at++;
	}
	if ((bytes[at] & 0xf0) == 0x40) {
		prefixes->wide = bytes[at] & 8;
		at++;
	}
	return at;
}

/* 0: not one of the shapes above. Reads at most 7 bytes. */
static unsigned common_length(const uint8_t *bytes)
{
	struct prefixes prefixes = {0};
	unsigned at = read_prefixes(bytes, &prefixes), shape;
	uint8_t opcode = bytes[at++];

	if (opcode == 0x0f) {
		opcode = bytes[at++];
		shape = two_byte[opcode];
		if (prefixes.repeat && !(shape & ANY))
			return 0;
	} else {
		shape = one_byte[opcode];
		if (prefixes.repeat)
			return 0;
	}
	if (!shape || (prefixes.operand_16 && (shape & NO_66)))
		return 0;
	if (shape & MODRM) {
		uint8_t modrm = bytes[at++];

		if (shape & GROUP)
			shape = group_shape(opcode, shape, modrm >> 3 & 7);
		if (!shape || ((shape & MEMORY) && modrm >> 6 == 3))
			return 0;
		at += address_length(modrm, bytes[at]);
	}
	return at + immediate_length(shape, &prefixes);
}

static int length_by_zydis(const uint8_t *bytes, size_t available)
{
	ZydisDecoder decoder;
	ZydisDecodedInstruction instruction;
	ZyanStatus status;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
	status = ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, available, &instruction);
	if (status == ZYDIS_STATUS_NO_MORE_DATA && available < INSN_MAX_LENGTH)
		return -ENODATA;
	return ZYAN_SUCCESS(status) ? instruction.length : -EILSEQ;
}

int insn_length(const uint8_t *bytes, size_t available)
{
	if (available > INSN_MAX_LENGTH)
		available = INSN_MAX_LENGTH;
	if (available >= 8) {
		unsigned length = common_length(bytes);

		if (length && length <= available)
			return (int)length;
	}
	return length_by_zydis(bytes, available);
}
