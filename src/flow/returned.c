/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that never returned: no value came the way behind them. Such are those of functions without
 * a return, as abort() and what throws exceptions, and those through a stub of the linker's whose
 * slot nobody has bound yet, since nobody has called it. Code behind them belongs to other ways.
 */
#include "flow/origin_tree.h"

#include <string.h>

/* `push number; jmp`, as the first call through a slot leads to. */
static bool is_unbound(struct flow_tree *tree, uint64_t to)
{
	uint8_t bytes[32];
	struct insn insn;
	uint64_t at = to;

	if (tree->services->read(tree->host, tree->pid, to, bytes, sizeof(bytes)) !=
	    (ssize_t)sizeof(bytes))
		return false;
	if (insn_decode(bytes, sizeof(bytes), at, &insn))
		return false;
	if (insn.flow == INSN_FLOW_NEXT && insn.length == 4 && bytes[1] == 0x0f) { /* endbr64 */
		at += insn.length;
		if (insn_decode(bytes + 4, sizeof(bytes) - 4, at, &insn))
			return false;
	}
	if (bytes[at - to] != 0x68) /* push with a constant of 32 bits */
		return false;
	at += insn.length;
	return !insn_decode(bytes + (at - to), sizeof(bytes) - (at - to), at, &insn) &&
	       insn.flow == INSN_FLOW_BRANCH && !insn.conditional;
}

static bool has_return(const uint8_t *bytes, uint64_t start, uint64_t length)
{
	uint64_t offset = 0;

	while (offset < length) {
		struct insn insn;

		if (insn_decode(bytes + offset, length - offset, start + offset, &insn))
			return true;
		if (insn.flow == INSN_FLOW_RETURN || insn.flow == INSN_FLOW_JUMP_INDIRECT ||
		    (insn.flow == INSN_FLOW_BRANCH && (uint64_t)insn.target - start >= length))
			return true;
		offset += insn.length;
	}
	return false;
}

static bool never_returned(struct flow_tree *tree, uint64_t target)
{
	static uint8_t bytes[FLOW_SLICE_CODE]; /* one thread */
	uint64_t to = flow_resolve_stub(tree, tree->pid, target), start, end;

	if (to != target && is_unbound(tree, to))
		return true;
	return !tree->services->function(tree->host, tree->pid, to, &start, &end) && start == to &&
	       end > start && end - start <= sizeof(bytes) &&
	       tree->services->read(tree->host, tree->pid, start, bytes, end - start) ==
		       (ssize_t)(end - start) &&
	       !has_return(bytes, start, end - start);
}

static bool is_call_without_return(void *context, uint64_t target)
{
	struct flow_tree *tree = context;
	uint64_t key = (target ^ (uint64_t)tree->pid << 48) << 1;
	uint64_t *known = &tree->returned[(key * 0x9e3779b97f4a7c15ull >> 32) % FLOW_RETURNED];

	/* What was bound, or returned, may have been so since. */
	if (*known != key)
		*known = never_returned(tree, target) ? 0 : key;
	return !*known;
}

static bool read_memory(void *context, uint64_t address, void *bytes, size_t length)
{
	struct flow_tree *tree = context;

	return tree->services->read(tree->host, tree->pid, address, bytes, length) ==
	       (ssize_t)length;
}

void flow_tree_init(struct flow_tree *tree, struct tl_host *host,
		    const struct tl_services *services)
{
	tree->host = host;
	tree->services = services;
	tree->work.never_returned = is_call_without_return;
	tree->work.read = read_memory;
	tree->work.context = tree;
}
