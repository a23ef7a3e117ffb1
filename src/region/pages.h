/* SPDX-License-Identifier: Apache-2.0 */
/* The regions' key on whole pages, with the access rights they have. Under the regions' lock. */
#ifndef REGION_PAGES_H
#define REGION_PAGES_H

#include <stdint.h>

#define REGION_PAGE 4096ul

static inline uintptr_t region_page_down(uintptr_t address)
{
	return address & ~(REGION_PAGE - 1);
}

static inline uintptr_t region_page_up(uintptr_t address)
{
	return (address + REGION_PAGE - 1) & ~(REGION_PAGE - 1);
}

/* Put `key` on every mapped page of [start, end), both page-aligned. 0; -ENOMEM if some page was
 * not mapped (the others have the key); or why the kernel refused. Async-signal-safe. */
int region_pages_set_key(uintptr_t start, uintptr_t end, int key);

#endif
