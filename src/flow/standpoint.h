/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The activations that a slice goes through from one store: from the storing function out to its
 * callers, whose registers the stack tells, and into functions that had been called and have ended,
 * whose registers are gone. Not for other folders.
 */
#ifndef FLOW_STANDPOINT_H
#define FLOW_STANDPOINT_H

#include "flow/origin_tree.h"

/* Registers at the slice's own instruction. After the store, or at the call of a frame. */
bool flow_registers_at(const struct flow_standpoint *from, struct insn_registers *registers,
		       uint16_t *known);
/* Where the activation that the argument belongs to was entered: a pc of its function. */
uint64_t flow_own_function(struct flow_tree *tree, const struct flow_standpoint *from);
/* The activation that has called this one. False: it is not known. */
bool flow_step_out(const struct flow_standpoint *from, struct flow_standpoint *caller);
/* Into a function that this one has called, or has jumped to at its end (`jump`). */
struct flow_standpoint flow_step_in(struct flow_tree *tree, const struct flow_standpoint *from,
				    uint64_t function, uint64_t context, bool jump);

#endif
