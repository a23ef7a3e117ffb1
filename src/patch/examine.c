/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a function can be replaced at its entry, and if not, why. */
#include "patch/patch.h"

#include "base/syscall.h"
#include "event/explain.h"
#include "insn/window.h"
#include "unwind/unwind.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#define REGISTER_PC 16 /* of struct insn_operand */
#define MAX_BRANCHES 256
#define PAGE 4096

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};

struct code {
	uintptr_t start, end;
};

size_t patch_read(uintptr_t at, uint8_t *bytes, size_t length)
{
	ssize_t got = raw_read_memory(bytes, at, length);

	/* At the end of a mapping fewer bytes can be had: the page's rest is read. */
	if (got < 0 && length > PAGE - at % PAGE)
		got = raw_read_memory(bytes, at, PAGE - at % PAGE);
	return got < 0 ? 0 : (size_t)got;
}

int patch_decode(uintptr_t at, uintptr_t end, struct insn *insn)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t wanted = end - at < sizeof(bytes) ? end - at : sizeof(bytes);
	size_t got = patch_read(at, bytes, wanted);

	return got ? insn_decode(bytes, got, at, insn) : -ENODATA;
}

static size_t read_piece(void *context, uint64_t at, uint8_t *bytes, size_t length)
{
	(void)context;
	patch_pace();
	return patch_read(at, bytes, length);
}

/* ---- the entry -------------------------------------------------------------------------- */

static bool is_stub(const struct insn *insn)
{
	return insn->flow == INSN_FLOW_JUMP_INDIRECT && insn->operand_count &&
	       insn->operand[0].base == REGISTER_PC;
}

/* Is this a jump to where no object is loaded? Then it leads to somebody else's trampoline. */
static bool leaves_objects(const struct insn *insn)
{
	struct dl_find_object found;

	return insn->flow == INSN_FLOW_BRANCH && !insn->conditional &&
	       _dl_find_object((void *)insn->target, &found);
}

static int examine_entry(struct patch_site *site)
{
	uint8_t bytes[sizeof(endbr64)];
	struct insn insn;

	site->entry = site->start;
	if (patch_read(site->start, bytes, sizeof(bytes)) == sizeof(bytes) &&
	    !memcmp(bytes, endbr64, sizeof(bytes)))
		site->entry += sizeof(endbr64);
	if (patch_decode(site->entry, site->entry + INSN_MAX_LENGTH, &insn))
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

/* Is this what fills the space between functions: nop, with or without an operand, or int3? */
static bool is_padding(uintptr_t at, size_t *length)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t got = patch_read(at, bytes, sizeof(bytes)), i = 0;
	struct insn insn;

	if (!got || insn_decode(bytes, got, at, &insn))
		return false;
	*length = insn.length;
	while (i + 1 < got && (bytes[i] == 0x66 || bytes[i] == 0x2e))
		i++;
	return bytes[i] == 0x90 || bytes[0] == 0xcc ||
	       (i + 1 < got && bytes[i] == 0x0f && bytes[i + 1] == 0x1f);
}

/* Do the bytes behind a short function, up to the jump's end, belong to no other function? */
static bool is_followed_by_padding(const struct code *code, uintptr_t end)
{
	uintptr_t start, other_end;
	size_t length = 0;

	for (uintptr_t at = code->end; at < end; at += length)
		if (!is_padding(at, &length))
			return false;
	return unwind_function_bounds(end - 1, &start, &other_end) != 0;
}

static bool falls_through(const struct insn *insn)
{
	return insn->flow != INSN_FLOW_RETURN && insn->flow != INSN_FLOW_JUMP_INDIRECT &&
	       (insn->flow != INSN_FLOW_BRANCH || insn->conditional);
}

_Static_assert(PATCH_COVERED_MAX >= PATCH_JUMP_LENGTH - 1 + INSN_MAX_LENGTH, "they fit");

