/* SPDX-License-Identifier: Apache-2.0 */
/* The stack noted with a hit: bytes from *address on, registers beside. tl_access.stack points to
 * one; tools do not look into it. */
#ifndef HIT_STACK_H
#define HIT_STACK_H

#include "record/area.h"

struct tl_stack {
	struct area_registers registers;
	uint64_t address;
	size_t length;
	const uint8_t *bytes;
};

#endif
