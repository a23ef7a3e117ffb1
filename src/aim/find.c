/* SPDX-License-Identifier: Apache-2.0 */
#include "aim/find.h"

#include "base/path.h"

#include "symbol/lookup.h"
#include "symbol/place.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTION_MOST 65536 /* bytes of one function that are looked at */
#define LINES_AWAY 3	    /* where nothing but its line tells an access from others */
#define BYTES_AWAY 64
#define NAME_MAX_LENGTH 512

/* A variable of the program's that the finding is about; `end` 0: it is about none that is known.
 */
struct extent {
	uint64_t start, end;
};

struct search {
	struct target *target;
	const struct aim *aim;
	const struct finding_access *access;
	const struct finding_frame *frame; /* its place */
	const struct finding_frame *outer; /* the function that `frame`'s is inlined into, or it */
	bool is_call;			   /* the access is made in the C library, called there */
	struct extent object;
	uint64_t distance; /* of those in `found` */
	struct aim_found *found;
};

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* Length of "ns::f(int) const" without its parameters. */
static size_t bare_length(const char *function)
{
	size_t length = finding_function_length(function), at = length;
	int depth = 0;

	while (at && function[at - 1] != ')')
		at--;
	while (at) {
		at--;
		depth += function[at] == ')';
		depth -= function[at] == '(';
		if (depth == 0)
			return at ? at : length;
	}
	return length;
}

static bool is_same_function(const char *a, const char *b)
{
	size_t length = a && b ? bare_length(a) : 0;

	return length && bare_length(b) == length && strncmp(a, b, length) == 0;
}

static const struct finding_frame *outer_frame(const struct finding_stack *stack,
					       const struct finding_frame *frame)
{
	while (frame->inlined && frame + 1 < stack->frames + stack->count)
		frame++;
	return frame;
}

/* ---- modules ------------------------------------------------------------------------------ */

/* Is the finding's module the program itself? Then so it is in a build of another name. */
static bool was_program(const struct search *search)
{
	const char *program = search->aim->finding->program;

	return is_same(path_name(search->frame->module), path_name(program));
}

static const struct symbol_module *find_module(const struct search *search)
{
	struct symbol_modules *modules = space_modules(search->target->space);
	const struct symbol_module *module, *named = NULL, *program = NULL;

	for (size_t i = 0; (module = symbol_modules_at(modules, i)); i++) {
		if (module->gone)
			continue;
		if (search->frame->build_id && *module->build_id_text &&
		    strcmp(module->build_id_text, search->frame->build_id) == 0)
			return module;
		if (!named && is_same(path_name(module->path), path_name(search->frame->module)))
			named = module;
		if (!program && was_program(search) && symbol_modules_is_main(modules, module))
			program = module;
	}
	return named ? named : program;
}

/* ---- instructions ------------------------------------------------------------------------- */

/* Keeps the instructions that are nearest so far, all of one distance. */
static void keep(struct search *search, uint64_t pc, uint64_t distance, unsigned line)
{
	struct aim_found *found = search->found;

	if (found->count && distance > search->distance)
		return;
	if (!found->count || distance < search->distance) {
		search->distance = distance;
		found->count = 0;
		found->line = line;
	}
	if (found->count < AIM_INSTRUCTIONS)
		found->pc[found->count++] = pc;
	else
		count_one(search->target->program, COUNT_AIM_LEFT_OUT);
}

static bool decode(const struct search *search, uint64_t pc, struct insn *insn)
{
	uint8_t bytes[INSN_MAX_LENGTH];

	return insn_decode(bytes, space_code(search->target->space, pc, bytes, sizeof(bytes)), pc,
			   insn) == 0;
}

/* May the instruction access the finding's variable? One with a fixed address must access that; one
 * through a pointer may always. */
