/* SPDX-License-Identifier: Apache-2.0 */
#include "signal/registers.h"

#include "base/syscall.h"

#include <asm/prctl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

/* Linux, arch/x86/include/uapi/asm/sigcontext.h: struct _fpx_sw_bytes in the frame's FXSAVE area
 * says whether and how much extended state follows. */
#define FRAME_MAGIC 0x46505853u /* FP_XSTATE_MAGIC1 */
#define FRAME_MAGIC_AT 464
#define FRAME_XSTATE_SIZE_AT 480
#define LEGACY_LENGTH 512
#define HWCAP2_FSGSBASE_BIT 2u

static const int8_t context_register[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
					    REG_RSI, REG_RDI, REG_R8,  REG_R9,	REG_R10, REG_R11,
					    REG_R12, REG_R13, REG_R14, REG_R15};

static struct insn_xsave_layout layout;
static bool has_fsgsbase;

void registers_probe(void)
{
	insn_xsave_layout_probe(&layout);
	has_fsgsbase = getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT;
}

static uint64_t segment_base(int code)
{
	uint64_t base = 0;

	if (!has_fsgsbase)
		raw_syscall3(SYS_arch_prctl, code, (long)&base, 0);
	else if (code == ARCH_GET_FS)
		__asm__("rdfsbase %0" : "=r"(base));
	else
		__asm__("rdgsbase %0" : "=r"(base));
	return base;
}

static void view_extended(const ucontext_t *context, struct insn_extended *extended)
{
	const uint8_t *area = (const uint8_t *)context->uc_mcontext.fpregs;
	uint32_t magic = 0, size = 0;

	if (area)
		memcpy(&magic, area + FRAME_MAGIC_AT, sizeof(magic));
	if (magic == FRAME_MAGIC)
		memcpy(&size, area + FRAME_XSTATE_SIZE_AT, sizeof(size));
	extended->area = area;
	extended->length = !area ? 0 : size > LEGACY_LENGTH ? size : LEGACY_LENGTH;
	extended->layout = layout;
}

void registers_from_context(const ucontext_t *context, struct insn_registers *registers,
			    struct insn_extended *extended)
{
	const greg_t *general = context->uc_mcontext.gregs;

	for (int i = 0; i < 16; i++)
		registers->general[i] = (uint64_t)general[context_register[i]];
	registers->pc = (uint64_t)general[REG_RIP];
	registers->flags = (uint64_t)general[REG_EFL];
	registers->fs_base = segment_base(ARCH_GET_FS);
	registers->gs_base = segment_base(ARCH_GET_GS);
	registers->extended = extended;
	registers->opmasks = NULL;
	view_extended(context, extended);
}
