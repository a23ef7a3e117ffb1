/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/entry.h"

#include "insn/window.h"
#include "symbol/bounds.h"

#include <errno.h>

#define FUNCTION_MOST (1u << 22) /* bytes of one that are looked at */

static size_t read_piece(void *modules, uint64_t at, uint8_t *bytes, size_t length)
{
	return symbol_memory_read(symbol_modules_memory(modules), at, bytes, length) ? 0 : length;
}

/* Refuses a function with a jump inside that leads to its first instruction. Padding and data
 * inside code may not decode: such bytes are stepped over one by one. */
static int find_loop(struct insn_window *window, uint64_t start, uint64_t end,
		     struct graft_error *error)
{
	struct insn insn;

	for (uint64_t at = start; at < end; at += insn.length) {
		int err = insn_window_decode(window, at, end, &insn);

		if (err == -EFAULT)
			return graft_refuse(error, -EINVAL, "cannot be read in the process");
		if (err)
			insn = (struct insn){.length = 1};
		else if (insn.flow == INSN_FLOW_BRANCH && (uint64_t)insn.target == start)
			return graft_refuse(
				error, -EINVAL,
				"has a jump inside that leads to its first instruction, "
				"as a loop does, and cannot be told from a call; "
				"replace the functions that call it");
	}
	return 0;
}

int graft_entry_check(struct symbol_modules *modules, uint64_t address, struct graft_error *error)
{
	struct insn_window window = {.read = read_piece, .context = modules};
	struct symbol_mapping mapping;
	uint64_t start, end;
	struct insn insn;

	if (!symbol_modules_mapping(modules, address, &mapping) || !mapping.executable ||
	    insn_window_decode(&window, address,
			       mapping.end - address < INSN_MAX_LENGTH ? mapping.end
								       : address + INSN_MAX_LENGTH,
			       &insn))
		return graft_refuse(error, -EINVAL, "is not at code of the process");
	if (symbol_bounds_whole(modules, address, &start, &end))
		return 0;
	if (start != address)
		return graft_refuse(error, -EINVAL,
				    "is inside a function and not at its first instruction");
	if (end - start > FUNCTION_MOST)
		return graft_refuse(error, -EINVAL, "is too long to be looked through");
	return find_loop(&window, start, end, error);
}
