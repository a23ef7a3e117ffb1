/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From where a load has loaded that overwrote its own base register, as mov 4(%rax),%eax does; code
 * that is not optimised is full of these. The straight code in front of the load is carried out
 * anew, as far as what that code reads has not changed.
 */
#ifndef UNINIT_RECOVER_H
#define UNINIT_RECOVER_H

#include <trapline/tool.h>

/* `recovered` receives the access with the address that comes out. False: none does, or it does not
 * touch the word at `word`. */
bool uninit_recover(struct tl_host *host, const struct tl_services *services,
		    const struct tl_access *access, uint64_t word, struct tl_access *recovered);

/* `before` receives what the general registers that the load overwrote held before it, as the mask
 * in rcx of `and (%rdi),%rcx`. Returns of which registers that is known, a bit each. */
uint16_t uninit_recover_before(struct tl_host *host, const struct tl_services *services,
			       const struct tl_access *access, uint64_t before[16]);

#endif
