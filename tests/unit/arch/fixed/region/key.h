/* SPDX-License-Identifier: Apache-2.0 */
/* No protection keys. */
#ifndef REGION_KEY_H
#define REGION_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

extern int region_key;
bool region_key_possible(void);
int region_key_allocate(void);
bool region_key_change_saved(ucontext_t *context, uint32_t clear, uint32_t set, uint32_t *before);

static inline uint32_t region_key_bits(void)
{
	return 0;
}

static inline uint32_t region_rights_read(void)
{
	return 0;
}

static inline void region_rights_write(uint32_t value)
{
	(void)value;
}

#endif