static bool may_be_object(const struct search *search, const struct insn *insn,
			  const struct insn_operand *operand, uint64_t pc)
{
	uint64_t address = pc + insn->length + (uint64_t)operand->displacement;

	if (operand->base != INSN_PC || operand->index >= 0)
		return true;
	if (search->object.end)
		return address >= search->object.start && address < search->object.end;
	return search->aim->finding->object.kind != FINDING_OBJECT_HEAP &&
	       search->aim->finding->object.kind != FINDING_OBJECT_STACK;
}

static unsigned wanted_access(const struct finding_access *access)
{
	switch (access->operation) {
	case FINDING_READ:
		return TL_READ;
	case FINDING_WRITE:
		return TL_WRITE;
	default:
		return TL_READ | TL_WRITE;
	}
}

/* Does it access memory as the finding's instruction did? A read-modify-write of one build may be
 * two instructions in the next, and the reverse: either access will do. */
static bool makes_access(const struct search *search, const struct insn *insn, uint64_t pc)
{
	unsigned wanted = wanted_access(search->access);

	if (search->is_call)
		return insn->flow == INSN_FLOW_CALL || insn->flow == INSN_FLOW_CALL_INDIRECT;
	for (unsigned i = 0; i < insn->operand_count; i++) {
		const struct insn_operand *operand = &insn->operand[i];

		if ((operand->access & wanted) && !operand->stack_push && !operand->stack_pop &&
		    may_be_object(search, insn, operand, pc))
			return true;
	}
	return false;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* How many lines from the finding's, both counted from the first line of their function, the
 * instruction is. -1: it is of another function. */
static int64_t lines_away(const struct search *search, uint64_t pc, unsigned *line)
{
	const struct finding_frame *old = search->frame;
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	size_t count = symbol_place_find(space_modules(search->target->space), pc, false, frames,
					 SYMBOL_INLINE_MAX);

	for (size_t i = 0; i < count; i++) {
		const struct symbol_frame *now = &frames[i];
		bool relative = now->function_line && old->function_line;

		if (!now->line || !is_same_function(now->function, old->function) ||
		    !is_same(path_name(now->file), path_name(old->file)))
			continue;
		*line = now->line;
		return (int64_t)(relative ? apart(now->line - now->function_line,
						  old->line - old->function_line)
					  : apart(now->line, old->line));
	}
	return -1;
}

static void consider_line(struct search *search, uint64_t pc)
{
	unsigned line = 0;
	int64_t away = lines_away(search, pc, &line);

	if (away < 0 || (!search->object.end && away > LINES_AWAY))
		return;
	keep(search, pc, (uint64_t)away, line);
}

static void consider_bytes(struct search *search, uint64_t start, uint64_t pc)
{
	uint64_t away = apart(pc - start, (uint64_t)search->outer->function_offset);

	if (search->object.end || away <= BYTES_AWAY)
		keep(search, pc, away, 0);
}

/* Of the function [start, end), by lines or by bytes. */
static void look_in(struct search *search, uint64_t start, uint64_t end, enum aim_how how)
{
	struct insn insn;

	if (end - start > FUNCTION_MOST)
		end = start + FUNCTION_MOST;
	for (uint64_t pc = start; pc < end && decode(search, pc, &insn); pc += insn.length) {
		if (!makes_access(search, &insn, pc))
			continue;
		if (how == AIM_BY_LINE)
			consider_line(search, pc);
		else
			consider_bytes(search, start, pc);
	}
	if (search->found->count)
		search->found->how = how;
}

/* ---- ways to find it ---------------------------------------------------------------------- */

/* The call before a return address. */
static uint64_t call_before(const struct search *search, uint64_t return_address)
{
	uint64_t start, end;
	struct insn insn;

	if (space_whole_function(search->target->space, return_address - 1, &start, &end))
		return 0;
	for (uint64_t pc = start; pc < return_address && decode(search, pc, &insn);
	     pc += insn.length)
		if (pc + insn.length == return_address)
			return pc;
	return 0;
}

static void find_by_offset(struct search *search, const struct symbol_module *module,
			   enum aim_how how)
{
	uint64_t pc = module->bias + search->frame->offset;
	struct insn insn;

	if (search->is_call)
		pc = call_before(search, pc);
	if (!pc || !decode(search, pc, &insn) || !makes_access(search, &insn, pc))
		return;
	keep(search, pc, 0, 0);
	search->found->how = how;
}

static bool look_up(const struct search *search, const char *qualifier, const char *function,
		    struct symbol_found *found)
{
	char name[NAME_MAX_LENGTH], error[SYMBOL_ERROR_MAX];
	size_t length = bare_length(function);

	if (length >= sizeof(name))
		return false;
	memcpy(name, function, length);
	name[length] = '\0';
	return symbol_lookup(space_modules(search->target->space), qualifier, name, found, error) ==
		       0 &&
	       found->function;
}

static void find_in_function(struct search *search, const struct symbol_module *module,
			     const struct finding_frame *frame, enum aim_how how)
{
	struct symbol_found function;
	uint64_t start, end;

	if (!frame->function || (!(frame->file && look_up(search, path_name(frame->file),
							  frame->function, &function)) &&
				 !look_up(search, module->path, frame->function, &function)))
		return;
	if (space_whole_function(search->target->space, function.address, &start, &end)) {
		start = function.address;
		end = start + function.size;
	}
	look_in(search, start, end, how);
}

/* A variable by its name alone: "server" of "server.stat.count[3]". */
static void learn_object(struct search *search, const struct symbol_module *module)
{
	const struct finding_object *object = &search->aim->finding->object;
	char name[NAME_MAX_LENGTH], error[SYMBOL_ERROR_MAX];
	struct symbol_found found;
	size_t length;

	if (object->kind != FINDING_OBJECT_GLOBAL || !object->name)
		return;
	length = strcspn(object->name, ".[-+ ");
	if (!length || length >= sizeof(name))
		return;
	memcpy(name, object->name, length);
	name[length] = '\0';
	if (symbol_lookup(space_modules(search->target->space), module->path, name, &found,
			  error) ||
	    found.function || found.tls || !found.size)
		return;
	search->object = (struct extent){found.address, found.address + found.size};
}

static bool has_line(const struct finding_frame *frame)
{
	return frame->function && frame->file && frame->line;
}

static void find_elsewhere(struct search *search, const struct symbol_module *module)
{
	bool has_build = search->frame->build_id && *module->build_id_text;

	if (!search->is_call)
		learn_object(search, module);
	if (has_line(search->frame)) {
		find_in_function(search, module, search->outer, AIM_BY_LINE);
		if (!search->found->count && search->outer != search->frame)
			find_in_function(search, module, search->frame, AIM_BY_LINE);
	}
	if (!search->found->count && search->outer->function &&
	    search->outer->function_offset >= 0 && search->outer == search->frame)
		find_in_function(search, module, search->outer, AIM_BY_FUNCTION);
	if (!search->found->count && !search->frame->function && !has_build)
		find_by_offset(search, module, AIM_BY_OFFSET);
}

void aim_find(struct target *target, const struct aim *aim, const struct aim_side *side,
	      struct aim_found *found)
{
	const struct finding_frame *frame = finding_place_frame(side->access);
	struct search search = {.target = target,
				.aim = aim,
				.access = side->access,
				.frame = frame,
				.outer = outer_frame(&side->access->stack, frame),
				.is_call = frame != side->access->stack.frames,
				.found = found};
	const struct symbol_module *module = find_module(&search);

	*found = (struct aim_found){0};
	if (!module)
		return;
	if (search.frame->build_id && strcmp(module->build_id_text, search.frame->build_id) == 0)
		find_by_offset(&search, module, AIM_BY_BUILD);
	if (!found->count)
		find_elsewhere(&search, module);
}
