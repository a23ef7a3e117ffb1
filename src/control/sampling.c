/* SPDX-License-Identifier: Apache-2.0 */
/* From one clock sample to the memory accesses that the thread is about to make. */
#include "control/private.h"

#define OWN_STACK 262144 /* bytes above the stack pointer taken for the thread's own stack */
#define RED_ZONE 128
#define LOOK_AHEAD 12 /* instructions: the thread goes on meanwhile */

struct offer {
	struct control *control;
	struct target *target;
	const struct sample *sample;
};

static void offer(void *context, const struct insn_forward_access *found)
{
	const struct offer *to = context;
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;
	uint64_t stack = to->sample->registers.general[4];
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

	if (own_stack || !space_writable(to->target->space, access.address) ||
	    insn_decode(bytes, space_code(to->target->space, found->pc, bytes, sizeof(bytes)),
			found->pc, &insn))
		return;
	for (unsigned i = 0; i < insn.operand_count; i++)
		if (insn.operand[i].access == (access.access & (TL_READ | TL_WRITE)))
			access.traits = insn_traits(&insn, i, access.address, access.length);
	count_one(to->control, COUNT_ACCESSES);
	if (to->control->observer.sample)
		to->control->observer.sample(to->control->observer.context, &access);
}

static void take(void *context, const struct sample *sample)
{
	struct control *control = context;
	struct offer to = {.control = control, .sample = sample};
	const char *module;

	count_one(control, COUNT_SAMPLES);
	to.target = target_find(control, sample->pid);
	if (!to.target) {
		count_one(control, COUNT_SAMPLES_ELSEWHERE);
		return;
	}
	active_note(to.target, sample->tid);
	module = space_module(to.target->space, sample->registers.pc);
	if (module && !control_wants_module(control, module))
		return;
	if (module && !space_is_libc(to.target->space, sample->registers.pc))
		code_note(to.target, sample->tid, sample->registers.pc);
	if (control_now() - sample->time > REQUEST_AGE)
		count_one(control, COUNT_SAMPLES_OLD);
	else if (!ahead_walk(to.target, &sample->registers, LOOK_AHEAD, offer, &to, NULL))
		count_one(control, COUNT_SAMPLES_UNDECODED);
}

void sampling_drain(struct control *control)
{
	samples_drain(control->samples, take, control);
	control->count[COUNT_SAMPLES_UNREAD] += samples_take_lost(control->samples);
}
