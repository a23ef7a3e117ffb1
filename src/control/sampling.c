/* SPDX-License-Identifier: Apache-2.0 */
/* From one clock sample to the memory accesses that the thread is about to make. */
#include "control/sampling.h"

#include "base/clock.h"
#include "control/state.h"
#include "insn/forward.h"
#include "sample/ahead.h"
#include "usage/foresee.h"
#include "usage/in_use.h"

#include <string.h>

/* Bytes above the stack pointer that are taken for the thread's own stack. */
#define OWN_STACK 262144
#define RED_ZONE 128
/* Instructions; the thread runs on meanwhile, so what lies further ahead is past by the time it is
 * watched. */
#define LOOK_AHEAD 12

struct offer {
	struct control *control;
	struct target *target;
	const struct sample *sample;
	const struct tl_registers *registers; /* of the sample */
};

static void offer(void *context, const struct insn_forward_access *found, unsigned steps)
{
	const struct offer *to = context;
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;
	uint64_t stack = to->sample->registers.general[insn_arch.stack_pointer];
	struct tl_access access = {.size = sizeof(access),
				   .pid = to->sample->pid,
				   .tid = to->sample->tid,
				   .identity = (uint64_t)to->sample->tid,
				   .pc = found->pc,
				   .address = found->address,
				   .length = found->length,
				   .access = found->access,
				   .time = to->sample->time};

	bool own_stack = access.address >= stack - RED_ZONE && access.address < stack + OWN_STACK;

	if ((!to->control->program.options.own_stacks &&
	     space_is_own_stack(to->target->space, stack, access.address, OWN_STACK)) ||
	    !space_writable(to->target->space, access.address) ||
	    insn_decode(bytes, space_code(to->target->space, found->pc, bytes, sizeof(bytes)),
			found->pc, &insn))
		return;
	for (unsigned i = 0; i < insn.operand_count; i++)
		if (insn.operand[i].access == (access.access & (TL_READ | TL_WRITE)))
			access.traits = insn_traits(&insn, i, access.address, access.length);
	if (steps)
		access.traits |= TL_TRAIT_FORESEEN;
	if (own_stack)
		access.traits |= TL_TRAIT_OWN_STACK;
	access.registers = to->registers;
	count_one(&to->control->program, COUNT_ACCESSES);
	if (to->control->observer.sample)
		to->control->observer.sample(to->control->observer.context, &access);
}

static struct tl_registers registers_of(const struct insn_registers *noted)
{
	struct tl_registers registers = {
		.pc = noted->pc, .flags = noted->flags, .fs_base = noted->fs_base};

	memcpy(registers.general, noted->general, sizeof(registers.general));
	return registers;
}

void sampling_take(void *context, const struct sample *sample)
{
	struct tl_registers registers = registers_of(&sample->registers);
	struct control *control = context;
	struct offer to = {.control = control, .sample = sample, .registers = &registers};
	const char *module;

	count_one(&control->program, COUNT_SAMPLES);
	to.target = target_find(&control->program, sample->pid);
	if (!to.target) {
		count_one(&control->program, COUNT_SAMPLES_ELSEWHERE);
		return;
	}
	active_note(to.target, sample->tid);
	module = space_module(to.target->space, sample->registers.pc);
	if (module && !program_wants_module(&control->program, module))
		return;
	looked_ran(&control->looked, sample->tid, sample->registers.pc);
	if (module && to.target->slots && !space_is_libc(to.target->space, sample->registers.pc)) {
		code_note(to.target, sample->tid, sample->registers.pc);
		foresee(to.target, sample->tid, &sample->registers);
	}
	if (clock_now() - sample->time > REQUEST_AGE)
		count_one(&control->program, COUNT_SAMPLES_OLD);
	else if (!ahead_walk(to.target->space, &sample->registers, LOOK_AHEAD, offer, &to, NULL))
		count_one(&control->program, COUNT_SAMPLES_UNDECODED);
}
