/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/opmask.h"

#include <cpuid.h>
#include <string.h>

/* struct _fpx_sw_bytes in the signal frame's FXSAVE area says how much extended state follows.
 * Linux, arch/x86/include/uapi/asm/sigcontext.h */
#define FRAME_MAGIC 0x46505853u /* FP_XSTATE_MAGIC1 */
#define FRAME_MAGIC_AT 464
#define FRAME_SIZE_AT 480
#define XSTATE_BV_AT 512 /* Intel SDM volume 1, 13.4.2 */
#define COMPONENT_OPMASK 5

uint16_t opmask_probe(void)
{
	unsigned eax, ebx, ecx, edx;

	if (!__get_cpuid_count(0xd, COMPONENT_OPMASK, &eax, &ebx, &ecx, &edx) || !eax)
		return 0;
	return (uint16_t)ebx;
}

bool opmask_note(const ucontext_t *context, unsigned at, uint64_t opmask[static AREA_OPMASKS])
{
	const uint8_t *area = (const uint8_t *)context->uc_mcontext.fpregs;
	size_t length = AREA_OPMASKS * sizeof(*opmask);
	uint32_t magic, size;
	uint64_t present;

	if (!area || !at)
		return false;
	memcpy(&magic, area + FRAME_MAGIC_AT, sizeof(magic));
	memcpy(&size, area + FRAME_SIZE_AT, sizeof(size));
	if (magic != FRAME_MAGIC || size < at + length)
		return false;
	memcpy(&present, area + XSTATE_BV_AT, sizeof(present));
	/* In its initial state a part is zero, whatever the memory holds. */
	if (present >> COMPONENT_OPMASK & 1)
		memcpy(opmask, area + at, length);
	else
		memset(opmask, 0, length);
	return true;
}
