/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/call.h"

#include <errno.h>

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	const struct insn_forward *forward = context;

	for (size_t i = 0; i < length; i++) {
		uint64_t byte;

		if (!insn_forward_read(forward, address + i, 1, &byte))
			return -EFAULT;
		((uint8_t *)to)[i] = (uint8_t)byte;
	}
	return 0;
}

void uninit_call_begin(struct uninit_call *call, const struct insn_forward *forward)
{
	call->memory = (struct symbol_memory){read_memory, (void *)forward};
	call->call.memory = &call->memory;
	call->call.known = 0;
	for (unsigned i = 0; i < C_ARGUMENTS; i++) {
		call->call.argument[i] = forward->general[insn_arch.function_argument[i]];
		call->call.known |= (unsigned)(forward->known >> insn_arch.function_argument[i] & 1)
				    << i;
	}
}
