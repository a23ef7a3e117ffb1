/* SPDX-License-Identifier: Apache-2.0 */
/* Where calls come from and go to, by the code of a process. */
#include "flow/origin_tree.h"

#include "base/path.h"

#include <errno.h>
#include <string.h>

int flow_tree_code(struct flow_tree *tree, pid_t pid, uint64_t pc, struct flow_code *code)
{
	static uint8_t bytes[FLOW_SLICE_CODE]; /* one thread */
	uint64_t end;
	int err = tree->services->function(tree->host, pid, pc, &code->start, &end);

	if (err)
		return err;
	tree->pid = pid;
	code->length = end - code->start;
	if (end <= code->start || pc < code->start || pc >= end)
		return -1;
	if (code->length > sizeof(bytes))
		return -E2BIG;
	code->bytes = bytes;
	return tree->services->read(tree->host, pid, code->start, bytes, code->length) ==
			       (ssize_t)code->length
		       ? 0
		       : -1;
}

const char *flow_why_unread(struct flow_tree *tree, pid_t pid, uint64_t pc)
{
	struct flow_code code;

	_Static_assert(FLOW_SLICE_CODE == 16 << 10, "the text says so");
	return flow_tree_code(tree, pid, pc, &code) == -E2BIG ? "the function is larger than 16 KiB"
							      : "the code could not be read";
}

uint64_t flow_call_before(struct flow_tree *tree, pid_t pid, uint64_t pc)
{
	struct flow_code code;
	struct insn call;
	uint64_t found;

	if (flow_tree_code(tree, pid, pc - 1, &code) ||
	    insn_previous(code.bytes, code.length, code.start, pc, &found, &call))
		return 0;
	return call.flow == INSN_FLOW_CALL || call.flow == INSN_FLOW_CALL_INDIRECT ? found : 0;
}

bool flow_decode_at(struct flow_tree *tree, pid_t pid, uint64_t pc, struct insn *insn)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	ssize_t got = tree->services->read(tree->host, pid, pc, bytes, sizeof(bytes));

	return got > 0 && !insn_decode(bytes, (size_t)got, pc, insn);
}

/* Through a stub of the linker's: `jmp *slot`, perhaps behind endbr64. */
uint64_t flow_resolve_stub(struct flow_tree *tree, pid_t pid, uint64_t target)
{
	uint8_t bytes[32];
	struct insn insn;
	uint64_t at = target, slot, to;

	if (tree->services->read(tree->host, pid, target, bytes, sizeof(bytes)) !=
	    (ssize_t)sizeof(bytes))
		return target;
	for (unsigned i = 0; i < 2 && at - target < sizeof(bytes) - INSN_MAX_LENGTH; i++) {
		if (insn_decode(bytes + (at - target), sizeof(bytes) - (at - target), at, &insn))
			return target;
		if (insn.flow == INSN_FLOW_JUMP_INDIRECT && insn.operand_count == 1 &&
		    insn.operand[0].base == INSN_PC) {
			slot = at + insn.length + (uint64_t)insn.operand[0].displacement;
			return tree->services->read(tree->host, pid, slot, &to, sizeof(to)) ==
					       (ssize_t)sizeof(to)
				       ? to
				       : target;
		}
		at += insn.length;
	}
	return target;
}

#define JUMPS_DEEP 2 /* functions between */
#define JUMPS 8	     /* out of a function, that are looked along */

/* The jumps out of the function: how many, at most JUMPS. */
static unsigned find_jumps(const struct flow_code *code, uint64_t jump[JUMPS],
			   uint64_t target[JUMPS])
{
	unsigned count = 0;
	size_t offset = 0;

	while (offset < code->length && count < JUMPS) {
		struct insn insn;

		if (insn_decode(code->bytes + offset, code->length - offset, code->start + offset,
				&insn)) {
			offset++;
			continue;
		}
		if (insn.flow == INSN_FLOW_BRANCH &&
		    (uint64_t)insn.target - code->start >= code->length) {
			jump[count] = code->start + offset;
			target[count++] = (uint64_t)insn.target;
		}
		offset += insn.length;
	}
	return count;
}

/* The one jump by which control came from `called` to `own`, perhaps through others; 0: none is
 * known, or several are. */
