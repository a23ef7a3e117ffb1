/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/registers.h"

#include "base/syscall.h"

#include <asm/prctl.h>
#include <cpuid.h>
#include <string.h>

/* Intel SDM volume 1, 13.4: the extended area of a signal frame is in XSAVE's standard format. */
#define FRAME_MAGIC 0x46505853u /* FP_XSTATE_MAGIC1 */
#define FRAME_MAGIC_AT 464
#define XSTATE_BV_AT 512
#define FEATURE_AVX 2
#define FEATURE_MASKS 5
#define FEATURE_ZMM_HIGH 6
#define FEATURE_ZMM_16_31 7

static const int8_t context_register[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
					    REG_RSI, REG_RDI, REG_R8,  REG_R9,	REG_R10, REG_R11,
					    REG_R12, REG_R13, REG_R14, REG_R15};

static uint64_t segment_base(int code)
{
	uint64_t base = 0;

	raw_syscall3(SYS_arch_prctl, code, (long)&base, 0);
	return base;
}

/* Where a feature's state lies in the standard format: CPUID leaf 0xD. 0: not there. */
static uint32_t feature_offset(unsigned feature)
{
	static _Atomic uint32_t offsets[16];
	uint32_t eax, ebx, ecx, edx;

	if (!offsets[feature] && __get_cpuid_count(0xd, feature, &eax, &ebx, &ecx, &edx))
		offsets[feature] = ebx;
	return offsets[feature];
}

/* A feature in its initial state is not written: its registers are zero. */
static const uint8_t *feature_state(const uint8_t *area, unsigned feature)
{
	uint64_t present;
	uint32_t offset = feature_offset(feature);

	memcpy(&present, area + XSTATE_BV_AT, sizeof(present));
	return offset && present & 1ull << feature ? area + offset : NULL;
}

static void copy_vectors(const uint8_t *area, struct insn_extended *extended)
{
	const uint8_t *high = feature_state(area, FEATURE_AVX);
	const uint8_t *zmm = feature_state(area, FEATURE_ZMM_HIGH);
	const uint8_t *upper = feature_state(area, FEATURE_ZMM_16_31);

	for (unsigned i = 0; i < 16; i++) {
		memcpy(extended->vector[i], area + 160 + 16 * i, 16);
		if (high)
			memcpy(extended->vector[i] + 16, high + 16 * i, 16);
		if (zmm)
			memcpy(extended->vector[i] + 32, zmm + 32 * i, 32);
		if (upper)
			memcpy(extended->vector[16 + i], upper + 64 * i, 64);
	}
	extended->known_vectors = ~0u;
}

static void copy_extended(const ucontext_t *context, struct insn_extended *extended)
{
	const uint8_t *area = (const uint8_t *)context->uc_mcontext.fpregs;
	const uint8_t *masks;
	uint32_t magic;

	memset(extended, 0, sizeof(*extended));
	if (!area)
		return;
	memcpy(&magic, area + FRAME_MAGIC_AT, sizeof(magic));
	if (magic != FRAME_MAGIC)
		return;
	masks = feature_state(area, FEATURE_MASKS);
	if (masks)
		memcpy(extended->mask, masks, sizeof(extended->mask));
	extended->known_masks = 0xff;
	copy_vectors(area, extended);
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
	if (extended)
		copy_extended(context, extended);
}
