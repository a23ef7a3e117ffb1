/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one protection key that all regions share, and the rights to it: in the register PKRU of the
 * running thread, and in the copy that a signal frame holds for the interrupted one.
 * Intel SDM volume 3, 4.6.2; pkeys(7). Two bits a key: access disabled, write disabled.
 */
#ifndef REGION_KEY_H
#define REGION_KEY_H

#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#define REGION_KEYS 16 /* that the processor has */

/* Set once by region_key_allocate(), never freed: a thread may hold rights that it took while the
 * key was another's. -1: none. */
extern int region_key;

/* The processor and the kernel know protection keys. */
bool region_key_possible(void);

/* 0 once this process has the key; -ENOTSUP: no protection keys here; -ENOSPC: all 15 are taken. */
int region_key_allocate(void);

static inline uint32_t region_key_bits(void)
{
	return 3u << (2 * region_key);
}

/* Rights as PKRU holds them let a thread read, or write, memory that carries `key`. */
static inline bool region_rights_allow(uint32_t rights, int key, bool write)
{
	uint32_t denied = rights >> (2 * key) & 3; /* 1: all access, 2: writing */

	return !(denied & 1) && !(write && denied & 2);
}

static inline uint32_t region_rights_read(void)
{
	uint32_t value, high;

	__asm__ volatile(".byte 0x0f, 0x01, 0xee" /* rdpkru */
			 : "=a"(value), "=d"(high)
			 : "c"(0));
	return value;
}

static inline void region_rights_write(uint32_t value)
{
	__asm__ volatile(".byte 0x0f, 0x01, 0xef" /* wrpkru */
			 :
			 : "a"(value), "c"(0), "d"(0)
			 : "memory");
}

/* The interrupted thread's rights. False: the frame does not hold them. */
bool region_key_read_saved(const ucontext_t *context, uint32_t *rights);

/* Change the interrupted thread's rights. False: the frame does not hold them. */
bool region_key_change_saved(ucontext_t *context, uint32_t clear, uint32_t set, uint32_t *before);

#endif
