/* SPDX-License-Identifier: Apache-2.0 */
/* The call of a C library's function that a walk over instructions comes to. Arguments and memory
 * are those of the walk's state (insn/forward.h). */
#ifndef UNINIT_CALL_H
#define UNINIT_CALL_H

#include "insn/forward.h"
#include "libc/c_result.h"

/* The caller sets call.function. */
struct uninit_call {
	struct c_call call;
	struct symbol_memory memory;
};

/* `call` refers to itself and to `forward`, which stands at the function's first instruction. */
void uninit_call_begin(struct uninit_call *call, const struct insn_forward *forward);

#endif
