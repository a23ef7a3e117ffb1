/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/original.h"

#include "insn/far_jump.h"
#include "insn/insn.h"

#include <errno.h>
#include <string.h>

#define MOVE_CONSTANT 10 /* bytes */

_Static_assert(INSN_MAX_LENGTH + FAR_JUMP_LENGTH <= GRAFT_ORIGINAL_MOST &&
		       MOVE_CONSTANT + FAR_JUMP_LENGTH <= GRAFT_ORIGINAL_MOST,
	       "a copy has room");

static bool counts_from_pc(const struct insn *insn)
{
	for (unsigned i = 0; i < insn->operand_count; i++)
		if (insn->operand[i].base == INSN_PC || insn->operand[i].index == INSN_PC)
			return true;
	return false;
}

/* `lea x(%rip),%reg` of 64 bits, which is REX.W 8d and a ModRM byte, becomes `movabs $x,%reg`
 * (Intel SDM volume 2, LEA and MOV). 0: it has another form. */
static unsigned put_address(const uint8_t *bytes, const struct insn *insn, uint8_t *to)
{
	unsigned number;

	if (insn->length != 7 || (bytes[0] & 0xf8) != 0x48 || bytes[1] != 0x8d ||
	    (bytes[2] & 0xc7) != 0x05)
		return 0;
	number = bytes[2] >> 3 & 7;
	to[0] = 0x48 | (bytes[0] >> 2 & 1);
	to[1] = (uint8_t)(0xb8 + number);
	memcpy(to + 2, &insn->address_taken, sizeof(insn->address_taken));
	return MOVE_CONSTANT;
}

/* Copies an instruction and returns how many bytes the copy has; 0: it cannot run elsewhere, since
 * it counts from the pc or leads elsewhere. */
static unsigned put_insn(const uint8_t *bytes, const struct insn *insn, uint8_t *to)
{
	if (insn->takes_address)
		return put_address(bytes, insn, to);
	if ((insn->flow != INSN_FLOW_NEXT && insn->flow != INSN_FLOW_RETURN) ||
	    counts_from_pc(insn))
		return 0;
	memcpy(to, bytes, insn->length);
	return insn->length;
}

/* Reads INSN_MAX_LENGTH bytes at `address`, or less at the end of a mapping. Returns how many; 0:
 * nothing is mapped there, or it cannot be read. */
static size_t read_code(struct symbol_modules *modules, uint64_t address, uint8_t *bytes)
{
	struct symbol_mapping mapping;
	size_t length = INSN_MAX_LENGTH;

	if (!symbol_modules_mapping(modules, address, &mapping))
		return 0;
	if (mapping.end - address < length)
		length = mapping.end - address;
	return symbol_memory_read(symbol_modules_memory(modules), address, bytes, length) ? 0
											  : length;
}

int graft_original_copy(struct symbol_modules *modules, uint64_t address,
			uint8_t code[GRAFT_ORIGINAL_MOST], struct graft_error *error)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = read_code(modules, address, bytes);
	unsigned length = 0;
	struct insn insn;

	memset(code, 0, GRAFT_ORIGINAL_MOST);
	if (!available || insn_decode(bytes, available, address, &insn))
		return graft_refuse(error, -EINVAL, "is not at code of the process");
	if (insn.flow == INSN_FLOW_BRANCH && !insn.conditional) {
		far_jump_put(code, (uint64_t)insn.target);
		return 0;
	}
	length = put_insn(bytes, &insn, code);
	if (!length)
		return graft_refuse(error, -EINVAL,
				    "cannot be called any more, as original_OLD of the fix wants: "
				    "its first instruction works at its own place alone; start the "
				    "program with `trapline run`, or do without original_OLD");
	far_jump_put(code + length, address + insn.length);
	return 0;
}
