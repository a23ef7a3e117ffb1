/* SPDX-License-Identifier: Apache-2.0 */
#include "execution/scratch.h"

#include "agent/arch.h"
#include "base/memory.h"
#include "signal/borrower.h"

#include <stdatomic.h>
#include <stdint.h>

#define BORROWERS 256 /* threads that have made such children; a further one's gets nothing */

/* Of one thread's children, of which one at a time borrows its memory: vfork() holds the thread.
 * Accepted: children of clone(CLONE_VM) without CLONE_VFORK that share their thread's storage too
 * and execute at the same time write the same memory. */
static struct {
	_Atomic uintptr_t thread; /* its pointer, which a later thread may have again; 0: free */
	void *memory;
	size_t size;
} kept[BORROWERS];

static int find_kept(void)
{
	const uintptr_t own = agent_arch.thread_pointer();

	for (int i = 0; i < BORROWERS; i++) {
		uintptr_t thread = atomic_load(&kept[i].thread);

		if (thread == own ||
		    (!thread && atomic_compare_exchange_strong(&kept[i].thread, &thread, own)))
			return i;
	}
	return -1;
}

static void *take_kept(size_t size)
{
	int i = find_kept();

	if (i < 0)
		return NULL;
	if (kept[i].memory && kept[i].size >= size)
		return kept[i].memory;
	page_free(kept[i].memory, kept[i].size);
	kept[i].memory = page_allocate(size);
	kept[i].size = size;
	return kept[i].memory;
}

void *scratch_take(size_t size)
{
	return borrower_is() ? take_kept(size) : page_allocate(size);
}

/* A borrower's stays kept: what gives it back is the next child's use of it. One whose execution
 * failed gives it back now, since there may be no next. */
void scratch_give(void *memory, size_t size)
{
	int i;

	if (!borrower_is()) {
		page_free(memory, size);
		return;
	}
	i = find_kept();
	if (i < 0 || kept[i].memory != memory)
		return;
	page_free(memory, kept[i].size);
	kept[i].memory = NULL;
}
