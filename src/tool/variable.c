/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/variable.h"

#include "hit/stack.h"
#include "tool/complete.h"
#include "tool/owner.h"

/* Looks in the frames of the two threads whose stacks are known, and of any thread that sleeps
 * with the address in its stack. */
void variable_find(struct space *space, const struct tl_access *const *accesses, size_t count,
		   struct symbol_variable *variable)
{
	/* Static, since it is large; one thread calls this. */
	static struct symbol_stack_frame frames[3][COMPLETE_FRAMES];
	struct symbol_thread threads[3] = {0};
	size_t known = 0;

	for (size_t i = 0; i < count && i < 2; i++) {
		const struct tl_stack *stack = accesses[i]->stack;

		if (!stack)
			continue;
		threads[known] = (struct symbol_thread){
			.tid = accesses[i]->tid,
			.fs_base = stack->registers.fs_base,
			.stack_pointer = stack->registers.general[insn_arch.stack_pointer],
			.frames = frames[known],
			.frame_count =
				complete_stack(space, accesses[i], frames[known], COMPLETE_FRAMES)};
		known++;
	}
	symbol_variable_find(space_modules(space), accesses[0]->address, accesses[0]->length,
			     threads, known, variable);
	if (!variable->tid && variable->kind != SYMBOL_VARIABLE_GLOBAL &&
	    owner_find(space, accesses[0]->pid, accesses[0]->address, frames[known],
		       COMPLETE_FRAMES, &threads[known]))
		symbol_variable_find(space_modules(space), accesses[0]->address,
				     accesses[0]->length, threads, known + 1, variable);
}
