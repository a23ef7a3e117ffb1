/* SPDX-License-Identifier: Apache-2.0 */
#include "signal/cause.h"

#include "base/syscall.h"
#include "signal/arch.h"

#define TRAP_HARDWARE 4 /* TRAP_HWBKPT */
#define TRAP_FLAG 0x100 /* EFLAGS.TF */
/* A trap behind it, with TRAP_BRKPT (exc_debug_user()); virtual AMD processors trap at it. */
#define OPCODE_INT1 0xf1
#define OPCODE_POPF 0x9d /* with TF set before it, it ends by a step whatever it sets */
#define OPCODE_IRET 0xcf /* the same */

/* Negative where it cannot be read. */
static int byte_at(uintptr_t address)
{
	uint8_t byte;

	return raw_read_memory(&byte, address, 1) == 1 ? byte : -1;
}

/* The last byte of the instruction before. */
static int byte_before(const ucontext_t *context)
{
	return byte_at(signal_arch.pc(context) - 1);
}

bool cause_is_missing(const siginfo_t *info, const ucontext_t *context)
{
	int byte;

	switch (info->si_code) {
	case TRAP_HARDWARE:
		return true;
	case TRAP_BRKPT:
		byte = byte_before(context);
		return byte >= 0 && byte != OPCODE_INT1 &&
		       byte_at(signal_arch.pc(context)) != OPCODE_INT1;
	case TRAP_TRACE:
		if (context->uc_mcontext.gregs[REG_EFL] & TRAP_FLAG)
			return false;
		byte = byte_before(context);
		return byte >= 0 && byte != OPCODE_POPF && byte != OPCODE_IRET;
	default:
		return false;
	}
}
