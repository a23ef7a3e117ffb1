/* SPDX-License-Identifier: Apache-2.0 */
#include "process/sleeper.h"

#include "memory/memory.h"

size_t sleeper_unwind(struct space *space, pid_t pid, const struct thread_sleep *sleep,
		      struct symbol_stack_frame *frames, size_t max)
{
	struct symbol_memory memory = symbol_memory_of_process(pid);
	struct symbol_stack_source source = {.memory = &memory};
	bool complete;

	symbol_register_set(&source.registers, SYMBOL_SP, sleep->stack_pointer);
	symbol_register_set(&source.registers, SYMBOL_PC, sleep->pc);
	return symbol_stack_unwind(space_modules(space), &source, frames, max, &complete);
}
