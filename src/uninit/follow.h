/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a value that a held thread has loaded: its next instructions are walked through
 * (insn/shadow.h), on the program's code and memory as they are now. */
#ifndef UNINIT_FOLLOW_H
#define UNINIT_FOLLOW_H

#include "insn/shadow.h"

#include <trapline/tool.h>

struct follow;

struct follow *uninit_follow_create(struct tl_host *host, const struct tl_services *services);
void uninit_follow_destroy(struct follow *follow);

#define FOLLOW_FAR 3000u /* instructions, at most … */
#define FOLLOW_NEAR 64u	 /* … or as many as one comparison takes */

/* Follows the bits `fresh` of the 8 bytes from `address` on, for `steps` instructions at most.
 * False: the load's instruction or its registers are not known. */
bool uninit_follow_load(struct follow *follow, const struct tl_access *access, uint64_t address,
			uint64_t fresh, unsigned steps, struct shadow_found *found);

#endif
