/* SPDX-License-Identifier: Apache-2.0 */
/* Mask and vector registers, as signal frames and ptrace(2) hold them. */
#ifndef INSN_EXTENDED_H
#define INSN_EXTENDED_H

#include <stdint.h>

/* Byte offsets of the parts of a standard-format XSAVE area; they differ between CPU makers. 0: the
 * CPU has no such part. Source: CPUID leaf 0xd, Intel SDM volume 1, 13.4. */
struct insn_xsave_layout {
	uint16_t avx;		 /* bytes 16..31 of vector registers 0..15 */
	uint16_t opmask;	 /* k0..k7 */
	uint16_t zmm_high;	 /* bytes 32..63 of vector registers 0..15 */
	uint16_t zmm_sixteen_on; /* vector registers 16..31 */
};

/* A view of a standard-format XSAVE area, such as uc_mcontext.fpregs or NT_X86_XSTATE. */
struct insn_extended {
	const uint8_t *area; /* stays the caller's */
	uint32_t length;     /* bytes; 512 if only the FXSAVE part is there */
	struct insn_xsave_layout layout;
};

/* Ask this CPU. Microseconds in a virtual machine: call once and keep it. Async-signal-safe. */
void insn_xsave_layout_probe(struct insn_xsave_layout *layout);

/* Bytes of vector register `number` (0..31) from `first` on, or mask register k`number`. 0, or
 * -ENODATA where the area does not hold them. `extended` may be NULL. */
int insn_extended_vector(const struct insn_extended *extended, unsigned number, unsigned first,
			 unsigned length, uint8_t *to);
int insn_extended_mask(const struct insn_extended *extended, unsigned number, uint64_t *mask);

#endif
