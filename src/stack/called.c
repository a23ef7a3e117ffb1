/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/called.h"

#include "process/stub.h"
#include "symbol/import.h"

/* Code that hands the number of a relocation to the dynamic linker: push imm32, jmp (x86-64 psABI,
 * figure 5.2), the latter maybe with a prefix (bnd). */
static bool looks_up(struct space *space, uint64_t at)
{
	uint8_t bytes[2 * INSN_MAX_LENGTH] = {0};
	size_t length = space_code(space, at, bytes, sizeof(bytes));
	size_t skip = insn_arch.landing_length(bytes), jump = skip + 5;

	return length > jump + 1 && bytes[skip] == 0x68 &&
	       bytes[bytes[jump] == 0xf2 ? jump + 1 : jump] == 0xe9;
}

/* Has the entry been bound? One that has not leads back into the table of the calling module. That
 * it leads into the module alone proves nothing: a module may call functions of its own through the
 * table. */
static bool is_bound(struct space *space, uint64_t target, uint64_t function)
{
	const struct symbol_module *own = symbol_modules_find(space_modules(space), target);

	return !own || function < own->start || function >= own->end || !looks_up(space, function);
}

const char *called_unbound(struct space *space, uint64_t target)
{
	uint64_t slot = stub_slot(space, target);

	return slot && !is_bound(space, target, stub_target(space, target))
		       ? symbol_import_name(space_modules(space), slot)
		       : NULL;
}

const char *called_name(struct space *space, uint64_t target)
{
	const char *unbound = called_unbound(space, target);
	uint64_t function = stub_target(space, target);

	if (unbound)
		return unbound;
	return space_module(space, function) ? space_function_name(space, function) : NULL;
}
