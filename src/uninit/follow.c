/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/follow.h"

#include "base/lines.h"
#include "insn/insn.h"
#include "memory/binding.h"
#include "uninit/call.h"
#include "uninit/output.h"
#include "uninit/recover.h"
#include "uninit/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES 256u	/* of memory that was read */
#define FUNCTIONS 1024u /* remembered by address */
#define MOVE_MOST 65536u
#define LINK_BYTES 16u	 /* that an allocator uses of each free block at least, to link it */
#define STATUS_BITS 0xff /* of exit()'s argument, that the parent gets */
#define BLOCK 0x100000u	 /* bytes from one block that a walk is given to the next */
/* A function that is handed a pointer is taken to read the value if that lies within so many bytes
 * behind it. */
#define REACH 4096u

struct known_function {
	uint64_t pc;
	pid_t pid;
	char name[SYMBOL_BINDING_NAME];
	enum shadow_function what;
	const struct c_function *c_function;
	const struct c_output *output;
	bool librarys;
};

struct follow {
	struct tl_host *host;
	const struct tl_services *services;
	pid_t pid;
	unsigned blocks; /* that the walk was given */
	bool in_library; /* the walk has followed a function of the C library */
	struct lines lines;
	struct line line[LINES];
	struct known_function function[FUNCTIONS];
	struct shadow_walk walk;
};

static bool read_line(void *context, uint64_t address, uint8_t *bytes)
{
	const struct follow *follow = context;

	return follow->services->read(follow->host, follow->pid, address, bytes, LINES_BYTES) ==
	       (ssize_t)LINES_BYTES;
}

struct follow *uninit_follow_create(struct tl_host *host, const struct tl_services *services)
{
	struct follow *follow = calloc(1, sizeof(*follow));

	if (follow) {
		follow->host = host;
		follow->services = services;
		follow->lines = (struct lines){follow->line, LINES, read_line, follow};
	}
	return follow;
}

void uninit_follow_destroy(struct follow *follow)
{
	free(follow);
}

/* ------------------------------------------------------------------------------------------- */
/* Memory */

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	struct follow *follow = context;

	return lines_read(&follow->lines, address, to, length);
}

static size_t read_code(void *context, uint64_t pc, uint8_t *bytes, size_t max)
{
	struct follow *follow = context;

	return lines_read_code(&follow->lines, pc, bytes, max);
}

/* ------------------------------------------------------------------------------------------- */
/* Functions of the C library that are not followed */

static void note_function(struct known_function *known, const char *module, const char *name)
{
	known->what = uninit_function(module, name);
	known->c_function = name ? c_function_find(name) : NULL;
	known->librarys = uninit_is_library(module);
	known->output = name ? c_output_find(name) : NULL;
	snprintf(known->name, sizeof(known->name), "%s", name ? name : "");
}

static const struct known_function *function_at(struct follow *follow, uint64_t pc)
{
	struct known_function *known = &follow->function[(pc >> 2) % FUNCTIONS];
	const char *module;

	if (known->pc == pc && known->pid == follow->pid)
		return known;
	*known = (struct known_function){.pc = pc, .pid = follow->pid, .what = SHADOW_FOLLOW};
	module = follow->services->module(follow->host, follow->pid, pc);
	if (!module)
		return known;
	/* Names are asked for only where a rule may go by them. */
	note_function(known, module,
		      uninit_has_names(module)
			      ? follow->services->function_name(follow->host, follow->pid, pc)
			      : NULL);
	return known;
}

/* memcmp() counts as reading all bytes, though its result depends only on those up to the first
 * that differ: the same function, marked so. */
static struct c_function compared(const struct c_function *function)
{
	struct c_function compares = *function;

	for (unsigned i = 0; i < function->operands; i++) {
		struct c_operand *operand = &compares.operand[i];

		if (function->operands == 2 && !operand->flags && operand->wanted < 0) {
			operand->other = function->operand[1 - i].pointer;
			operand->flags = C_COMPARES;
		}
	}
	return compares;
}

/* Does any byte that the call reads depend on the value? Then its result does, too. */
static bool reads_shadow(const struct c_call *made, const struct shadow_state *state)
{
	const struct c_function function = compared(made->function);
	struct c_call call = *made;

	call.function = &function;
	for (unsigned i = 0; i < function.operands; i++) {
		int8_t pointer = function.operand[i].pointer;
		uint64_t first, length, start;

		if (pointer < 0 || !(call.known >> pointer & 1))
			continue;
		start = call.argument[pointer];
		while (shadow_find(&state->shadow, start, REACH, &first, &length)) {
			start = first + length;
			if (c_extent(&call, &first, &length) == C_EXTENT_WITHIN)
				return true;
		}
	}
	return false;
}

