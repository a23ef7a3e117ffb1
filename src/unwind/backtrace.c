/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind.h"

#include "base/counters.h"
#include "insn/arch.h"
#include "unwind/step.h"

#define CALLS_MOST 24 /* between the function that asks and the call that it is asked about */

static void registers_from_context(struct unwind_registers *registers, const ucontext_t *context)
{
	unwind_arch.registers(context, registers->value);
	registers->known = (uint32_t)((1ull << UNWIND_REGISTER_COUNT) - 1);
	registers->interrupted = 1;
}

static int collect(struct walk *walk, uintptr_t *pcs, size_t max, int *complete)
{
	size_t count = 0;
	int status = 0;

	while (count < max) {
		pcs[count++] = walk->registers.value[UNWIND_PC];
		status = walk_step(walk);
		if (status)
			break;
	}
	if (status < 0)
		counter_increment(COUNTER_UNWIND_STOPPED);
	if (complete)
		*complete = status == 1;
	return (int)count;
}

int unwind_backtrace(const ucontext_t *context, uintptr_t *pcs, size_t max, int *complete)
{
	struct walk walk;

	walk_init(&walk);
	registers_from_context(&walk.registers, context);
	return collect(&walk, pcs, max, complete);
}

int unwind_callers(const struct unwind_registers *registers, uint64_t plain_until, uintptr_t *pcs,
		   size_t max, struct unwind_trail *trail)
{
	struct walk walk;

	walk_init(&walk);
	walk.registers = *registers;
	walk.memory.plain_from = registers->value[UNWIND_SP];
	walk.memory.plain_until = plain_until;
	walk.memory.trail = trail;
	if (trail) {
		trail->count = 0;
		trail->whole = true;
		trail->by_frame_pointer = false;
	}
	return collect(&walk, pcs, max, NULL);
}

static bool is_kept_known(const struct unwind_registers *registers)
{
	return (registers->known & unwind_arch.kept) == unwind_arch.kept;
}

/* What lies between is this thread's own stack, in use. */
bool unwind_kept(uint64_t stack_pointer, uint64_t general[])
{
	struct walk walk;

	walk_init(&walk);
	unwind_arch.here(walk.registers.value);
	walk.registers.known = unwind_arch.kept | 1u << UNWIND_SP | 1u << UNWIND_PC;
	walk.registers.interrupted = 1;
	walk.memory.plain_from = walk.registers.value[UNWIND_SP];
	walk.memory.plain_until = stack_pointer;
	for (unsigned i = 0; i < CALLS_MOST && walk.registers.value[UNWIND_SP] < stack_pointer; i++)
		if (walk_step(&walk))
			return false;
	if (walk.registers.value[UNWIND_SP] != stack_pointer || !is_kept_known(&walk.registers))
		return false;
	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if (unwind_arch.encoded[i])
			general[i] = walk.registers.value[unwind_arch.encoded[i]];
	return true;
}
