/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/entry.h"

#include "insn/insn.h"
#include "symbol/bounds.h"

#include <errno.h>

#define WINDOW 4096u
#define FUNCTION_MOST (1u << 22) /* bytes of one that are looked at */

/* A piece of the process's code, copied here, since reading it costs a system call. */
struct window {
	const struct symbol_memory *memory;
	uint64_t at;   /* where it begins in the process */
	size_t length; /* bytes copied */
	uint8_t bytes[WINDOW];
};

/* Copies what lies from `at` on, not beyond `end`. False: it cannot be read. */
static bool fill(struct window *window, uint64_t at, uint64_t end)
{
	window->at = at;
	window->length = end - at < WINDOW ? end - at : WINDOW;
	if (symbol_memory_read(window->memory, at, window->bytes, window->length))
		window->length = 0;
	return window->length > 0;
}

/* 0; -EFAULT: the code cannot be read; another error: it does not decode. */
static int decode(struct window *window, uint64_t at, uint64_t end, struct insn *insn)
{
	if (at + INSN_MAX_LENGTH > window->at + window->length &&
	    window->at + window->length < end && !fill(window, at, end))
		return -EFAULT;
	return insn_decode(window->bytes + (at - window->at), window->length - (at - window->at),
			   at, insn);
}

/* Refuses a function with a jump inside that leads to its first instruction. Padding and data
 * inside code may not decode: such bytes are stepped over one by one. */
static int find_loop(struct window *window, uint64_t start, uint64_t end, struct graft_error *error)
{
	struct insn insn;

	for (uint64_t at = start; at < end; at += insn.length) {
		int err = decode(window, at, end, &insn);

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
	struct window window = {.memory = symbol_modules_memory(modules), .at = address};
	struct symbol_mapping mapping;
	uint64_t start, end;
	struct insn insn;

	if (!symbol_modules_mapping(modules, address, &mapping) || !mapping.executable ||
	    !fill(&window, address,
		  mapping.end - address < INSN_MAX_LENGTH ? mapping.end
							  : address + INSN_MAX_LENGTH) ||
	    insn_decode(window.bytes, window.length, address, &insn))
		return graft_refuse(error, -EINVAL, "is not at code of the process");
	if (symbol_bounds_whole(modules, address, &start, &end))
		return 0;
	if (start != address)
		return graft_refuse(error, -EINVAL,
				    "is inside a function and not at its first instruction");
	if (end - start > FUNCTION_MOST)
		return graft_refuse(error, -EINVAL, "is too long to be looked through");
	window.length = 0;
	return find_loop(&window, start, end, error);
}
