/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel tells our death to whoever maps the area. A thread that ends while it owns a robust
 * futex has FUTEX_OWNER_DIED set in it by the kernel, however it ends (get_robust_list(2)). The
 * word is area->life; the list that leads to it lies in our own memory, out of the program's reach.
 * It takes the place of libc's, which serves robust mutexes, of which this thread has none.
 */
#include "program/life.h"

#include "base/syscall.h"

#include <linux/futex.h>
#include <stdatomic.h>

_Static_assert(AREA_CLOSED == FUTEX_OWNER_DIED, "the kernel's mark is ours");

static struct {
	struct robust_list_head head;
	struct robust_list entry;
	struct robust_list_head *before; /* libc's list */
} life;

void life_begin(struct area *area)
{
	size_t size = 0;

	if (!life.before)
		raw_syscall3(SYS_get_robust_list, 0, (long)&life.before, (long)&size);
	life.entry.next = &life.head.list;
	life.head.list.next = &life.entry;
	life.head.futex_offset = (long)((uintptr_t)&area->life - (uintptr_t)&life.entry);
	/* The kernel marks the word only if it holds the id of the thread that ends, so the id is
	 * stored before the list leads to the word. */
	atomic_store(&area->life, (uint32_t)raw_gettid());
	raw_syscall3(SYS_set_robust_list, (long)&life.head, sizeof(life.head), 0);
}

void life_end(void)
{
	if (life.before)
		raw_syscall3(SYS_set_robust_list, (long)life.before, sizeof(life.head), 0);
	life.before = NULL;
}
