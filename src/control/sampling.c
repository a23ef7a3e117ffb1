/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From one clock sample to the memory accesses that the thread is about to make: the instructions
 * from the sampled one on, as far as they follow in a straight line and their operands are made of
 * registers that are still what the sample says.
 */
#include "control/private.h"

#include <string.h>

#define LOOK_AHEAD 12	 /* instructions */
#define OWN_STACK 262144 /* bytes above the stack pointer taken for the thread's own stack */
#define RED_ZONE 128

struct walk {
	struct control *control;
	struct target *target;
	const struct sample *sample;
	uint16_t changed; /* registers no longer as sampled */
};

static bool operand_known(const struct walk *walk, const struct insn_operand *operand)
{
	if (operand->base >= 0 && operand->base < 16 && walk->changed >> operand->base & 1)
		return false;
	if (operand->index >= 0 && operand->index < 16 && walk->changed >> operand->index & 1)
		return false;
	return operand->segment == 0 && operand->vector_index < 0;
}

static void offer(struct walk *walk, const struct insn *insn, unsigned index, uint64_t pc)
{
	const struct insn_operand *operand = &insn->operand[index];
	struct insn_registers registers = walk->sample->registers;
	struct tl_access access = {.size = sizeof(access),
				   .pid = walk->sample->pid,
				   .tid = walk->sample->tid,
				   .identity = (uint64_t)walk->sample->tid,
				   .pc = pc,
				   .time = walk->sample->time};
	uint64_t stack = registers.general[4];

	registers.pc = pc;
	if (insn_operand_before(insn, index, &registers, &access.address, &access.length) ||
	    !access.length || access.address < 4096 || access.address >> 47)
		return;
	access.own_stack = access.address >= stack - RED_ZONE && access.address < stack + OWN_STACK;
	access.access = operand->access | (insn->atomic ? TL_ATOMIC : 0);
	access.traits = insn_traits(insn, index, access.address, access.length);
	if (access.own_stack || !space_writable(walk->target->space, access.address))
		return;
	count_one(walk->control, COUNT_ACCESSES);
	if (walk->control->observer.sample)
		walk->control->observer.sample(walk->control->observer.context, &access);
}

static void walk_instructions(struct walk *walk)
{
	uint8_t bytes[LOOK_AHEAD * 8];
	uint64_t pc = walk->sample->registers.pc;
	size_t available = space_code(walk->target->space, pc, bytes, sizeof(bytes)), at = 0;

	for (unsigned i = 0; i < LOOK_AHEAD; i++) {
		struct insn insn;

		if (insn_decode(bytes + at, available - at, pc + at, &insn)) {
			if (i == 0)
				count_one(walk->control, COUNT_SAMPLES_UNDECODED);
			return;
		}
		for (unsigned operand = 0; operand < insn.operand_count; operand++)
			if (insn.operand[operand].access && !insn.operand[operand].stack_push &&
			    !insn.operand[operand].stack_pop &&
			    operand_known(walk, &insn.operand[operand]))
				offer(walk, &insn, operand, pc + at);
		walk->changed |= insn.written_registers;
		at += insn.length;
		if (insn.flow != INSN_FLOW_NEXT && !insn.conditional)
			return;
	}
}

void sampling_take(void *context, const struct sample *sample)
{
	struct control *control = context;
	struct walk walk = {.control = control, .sample = sample};
	const char *module;

	count_one(control, COUNT_SAMPLES);
	walk.target = target_find(control, sample->pid);
	if (!walk.target) {
		count_one(control, COUNT_SAMPLES_ELSEWHERE);
		return;
	}
	active_note(walk.target, sample->tid);
	module = space_module(walk.target->space, sample->registers.pc);
	if (module && !control_wants_module(control, module))
		return;
	if (module && !space_is_libc(walk.target->space, sample->registers.pc))
		code_note(walk.target, sample->tid, sample->registers.pc);
	if (control_now() - sample->time > REQUEST_AGE)
		count_one(control, COUNT_SAMPLES_OLD);
	else
		walk_instructions(&walk);
}
