/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a load over its own base was, mov 4(%rax),%eax: the straight code in front of it is carried
 * out anew, as far as what that reads is still there. Code that is not optimised is full of these.
 */
#ifndef UNINIT_RECOVER_H
#define UNINIT_RECOVER_H

#include <trapline/tool.h>

/* The access with the address that comes out, if it touches the word at `word`. */
bool uninit_recover(struct tl_host *host, const struct tl_services *services,
		    const struct tl_access *access, uint64_t word, struct tl_access *recovered);

/* What the general registers that the load overwrote held before it, and (as a result) of which
 * that is known: and (%rdi),%rcx with a mask in rcx. */
uint16_t uninit_recover_before(struct tl_host *host, const struct tl_services *services,
			       const struct tl_access *access, uint64_t before[16]);

#endif
