/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/cause.h"

#include "base/syscall.h"

#define TRAP_HARDWARE 4	 /* TRAP_HWBKPT */
#define TRAP_FLAG 0x100	 /* EFLAGS.TF */
#define OPCODE_INT1 0xf1 /* a trap behind it, with TRAP_BRKPT (exc_debug_user()) */
#define OPCODE_POPF 0x9d /* with TF set before it, it ends by a step whatever it sets */
#define OPCODE_IRET 0xcf /* the same */

/* The last byte of the instruction before; negative where it cannot be read. */
static int byte_before(const ucontext_t *context)
{
	uintptr_t pc = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
	uint8_t byte;

	return raw_read_memory(raw_getpid(), &byte, pc - 1, 1) == 1 ? byte : -1;
}

bool cause_is_missing(const siginfo_t *info, const ucontext_t *context)
{
	int byte;

	switch (info->si_code) {
	case TRAP_HARDWARE:
		return true;
	case TRAP_BRKPT:
		byte = byte_before(context);
		return byte >= 0 && byte != OPCODE_INT1;
	case TRAP_TRACE:
		if (context->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG)
			return false;
		byte = byte_before(context);
		return byte >= 0 && byte != OPCODE_POPF && byte != OPCODE_IRET;
	default:
		return false;
	}
}
