/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a function can be replaced at its entry, and if not, why. */
#include "patch/patch.h"

#include "base/syscall.h"
#include "event/explain.h"
#include "insn/insn.h"
#include "unwind/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define REGISTER_PC 16 /* of struct insn_operand */
#define MAX_BRANCHES 256

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

struct code {
	uintptr_t start, end;
};

static size_t read_code(uintptr_t at, uint8_t *bytes, size_t length)
{
	ssize_t got = raw_read_memory(raw_getpid(), bytes, at, length);

	/* At the end of a mapping fewer bytes can be had: take the page's rest. */
	if (got < 0)
		got = raw_read_memory(raw_getpid(), bytes, at, 4096 - at % 4096);
	return got < 0 ? 0 : (size_t)got;
}

static int decode(uintptr_t at, uintptr_t end, struct insn *insn)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t wanted = end - at < sizeof(bytes) ? end - at : sizeof(bytes);
	size_t got = read_code(at, bytes, wanted);

	return got ? insn_decode(bytes, got, at, insn) : -ENODATA;
}

/* ---- the entry -------------------------------------------------------------------------- */

static bool is_stub(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_JUMP_INDIRECT && insn->operand_count &&
	       insn->operand[0].base == REGISTER_PC;
}

/* A jump to where no object is loaded: somebody else's trampoline. */
static bool leaves_objects(const struct insn *insn)
{
	struct dl_find_object found;

	return insn->flow == INSN_FLOW_BRANCH && !insn->conditional &&
	       _dl_find_object((void *)insn->target, &found);
}

static int examine_entry(struct patch_change *change)
{
	uint8_t bytes[sizeof(endbr64)];
	struct insn insn;

	change->entry = change->start;
	if (read_code(change->start, bytes, sizeof(bytes)) == sizeof(bytes) &&
	    !memcmp(bytes, endbr64, sizeof(bytes)))
		change->entry += sizeof(endbr64);
	if (decode(change->entry, change->entry + INSN_MAX_LENGTH, &insn))
		return explain_failure(-EINVAL, "no instruction can be read at the old function: "
						"its address is wrong");
	if (is_stub(&insn))
		return explain_failure(
			-EINVAL, "the old function's address leads to an indirect jump through "
				 "memory, as a PLT stub's does; pass the function's own address, "
				 "such as dlsym(3) tells it");
	if (insn.flow == INSN_FLOW_TRAP || leaves_objects(&insn))
		return explain_failure(-EINVAL, "the old function's first instruction is a trap or "
						"another patch's jump: a debugger or another "
						"patcher has changed it; undo that first");
	return 0;
}

/* ---- the first bytes -------------------------------------------------------------------- */

/* A return address, or the resumption of a system call, must not lie inside. */
static bool may_return_inside(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT ||
	       insn->flow == INSN_FLOW_SYSCALL;
}

static int examine_first_bytes(const struct patch_change *change, const struct code *code)
{
	uintptr_t at = change->entry;
	uintptr_t end = at + PATCH_JUMP_LENGTH;
	struct insn insn;

	if (code->end < end)
		return explain_failure(-EINVAL, "the old function is shorter than the five bytes "
						"of a jump; use TL_PATCH_BREAKPOINT");
	while (at < end) {
		if (decode(at, code->end, &insn) || insn.flow == INSN_FLOW_TRAP)
			return explain_failure(
				-EINVAL, "the old function's first bytes are not all code that can "
					 "be decoded; use TL_PATCH_BREAKPOINT");
		at += insn.length;
		if (at < end && may_return_inside(&insn))
			return explain_failure(
				-EINVAL, "the old function's first five bytes hold a call or a "
					 "system call, which returns into them; use "
					 "TL_PATCH_BREAKPOINT");
	}
	return 0;
}

/* ---- branches --------------------------------------------------------------------------- */

struct branches {
	const struct patch_change *change;
	bool jump;
	size_t count;
	uintptr_t outside[MAX_BRANCHES]; /* where direct jumps leave the function to */
};

static int examine_branch(struct branches *branches, const struct code *code,
			  const struct insn *insn)
{
	const struct patch_change *change = branches->change;
	uintptr_t target = (uintptr_t)insn->target;

	if (target == change->start || target == change->entry)
		return explain_failure(-EINVAL, "a jump inside the old function leads to its first "
						"instruction, as a loop does, and cannot be told "
						"from a call; compile it with another layout");
	if (branches->jump && patch_is_inside(change, target))
		return explain_failure(-EINVAL, "a jump inside the old function leads into its "
						"first five bytes; use TL_PATCH_BREAKPOINT");
	if ((target < code->start || target >= code->end) && branches->count < MAX_BRANCHES)
		branches->outside[branches->count++] = target;
	return 0;
}

/* Padding and data inside code may not decode: such bytes are stepped over one by one. */
static int examine_branches(struct branches *branches, const struct code *code)
{
	uintptr_t at = code->start;
	struct insn insn;
	int err = 0;

	while (at < code->end && !err) {
		if (decode(at, code->end, &insn)) {
			at++;
			continue;
		}
		if (insn.flow == INSN_FLOW_BRANCH)
			err = examine_branch(branches, code, &insn);
		at += insn.length;
	}
	return err;
}

/* A part that the compiler moved away (foo.cold) jumps back. A tail call looks the same: in
 * another function only jumps into the bytes matter, since one to the entry is a call. */
static int examine_parts(const struct branches *branches)
{
	for (size_t i = 0; i < branches->count; i++) {
		struct code part;
		struct insn insn;

		if (unwind_function_bounds(branches->outside[i], &part.start, &part.end))
			continue;
		for (uintptr_t at = part.start; at < part.end;) {
			if (decode(at, part.end, &insn)) {
				at++;
				continue;
			}
			if (insn.flow == INSN_FLOW_BRANCH &&
			    patch_is_inside(branches->change, (uintptr_t)insn.target))
				return explain_failure(
					-EINVAL, "a part of the old function that lies elsewhere "
						 "jumps into its first five bytes; use "
						 "TL_PATCH_BREAKPOINT");
			at += insn.length;
		}
	}
	return 0;
}

int patch_examine(struct patch_change *change, bool jump)
{
	struct branches branches = {.change = change, .jump = jump};
	struct code code;
	int err = examine_entry(change);

	if (err)
		return err;
	if (unwind_function_bounds(change->start, &code.start, &code.end)) {
		if (!jump)
			return 0;
		return explain_failure(-EINVAL, "the old function has no unwind information, so "
						"its end is not known; use TL_PATCH_BREAKPOINT");
	}
	if (code.start != change->start)
		return explain_failure(-EINVAL, "the old function's address is inside a function "
						"and not at its first instruction");
	if (jump)
		err = examine_first_bytes(change, &code);
	if (!err)
		err = examine_branches(&branches, &code);
	if (!err && jump)
		err = examine_parts(&branches);
	if (!err && jump &&
	    read_code(change->entry, change->original, PATCH_JUMP_LENGTH) != PATCH_JUMP_LENGTH)
		return explain_failure(-EINVAL, "the old function's first bytes cannot be read");
	return err;
}
