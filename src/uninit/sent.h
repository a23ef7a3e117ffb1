/* SPDX-License-Identifier: Apache-2.0 */
/* What the C library's functions that send or write bytes are handed, before they do. */
#ifndef UNINIT_SENT_H
#define UNINIT_SENT_H

#include "insn/forward.h"

struct sent_part {
	uint64_t address, length;
};

/* Writes to `parts` what the call that is about to begin will send, and returns how many parts that
 * are, `most` at most. What is not known is left out. */
unsigned uninit_sent(const char *function, const struct insn_forward *forward,
		     struct sent_part *parts, unsigned most);

#endif
