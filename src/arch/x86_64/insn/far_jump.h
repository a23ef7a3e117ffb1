/* SPDX-License-Identifier: Apache-2.0 */
/* A jump to any address, which changes no register and no flags. */
#ifndef INSN_FAR_JUMP_H
#define INSN_FAR_JUMP_H

#include <stdint.h>
#include <string.h>

#define FAR_JUMP_LENGTH 14 /* bytes */

/* Writes `jmp *0(%rip)` and the address behind it. */
static inline void far_jump_put(uint8_t to[FAR_JUMP_LENGTH], uint64_t target)
{
	static const uint8_t jump[] = {0xff, 0x25, 0, 0, 0, 0};

	memcpy(to, jump, sizeof(jump));
	memcpy(to + sizeof(jump), &target, sizeof(target));
}

#endif
