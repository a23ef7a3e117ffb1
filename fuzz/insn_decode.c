/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes decode or are refused, alike by length and in full, and the operands of what decodes
 * can be evaluated with any registers. Input: 16 bytes that seed the registers, then code.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>

#include "insn/extended.h"
#include "insn/insn.h"
#include "insn/length.h"
#include "insn/operand.h"

#define SEED 16

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void seed_registers(const uint8_t *seed, struct insn_registers *registers)
{
	uint64_t word[2];

	memcpy(word, seed, sizeof(word));
	memset(registers, 0, sizeof(*registers));
	for (unsigned i = 0; i < 16; i++)
		registers->general[i] = word[i & 1] * (2 * i + 1);
	registers->flags = word[0] >> 32;
	registers->fs_base = word[1] << 12;
	registers->pc = word[0];
}

static void check_operand(const struct insn *insn, unsigned operand,
			  const struct insn_registers *registers)
{
	uint64_t first = 0, length = 0, touched = 0, bytes = 0;
	int err = insn_operand_before(insn, operand, registers, &first, &length);

	check(err == 0 || err == -ENODATA);
	err = insn_operand_after(insn, operand, registers, &first, &length);
	check(err == 0 || err == -ENODATA);
	if (err || insn->operand[operand].vector_index >= 0 || !insn->operand[operand].access)
		return;
	/* An operand whose hull is known and holds the byte is not denied, unless masked out. */
	if (length && !insn->operand[operand].masked)
		check(insn_operand_touch(insn, operand, registers, first, 1, &touched, &bytes) !=
		      INSN_TOUCH_NO);
	check(insn->operand[operand].scale && insn->operand[operand].scale <= 8);
}

static void check_instruction(const uint8_t *code, size_t available, uint64_t pc,
			      const struct insn_extended *extended,
			      struct insn_registers *registers)
{
	struct insn insn;
	int length = insn_length(code, available);
	int err = insn_decode(code, available, pc, &insn);

	check(err == 0 || err == -EILSEQ || err == -ENODATA);
	check(err == 0 ? length == insn.length : length == err);
	if (err)
		return;
	check(insn.length >= 1 && insn.length <= INSN_MAX_LENGTH && insn.length <= available);
	check(insn.operand_count <= INSN_MAX_OPERANDS && insn.flow <= INSN_FLOW_TRAP);
	check(!insn.repeated || insn.string);
	for (unsigned i = 0; i < insn.operand_count; i++) {
		registers->extended = NULL;
		check_operand(&insn, i, registers);
		registers->extended = extended;
		check_operand(&insn, i, registers);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t area[4096];
	const struct insn_extended extended = {
		.area = area,
		.length = sizeof(area),
		.layout = {576, 832, 896, 1408},
	};
	struct insn_registers registers;

	if (size <= SEED)
		return 0;
	for (size_t i = 0; i < sizeof(area); i++)
		area[i] = data[i % size];
	seed_registers(data, &registers);
	for (size_t at = SEED; at < size && at < SEED + 64; at++)
		check_instruction(data + at, size - at, registers.pc + at, &extended, &registers);
	return 0;
}
