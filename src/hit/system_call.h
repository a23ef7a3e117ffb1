/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of a thread's memory a system call copied, from the registers right after it. */
#ifndef HIT_SYSTEM_CALL_H
#define HIT_SYSTEM_CALL_H

#include "insn/insn.h"
#include "insn/update.h"

#include <stdbool.h>

/*
 * True when the thread has just returned from a call that is known to be a plain copy: `access`
 * receives TL_READ or TL_WRITE and `bytes` the part of the call's buffer that lies in `watched`;
 * all of that where the buffer's extent cannot be told.
 */
bool system_call_copied(const struct insn_registers *after, const struct insn_memory *memory,
			const struct insn_bytes *watched, unsigned *access,
			struct insn_bytes *bytes);
/* The part of its buffer that lies in `within`; false where none does, or that cannot be told. */
bool system_call_copied_within(const struct insn_registers *after, const struct insn_memory *memory,
			       const struct insn_bytes *within, struct insn_bytes *bytes);

#endif
