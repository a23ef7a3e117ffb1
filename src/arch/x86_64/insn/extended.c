/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector and mask registers out of a standard-format XSAVE area. Parts that XSTATE_BV marks as in
 * their initial state are zero, whatever the memory holds. Source: Intel SDM volume 1, 13.4
 * to 13.6.
 */
#include "insn/extended.h"

#include <cpuid.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum {
	LEGACY_VECTORS = 160, /* xmm0 in the FXSAVE part */
	LEGACY_LENGTH = 512,
	XSTATE_BV = 512,
	COMPONENT_SSE = 1,
	COMPONENT_AVX = 2,
	COMPONENT_OPMASK = 5,
	COMPONENT_ZMM_HIGH = 6,
	COMPONENT_ZMM_SIXTEEN_ON = 7,
};

static uint16_t component_offset(unsigned component)
{
	unsigned eax, ebx, ecx, edx;

	if (!__get_cpuid_count(0xd, component, &eax, &ebx, &ecx, &edx) || !eax)
		return 0;
	return (uint16_t)ebx;
}

void insn_xsave_layout_probe(struct insn_xsave_layout *layout)
{
	layout->avx = component_offset(COMPONENT_AVX);
	layout->opmask = component_offset(COMPONENT_OPMASK);
	layout->zmm_high = component_offset(COMPONENT_ZMM_HIGH);
	layout->zmm_sixteen_on = component_offset(COMPONENT_ZMM_SIXTEEN_ON);
}

static bool in_initial_state(const struct insn_extended *extended, unsigned component)
{
	uint64_t present;

	if (extended->length < XSTATE_BV + sizeof(present))
		return component != COMPONENT_SSE;
	memcpy(&present, extended->area + XSTATE_BV, sizeof(present));
	return !(present >> component & 1);
}

static int component_read(const struct insn_extended *extended, unsigned component, unsigned offset,
			  unsigned length, uint8_t *to)
{
	if (in_initial_state(extended, component)) {
		memset(to, 0, length);
		return extended->length >= XSTATE_BV + sizeof(uint64_t) ? 0 : -ENODATA;
	}
	if (!offset || offset + length > extended->length)
		return -ENODATA;
	memcpy(to, extended->area + offset, length);
	return 0;
}

/* The part of a vector register that byte `byte` lies in: its component, where that byte is saved,
 * and how many follow it there. */
static unsigned vector_part(const struct insn_extended *extended, unsigned number, unsigned byte,
			    unsigned *offset, unsigned *left)
{
	if (number >= 16) {
		*offset = extended->layout.zmm_sixteen_on;
		*offset += *offset ? (number - 16) * 64 + byte : 0;
		*left = 64 - byte;
		return COMPONENT_ZMM_SIXTEEN_ON;
	}
	if (byte < 16) {
		*offset = LEGACY_VECTORS + number * 16 + byte;
		*left = 16 - byte;
		return COMPONENT_SSE;
	}
	if (byte < 32) {
		*offset = extended->layout.avx;
		*offset += *offset ? number * 16 + byte - 16 : 0;
		*left = 32 - byte;
		return COMPONENT_AVX;
	}
	*offset = extended->layout.zmm_high;
	*offset += *offset ? number * 32 + byte - 32 : 0;
	*left = 64 - byte;
	return COMPONENT_ZMM_HIGH;
}

int insn_extended_vector(const struct insn_extended *extended, unsigned number, unsigned first,
			 unsigned length, uint8_t *to)
{
	unsigned component, offset, left;
	int err;

	if (!extended || extended->length < LEGACY_LENGTH || number >= 32 || first + length > 64)
		return -ENODATA;
	for (unsigned done = 0; done < length; done += left) {
		component = vector_part(extended, number, first + done, &offset, &left);
		if (left > length - done)
			left = length - done;
		err = component_read(extended, component, offset, left, to + done);
		if (err)
			return err;
	}
	return 0;
}

int insn_extended_mask(const struct insn_extended *extended, unsigned number, uint64_t *mask)
{
	unsigned offset;

	if (!extended || extended->length < LEGACY_LENGTH || number >= 8)
		return -ENODATA;
	offset = extended->layout.opmask;
	return component_read(extended, COMPONENT_OPMASK, offset ? offset + number * 8 : 0,
			      sizeof(*mask), (uint8_t *)mask);
}
