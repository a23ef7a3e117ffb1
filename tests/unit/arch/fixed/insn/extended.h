/* SPDX-License-Identifier: Apache-2.0 */
#ifndef INSN_EXTENDED_H
#define INSN_EXTENDED_H

struct insn_extended {
	int none;
};

#endif
