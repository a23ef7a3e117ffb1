/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/ahead.h"

#include "memory/binding.h"
#include "uninit/call.h"
#include "uninit/rules.h"

#include <string.h>

#define STEPS 3000
#define STEPS_BLOCK \
	1500 /* a block's thread is held for as long as that takes, and there are many */
/* Each may read C_RESULT_MOST bytes one by one, while the thread is held. */
#define RESULTS_MOST 16
#define WORD 8

static bool read_line(void *context, uint64_t address, uint8_t *bytes)
{
	const struct ahead *ahead = context;

	return ahead->services->read(ahead->host, ahead->pid, address, bytes, LINES_BYTES) ==
	       (ssize_t)LINES_BYTES;
}

int ahead_read(void *context, uint64_t address, void *to, size_t length)
{
	struct ahead *ahead = context;

	return lines_read(&ahead->lines, address, to, length);
}

size_t ahead_code(void *context, uint64_t pc, uint8_t *bytes, size_t max)
{
	struct ahead *ahead = context;

	return lines_read_code(&ahead->lines, pc, bytes, max);
}

bool ahead_is_outside(struct ahead *ahead, uint64_t pc)
{
	const char *module = ahead->services->module(ahead->host, ahead->pid, pc);

	return !module || uninit_has_names(module);
}

/* ------------------------------------------------------------------------------------------- */
/* Functions that are not looked into */

/* What the dynamic linker's function will bind that is being entered. */
static bool find_bound(struct ahead *ahead, const struct insn_forward *forward,
		       struct symbol_binding *binding)
{
	struct symbol_memory memory = {ahead_read, ahead};
	uint64_t link_map, index;

	return insn_forward_read(forward, forward->general[insn_arch.stack_pointer], WORD,
				 &link_map) &&
	       insn_forward_read(forward, forward->general[insn_arch.stack_pointer] + WORD, WORD,
				 &index) &&
	       symbol_binding_of_call(&memory, link_map, index, binding);
}

static void note_result(struct ahead *ahead, const char *name, const struct insn_forward *forward,
			struct predict_outside *outside)
{
	struct uninit_call call;

	call.call.function = c_function_find(name);
	if (!call.call.function || ahead->results++ >= RESULTS_MOST)
		return;
	uninit_call_begin(&call, forward);
	outside->known = c_result(&call.call, &outside->value);
}

static void note_function(struct ahead *ahead, const char *name, const struct insn_forward *forward,
			  struct predict_outside *outside)
{
	outside->gives_back = uninit_gives_back(name);
	if (forward->known >> insn_arch.function_argument[2] & 1) {
		outside->writes = forward->general[insn_arch.function_argument[2]] *
				  uninit_writes_third(name);
		outside->reads = uninit_sets_third(name) ? 0 : outside->writes;
	}
	outside->parts = uninit_sent(name, forward, outside->sent, PREDICT_SENT);
	note_result(ahead, name, forward, outside);
}

static bool passes(void *context, const struct insn_forward *forward,
		   struct predict_outside *outside)
{
	struct ahead *ahead = context;
	const char *module = ahead->services->module(ahead->host, ahead->pid, forward->pc);
	const char *name = NULL;
	struct symbol_binding binding;

	if (!ahead_is_outside(ahead, forward->pc))
		return false;
	if (module)
		name = ahead->services->function_name(ahead->host, ahead->pid, forward->pc);
	if (name && uninit_function(module, name) == SHADOW_DETOUR) {
		outside->discards = 2 * WORD;
		name = find_bound(ahead, forward, &binding) ? binding.name : NULL;
	}
	if (name)
		note_function(ahead, name, forward, outside);
	return true;
}

static bool is_function(void *context, uint64_t pc)
{
	struct ahead *ahead = context;
	uint64_t start, end;

	return !ahead_is_outside(ahead, pc) &&
	       !ahead->services->function(ahead->host, ahead->pid, pc, &start, &end) && start == pc;
}

/* ------------------------------------------------------------------------------------------- */

void ahead_begin(struct ahead *ahead, struct tl_host *host, const struct tl_services *services)
{
	ahead->host = host;
	ahead->services = services;
	ahead->lines = (struct lines){ahead->line, AHEAD_LINES, read_line, ahead};
	ahead->predict.read = ahead_read;
	ahead->predict.code = ahead_code;
	ahead->predict.outside = passes;
	ahead->predict.function = is_function;
	ahead->predict.context = ahead;
	ahead->predict.steps = STEPS;
}

void ahead_look_at(struct ahead *ahead, pid_t pid)
{
	ahead->pid = pid;
	ahead->results = 0;
	lines_forget(&ahead->lines);
}

/*
 * The program's notice tells which registers the call leaves as they are; those that are not known
 * make a branch that depends on them go both ways.
 */
unsigned ahead_of_block(struct ahead *ahead, const struct tl_access *from,
			const struct origin *block, struct predict_word *words, unsigned most)
{
	struct tl_registers registers = {0};
	struct tl_frame_place place;
	const struct predict_load *load;
	unsigned count = 0;

	if (ahead->services->unwind(ahead->host, from, &place, 1) < 1)
		return 0;
	registers.pc = from->pc + 1; /* `from` tells of a place within the call */
	memcpy(registers.general, place.general, sizeof(registers.general));
	registers.general[insn_arch.function_result] = block->address;
	ahead_look_at(ahead, from->pid);
	ahead->predict.steps = STEPS_BLOCK;
	predict_block(
		&ahead->predict, &registers,
		(uint16_t)(1u << insn_arch.function_result |
			   (place.known & (INSN_KEPT_BY_CALLS | 1u << insn_arch.stack_pointer))),
		&(struct predict_block){block->address, block->length, block->filled});
	while (count < most && (load = predict_best(&ahead->predict, count)))
		words[count++] = (struct predict_word){
			.address = block->address + (load->address - block->address) / WORD * WORD,
			.straight = load->straight};
	return count;
}
