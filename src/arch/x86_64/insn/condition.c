/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/insn.h"

bool insn_condition_holds(uint64_t flags, unsigned condition)
{
	/* The bits of RFLAGS (Intel SDM volume 1, 3.4.3). */
	const bool carry = flags & 1, parity = flags >> 2 & 1, zero = flags >> 6 & 1,
		   sign = flags >> 7 & 1, overflow = flags >> 11 & 1, less = sign != overflow;
	/* o, no, b, nb, z, nz, be, nbe, s, ns, p, np, l, nl, le, nle */
	const bool base[8] = {overflow, carry,	zero, carry || zero,
			      sign,	parity, less, less || zero};

	return base[condition / 2 & 7] != (condition & 1);
}
