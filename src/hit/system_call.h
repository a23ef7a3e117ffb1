/* SPDX-License-Identifier: Apache-2.0 */
/* Which bytes of a thread's memory a system call copied, from the registers right after it. */
#ifndef HIT_SYSTEM_CALL_H
#define HIT_SYSTEM_CALL_H

#include "insn/insn.h"
#include "insn/update.h"

#include <stdbool.h>

/* The number of the call that a thread has just returned from, as the code in front says it.
 * -ENOENT: it has returned from none; -ENODATA: the code does not say. */
int system_call_number(const struct insn_registers *after, const struct insn_memory *memory);

struct system_call_copy {
	unsigned access; /* TL_READ or TL_WRITE; both: see system_call_copied_within() */
	struct insn_bytes bytes;
	/* The bytes are data that the call received or passed on, as many as its result says; not a
	 * description of data (struct iovec, struct msghdr, the peer's address, ancillary data),
	 * nor anything else that the call read. */
	bool content;
};

/*
 * Has the thread, which has just returned from call `number`, read or written bytes of `watched` by
 * it, plainly and in a way that is `wanted` (TL_READ, TL_WRITE, or both)? Then `copy` receives the
 * part of `watched` that was accessed, be it of the call's buffer or of what describes that (a
 * struct iovec). It is all of `watched` where the description cannot be read any more. False also
 * where the number is negative, and where the call has read there by one argument and written by
 * another.
 */
bool system_call_copied_by(int number, const struct insn_registers *after,
			   const struct insn_memory *memory, const struct insn_bytes *watched,
			   unsigned wanted, struct system_call_copy *copy);
/* The same for `within`, except that an argument counts as well which the call reads and then
 * writes, as poll(2) does: `copy` receives the part of the call's buffers that lies in it. False
 * where none does, or where that cannot be told. */
bool system_call_copied_within(int number, const struct insn_registers *after,
			       const struct insn_memory *memory, const struct insn_bytes *within,
			       struct system_call_copy *copy);
/* The descriptor that a call which has just returned has sent a part of its buffer to; -1: none. */
int system_call_sent_by(int number, const struct insn_registers *after,
			const struct insn_memory *memory);

#endif