static uint64_t find_jump(struct flow_tree *tree, pid_t pid, uint64_t called, uint64_t own,
			  unsigned depth)
{
	uint64_t jump[JUMPS], target[JUMPS], found = 0, deeper;
	struct flow_code code;
	unsigned count;

	if (flow_tree_code(tree, pid, called, &code))
		return 0;
	count = find_jumps(&code, jump, target);
	for (unsigned i = 0; i < count; i++) {
		uint64_t to = flow_resolve_stub(tree, pid, target[i]);

		deeper = to == own ? jump[i] : depth ? find_jump(tree, pid, to, own, depth - 1) : 0;
		if (deeper && found)
			return 0;
		found = found ? found : deeper;
	}
	return found;
}

/* A register that was loaded from one place of a variable's, whose pointer is there still. */
uint64_t flow_loaded_pointer(struct flow_tree *tree, pid_t pid, uint64_t call, int number)
{
	const struct insn_place place = {
		.kind = INSN_PLACE_GENERAL, .number = (uint8_t)number, .length = 8};
	struct flow_slice slice;
	struct flow_code code;
	struct insn insn;
	uint64_t to;

	if (flow_tree_code(tree, pid, call, &code) ||
	    flow_slice_place(code.bytes, code.length, code.start, call, place, &tree->work,
			     &slice) ||
	    slice.ends != 1 || slice.more || slice.end[0].kind != FLOW_END_LOAD ||
	    !flow_decode_at(tree, pid, slice.end[0].pc, &insn) ||
	    insn.operand[slice.end[0].operand].base != INSN_PC)
		return 0;
	return tree->services->read(
		       tree->host, pid,
		       slice.end[0].pc + insn.length +
			       (uint64_t)insn.operand[slice.end[0].operand].displacement,
		       &to, sizeof(to)) == (ssize_t)sizeof(to)
		       ? to
		       : 0;
}

uint64_t flow_find_jump(struct flow_tree *tree, pid_t pid, uint64_t called, uint64_t own)
{
	return find_jump(tree, pid, called, own, JUMPS_DEEP);
}

bool flow_in_c_library(struct flow_tree *tree, pid_t pid, uint64_t pc)
{
	const char *module = tree->services->module(tree->host, pid, pc);

	return path_is_c_library(module) || (module && module[0] == '[');
}

uint64_t flow_call_target(struct flow_tree *tree, const struct tl_access *access)
{
	struct insn_registers registers = {.pc = access->pc};
	uint64_t address, length, to;
	struct insn insn;

	if (!access->registers || !flow_decode_at(tree, access->pid, access->pc, &insn) ||
	    insn.flow != INSN_FLOW_CALL_INDIRECT)
		return 0;
	if (insn.target_register >= 0)
		return access->registers->general[insn.target_register];
	memcpy(registers.general, access->registers->general, sizeof(registers.general));
	registers.fs_base = access->registers->fs_base;
	if (!insn.operand_count || insn_operand_before(&insn, 0, &registers, &address, &length))
		return 0;
	return tree->services->read(tree->host, access->pid, address, &to, sizeof(to)) ==
			       (ssize_t)sizeof(to)
		       ? to
		       : 0;
}

const char *flow_function_name(struct flow_tree *tree, pid_t pid, uint64_t pc)
{
	static struct tl_frame frames[16];
	int count = tree->services->symbolise(tree->host, pid, pc, frames, 16);

	return count > 0 && frames[count - 1].function ? frames[count - 1].function : NULL;
}

bool flow_copies_memory(const char *name)
{
	static const char *const names[] = {"memcpy", "memmove", "mempcpy",
					    "strcpy", "stpcpy",	 "strncpy"};

	for (unsigned i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strstr(name, names[i]))
			return true;
	return false;
}

bool flow_reads_number(const char *name)
{
	static const char *const names[] = {"strtol", "strtoul", "strtoll",   "strtoull",
					    "strtoq", "strtouq", "strtoimax", "strtoumax",
					    "atoi",   "atol",	 "atoll"};

	while (name && *name == '_')
		name++;
	for (unsigned i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

uint64_t flow_call_of(struct flow_tree *tree, pid_t pid, uint64_t context, uint64_t own)
{
	uint64_t call = flow_call_before(tree, pid, context), target, start, end, jump;
	struct insn insn;

	if (!call || !flow_decode_at(tree, pid, call, &insn) || insn.flow != INSN_FLOW_CALL)
		return call;
	target = flow_resolve_stub(tree, pid, (uint64_t)insn.target);
	if (target == own || flow_in_c_library(tree, pid, target) ||
	    tree->services->function(tree->host, pid, target, &start, &end) || start == own)
		return call;
	jump = flow_find_jump(tree, pid, target, own);
	return jump ? jump : call;
}
