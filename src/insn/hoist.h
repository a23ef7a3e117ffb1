/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load that stands in front of the condition under which the program makes it: compilers load
 * early what cannot fault, out of a loop above all, and leave it unused where the condition does
 * not hold. Told by the way that the thread goes on, which uses nothing of the value, and a way
 * that it leaves aside at a branch there, which does.
 */
#ifndef INSN_HOIST_H
#define INSN_HOIST_H

#include "insn/insn.h"

struct insn_hoist {
	/* Code at `pc`: how many bytes, at most `most`. */
	size_t (*code)(void *context, uint64_t pc, uint8_t *bytes, size_t most);
	/* Memory as it is: 0, or -errno. */
	int (*read)(void *context, uint64_t address, void *to, size_t length);
	void *context;
};

/* Is that so of the plain load at `pc`, as far as a few hundred instructions tell? The registers
 * are those right behind it, or `before` it. */
bool insn_is_hoisted(const struct insn_hoist *hoist, uint64_t pc,
		     const struct insn_registers *registers, bool before);

#endif