static bool is_argument_in(const struct shadow_state *state, int8_t number, uint64_t bits,
			   bool *vague)
{
	unsigned place = number < 0 ? 0 : insn_arch.function_argument[number];

	if (number < 0 || !(state->shadow.general[place] & bits))
		return false;
	*vague = state->shadow.vague_general >> place & 1;
	return true;
}

/* Does an argument depend on the value: where the call reads, how much, or what it looks for? Not
 * where the number of bytes is zero, since nothing is read then. */
static bool takes_shadow(const struct c_call *call, const struct shadow_state *state, bool *vague)
{
	for (unsigned i = 0; i < call->function->operands; i++) {
		const struct c_operand *operand = &call->function->operand[i];
		uint64_t wanted = call->function->width == 1 ? 0xff : UINT32_MAX;

		if (is_argument_in(state, operand->count, ~0ull, vague))
			return true;
		if (operand->count >= 0 && (call->known >> operand->count & 1) &&
		    !call->argument[operand->count])
			continue;
		if (is_argument_in(state, operand->pointer, ~0ull, vague) ||
		    is_argument_in(state, operand->wanted, wanted, vague))
			return true;
	}
	return false;
}

/* memcpy() and its like are answered for where their code is not known: of one that is not bound
 * yet the variant for this CPU has not been chosen yet. */
static bool moves(const char *name, const struct c_call *call, struct shadow_answer *answer)
{
	bool sets = strcmp(name, "memset") == 0, ends = strcmp(name, "mempcpy") == 0;

	if ((!sets && !ends && strcmp(name, "memcpy") != 0 && strcmp(name, "memmove") != 0) ||
	    (call->known & 7) != 7 || call->argument[2] > MOVE_MOST)
		return false;
	answer->arguments = 3;
	answer->to = call->argument[0];
	answer->from = sets ? 0 : call->argument[1];
	answer->length = call->argument[2];
	answer->known = true;
	answer->value = call->argument[0] + (ends ? call->argument[2] : 0);
	return true;
}

/* free(): the allocator links the block, and from then on its bytes are the allocator's. */
static void give_back(const struct c_call *call, struct shadow_answer *answer)
{
	if (call->known & 1 && call->argument[0]) {
		answer->to = call->argument[0];
		answer->length = LINK_BYTES;
	}
	answer->arguments = 1;
	answer->known = true; /* it has no result */
}

/* malloc(): the block's real address is not known, so the walk is given one where no memory is, and
 * goes on as if the call succeeded. */
static void give_block(struct follow *follow, struct shadow_answer *answer)
{
	answer->arguments = 2;
	answer->known = true;
	answer->value = SHADOW_NOWHERE + follow->blocks++ % (SHADOW_NOWHERE_LENGTH / BLOCK) * BLOCK;
}

static unsigned arguments_of(const struct c_function *function)
{
	int most = 1; /* arguments that are written through: the first one */

	for (unsigned i = 0; i < function->operands; i++) {
		const struct c_operand *operand = &function->operand[i];

		most = operand->pointer > most ? operand->pointer : most;
		most = operand->count > most ? operand->count : most;
		most = operand->wanted > most ? operand->wanted : most;
		most = operand->other > most ? operand->other : most;
	}
	return (unsigned)most + 1;
}

static enum shadow_function skip(struct follow *follow, const struct known_function *known,
				 const struct shadow_state *state, struct shadow_answer *answer)
{
	struct uninit_call made = {.call.function = known->c_function};
	struct c_call *call = &made.call;

	uninit_call_begin(&made, &state->forward);
	if (uninit_gives_back(known->name)) {
		give_back(call, answer);
		return SHADOW_SKIP;
	}
	if (uninit_makes_block(known->name)) {
		give_block(follow, answer);
		return SHADOW_SKIP;
	}
	if (!known->c_function) {
		/* How many bytes it writes. */
		answer->depends = state->shadow.general[insn_arch.function_argument[2]];
		return moves(known->name, call, answer) ? SHADOW_SKIP : SHADOW_END;
	}
	answer->arguments = arguments_of(known->c_function);
	answer->depends = takes_shadow(call, state, &answer->vague) || reads_shadow(call, state);
	answer->known = c_result(call, &answer->value);
	return SHADOW_SKIP;
}

/* A call through the linkage table that is not bound yet: the walk goes on in the function that it
 * would be bound to. One that is chosen by the CPU's features (an IFUNC) is answered for by its
 * name instead. */
static enum shadow_function detour(struct follow *follow, const struct shadow_state *state,
				   struct shadow_answer *answer)
{
	struct symbol_memory memory = {read_memory, follow};
	struct symbol_binding binding = {.address = 0};
	struct known_function *known;
	uint64_t link_map, index;