static int examine_first_bytes(struct patch_site *site, const struct code *code)
{
	uintptr_t at = site->entry;
	uintptr_t end = at + PATCH_JUMP_LENGTH;
	struct insn insn = {0};

	site->boundaries = 0;
	while (at < end && at < code->end) {
		if (patch_decode(at, code->end, &insn) || insn.flow == INSN_FLOW_TRAP)
			return explain_failure(
				-EINVAL, "the old function's first bytes are not all code that can "
					 "be decoded; use TL_PATCH_BREAKPOINT");
		site->boundaries |= (uint8_t)(1u << (at - site->entry));
		at += insn.length;
	}
	site->beyond = at;
	if (at < end && (falls_through(&insn) || !is_followed_by_padding(code, end)))
		return explain_failure(-EINVAL, "the old function is shorter than the five bytes "
						"of a jump and no padding follows it; use "
						"TL_PATCH_BREAKPOINT");
	if (patch_read(site->entry, site->original, PATCH_JUMP_LENGTH) != PATCH_JUMP_LENGTH ||
	    patch_read(site->entry, site->covered, at - site->entry) != at - site->entry)
		return explain_failure(-EINVAL, "the old function's first bytes cannot be read");
	return 0;
}

/* ---- branches --------------------------------------------------------------------------- */

struct branches {
	const struct patch_site *site;
	bool jump;
	size_t count;
	uintptr_t outside[MAX_BRANCHES]; /* where direct jumps leave the function to */
};

/* Does a jump to `target` land in the middle of one of the first instructions? One that lands at
 * the beginning of one meets its trap; one into the middle would run half of the jump's bytes. */
static bool splits_instruction(const struct branches *branches, uintptr_t target)
{
	const struct patch_site *site = branches->site;

	return branches->jump && target > site->entry && target < site->entry + PATCH_JUMP_LENGTH &&
	       !patch_begins(site, (unsigned)(target - site->entry));
}

static int examine_branch(struct branches *branches, const struct code *code,
			  const struct insn *insn)
{
	const struct patch_site *site = branches->site;
	uintptr_t target = (uintptr_t)insn->target;

	if (target == site->start || target == site->entry)
		return explain_failure(-EINVAL, "a jump inside the old function leads to its first "
						"instruction, as a loop does, and cannot be told "
						"from a call; compile it with another layout");
	if (splits_instruction(branches, target))
		return explain_failure(-EINVAL, "a jump inside the old function leads into the "
						"middle of one of its first instructions; use "
						"TL_PATCH_BREAKPOINT");
	if ((target < code->start || target >= code->end) && branches->count < MAX_BRANCHES)
		branches->outside[branches->count++] = target;
	return 0;
}

/* Padding and data inside code may not decode: such bytes are stepped over one by one. */
static int examine_branches(struct branches *branches, const struct code *code)
{
	struct insn_window window = {.read = read_piece};
	uintptr_t at = code->start;
	struct insn insn;
	int err = 0;

	while (at < code->end && !err) {
		if (insn_window_decode(&window, at, code->end, &insn)) {
			at++;
			continue;
		}
		if (insn.flow == INSN_FLOW_BRANCH)
			err = examine_branch(branches, code, &insn);
		at += insn.length;
	}
	return err;
}

/* Looks through what the function's direct jumps lead to: a part that the compiler has moved away
 * (foo.cold) jumps back. A tail call to another function looks the same, so there only jumps into
 * the middle of the first instructions matter: one to the entry is a call. */
static int examine_parts(const struct branches *branches)
{
	for (size_t i = 0; i < branches->count; i++) {
		struct insn_window window = {.read = read_piece};
		struct code part;
		struct insn insn;

		if (unwind_function_bounds(branches->outside[i], &part.start, &part.end))
			continue;
		for (uintptr_t at = part.start; at < part.end;) {
			if (insn_window_decode(&window, at, part.end, &insn)) {
				at++;
				continue;
			}
			if (insn.flow == INSN_FLOW_BRANCH &&
			    splits_instruction(branches, (uintptr_t)insn.target))
				return explain_failure(
					-EINVAL, "a part of the old function that lies elsewhere "
						 "jumps into the middle of one of its first "
						 "instructions; use TL_PATCH_BREAKPOINT");
			at += insn.length;
		}
	}
	return 0;
}

int patch_examine(struct patch_site *site, bool jump)
{
	struct branches branches = {.site = site, .jump = jump};
	struct code code;
	int err = examine_entry(site);

	if (err)
		return err;
	if (unwind_function_bounds(site->start, &code.start, &code.end)) {
		if (!jump)
			return 0;
		return explain_failure(-EINVAL, "the old function has no unwind information, so "
						"its end is not known; use TL_PATCH_BREAKPOINT");
	}
	if (code.start != site->start)
		return explain_failure(-EINVAL, "the old function's address is inside a function "
						"and not at its first instruction");
	if (jump)
		err = examine_first_bytes(site, &code);
	if (!err)
		err = examine_branches(&branches, &code);
	if (!err && jump)
		err = examine_parts(&branches);
	return err;
}
