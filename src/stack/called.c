/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/called.h"

#include "symbol/import.h"

#include <string.h>

static size_t marker(const uint8_t *bytes, size_t length)
{
	static const uint8_t endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};

	return length > 4 && memcmp(bytes, endbr64, 4) == 0 ? 4 : 0;
}

/* The word that says where an entry of the table leads; 0: it is none. */
static uint64_t slot_of(struct space *space, uint64_t target)
{
	uint8_t bytes[2 * INSN_MAX_LENGTH];
	size_t length = space_code(space, target, bytes, sizeof(bytes));
	size_t skip = marker(bytes, length);
	struct insn insn;

	if (length <= skip || insn_decode(bytes + skip, length - skip, target + skip, &insn) ||
	    insn.flow != INSN_FLOW_JUMP_INDIRECT || insn.operand_count != 1 ||
	    insn.operand[0].base != INSN_PC)
		return 0;
	return target + skip + insn.length + (uint64_t)insn.operand[0].displacement;
}

static uint64_t follow(struct space *space, uint64_t slot, uint64_t target)
{
	uint64_t bound;

	return slot && space_read(space, slot, &bound, sizeof(bound)) == sizeof(bound) ? bound
										       : target;
}

uint64_t called_function(struct space *space, uint64_t target)
{
	return follow(space, slot_of(space, target), target);
}

bool called_is_entry(struct space *space, uint64_t target)
{
	return slot_of(space, target) != 0;
}

/* Code that hands the number of a relocation to the dynamic linker: push imm32, jmp (x86-64 psABI,
 * figure 5.2), the latter maybe with a prefix (bnd). */
static bool looks_up(struct space *space, uint64_t at)
{
	uint8_t bytes[2 * INSN_MAX_LENGTH];
	size_t length = space_code(space, at, bytes, sizeof(bytes));
	size_t skip = marker(bytes, length), jump = skip + 5;

	return length > jump + 1 && bytes[skip] == 0x68 &&
	       bytes[bytes[jump] == 0xf2 ? jump + 1 : jump] == 0xe9;
}

/* What is not looked up yet leads back into the table of the module that calls. A function of that
 * module's own may be called through the table, too. */
static bool is_bound(struct space *space, uint64_t target, uint64_t function)
{
	const struct symbol_module *own = symbol_modules_find(space_modules(space), target);

	return !own || function < own->start || function >= own->end || !looks_up(space, function);
}

const char *called_unbound(struct space *space, uint64_t target)
{
	uint64_t slot = slot_of(space, target);

	return slot && !is_bound(space, target, follow(space, slot, target))
		       ? symbol_import_name(space_modules(space), slot)
		       : NULL;
}

const char *called_name(struct space *space, uint64_t target)
{
	const char *unbound = called_unbound(space, target);
	uint64_t function = called_function(space, target);

	if (unbound)
		return unbound;
	return space_module(space, function) ? space_function_name(space, function) : NULL;
}