	if (!insn_forward_read(&state->forward, state->forward.general[insn_arch.stack_pointer], 8,
			       &link_map) ||
	    !insn_forward_read(&state->forward, state->forward.general[insn_arch.stack_pointer] + 8,
			       8, &index) ||
	    !symbol_binding_of_call(&memory, link_map, index, &binding))
		return SHADOW_END;
	answer->target = binding.address;
	answer->discards = 16;
	if (binding.indirect) {
		known = &follow->function[(binding.address >> 2) % FUNCTIONS];
		*known = (struct known_function){.pc = binding.address, .pid = follow->pid};
		note_function(known, "libc.so.6", binding.name);
		known->what = SHADOW_SKIP;
	}
	return SHADOW_DETOUR;
}

static void ask_status(const struct shadow_state *state, struct shadow_answer *answer)
{
	answer->depends = state->shadow.general[insn_arch.function_argument[0]] & STATUS_BITS;
	answer->vague = state->shadow.vague_general >> insn_arch.function_argument[0] & 1;
}

/* Is the stream one of the library's variables, as stdout is? */
static bool is_librarys(void *context, uint64_t address)
{
	struct follow *follow = context;
	const char *module = follow->services->module(follow->host, follow->pid, address);

	return module && uninit_is_library(module);
}

static bool prints(struct follow *follow, const struct c_output *output,
		   const struct shadow_state *state, struct shadow_answer *answer)
{
	const struct uninit_streams streams = {is_librarys, follow, follow->in_library};

	return uninit_output(output, state, &streams, answer);
}

static enum shadow_function look_at_function(void *context, const struct shadow_state *state,
					     struct shadow_answer *answer)
{
	struct follow *follow = context;
	const struct known_function *known = function_at(follow, state->forward.pc);

	if (known->what == SHADOW_DETOUR)
		return detour(follow, state, answer);
	if (known->what == SHADOW_SKIP)
		return skip(follow, known, state, answer);
	if (known->what == SHADOW_FOLLOW && known->output &&
	    prints(follow, known->output, state, answer))
		return SHADOW_SKIP;
	follow->in_library |= known->what == SHADOW_FOLLOW && known->librarys;
	if (known->what == SHADOW_DIES && uninit_ends_with(known->name))
		ask_status(state, answer);
	return known->what;
}

/* ------------------------------------------------------------------------------------------- */

/* The load is made within a string function of the library, whose result depends on all the bytes
 * that it is to read: so the value decides something. */
static bool decides_itself(struct follow *follow, const struct tl_access *access,
			   struct shadow_found *found)
{
	const char *module = follow->services->module(follow->host, access->pid, access->pc);
	const char *name =
		uninit_is_library(module)
			? follow->services->function_name(follow->host, access->pid, access->pc)
			: NULL;

	if (!name || !c_function_find(name))
		return false;
	*found = (struct shadow_found){
		.sink = SHADOW_SINK_BRANCH, .pc = access->pc, .certain = true};
	return true;
}

/* Does the instruction compute with a register that it then overwrites? What becomes of the loaded
 * bits depends on that register's old value, which the hit's registers no longer show. */
static bool overwrites_source(struct follow *follow, uint64_t pc)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	size_t available = read_code(follow, pc, bytes, sizeof(bytes));
	struct insn insn;

	return available && insn_decode(bytes, available, pc, &insn) == 0 && !insn.plain_move &&
	       insn.written_registers;
}

bool uninit_follow_load(struct follow *follow, const struct tl_access *access, uint64_t address,
			uint64_t fresh, unsigned steps, struct shadow_found *found)
{
	struct insn_registers after = {0};
	uint8_t bits[8];
	uint64_t before[INSN_GENERAL];
	struct shadow_load load = {.pc = access->pc,
				   .address = address,
				   .accessed = access->address,
				   .bits = bits,
				   .length = sizeof(bits),
				   .after = &after,
				   .known = 0xffff};

	if (decides_itself(follow, access, found))
		return true;
	if (!access->registers)
		return false;
	memcpy(after.general, access->registers->general, sizeof(after.general));
	after.pc = access->registers->pc;
	after.flags = access->registers->flags;
	after.fs_base = access->registers->fs_base;
	memcpy(bits, &fresh, sizeof(bits));
	follow->pid = access->pid;
	follow->blocks = 0;
	follow->in_library = is_librarys(follow, access->pc);
	lines_forget(&follow->lines);
	if (overwrites_source(follow, access->pc)) {
		load.recovered =
			uninit_recover_before(follow->host, follow->services, access, before);
		load.before = before;
	}
	follow->walk.read = read_memory;
	follow->walk.code = read_code;
	follow->walk.function = look_at_function;
	follow->walk.context = follow;
	follow->walk.steps = steps;
	follow->walk.compare = true;
	return shadow_follow(&follow->walk, &load, found) == 0;
}
