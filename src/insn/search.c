/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/search.h"

#include <string.h>

bool insn_searches_vectors(const uint8_t *code, size_t length, uint64_t start)
{
	struct insn insn;

	for (size_t at = 0; at < length; at += insn.length)
		if (insn_decode(code + at, length - at, start + at, &insn) || insn.vector_outcome)
			return true;
	return false;
}

/* Of both ways to find a zero byte, (x - 0x01…01) & ~x & 0x80…80 and the sum of its lower seven
 * bits and 0x7f…7f, one constant at least is in every such code; of words of 4 bytes they are half
 * as long. */
static bool is_of_search(const uint8_t *bytes, size_t length)
{
	static const uint8_t masks[][8] = {
		{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80},
		{0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f},
		{0xff, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe, 0xfe},
	};

	for (size_t i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
		if (memcmp(bytes, masks[i], length) == 0)
			return true;
	return false;
}

bool insn_searches_words(const uint8_t *code, size_t length, size_t word)
{
	for (size_t at = 0; at + word <= length; at++)
		if (is_of_search(code + at, word))
			return true;
	return false;
}

bool insn_searches_by_constant(const uint8_t *code, size_t length, uint64_t start, size_t word,
			       const struct insn_memory *memory)
{
	struct insn insn;
	uint8_t constant[8];

	for (size_t at = 0; at < length; at += insn.length) {
		if (insn_decode(code + at, length - at, start + at, &insn))
			return false;
		for (unsigned i = 0; i < insn.operand_count; i++) {
			const struct insn_operand *operand = &insn.operand[i];
			uint64_t address =
				start + at + insn.length + (uint64_t)operand->displacement;

			if (operand->base == INSN_PC && operand->size == word &&
			    memory->read(memory->context, address, constant, word) == 0 &&
			    is_of_search(constant, word))
				return true;
		}
	}
	return false;
}
