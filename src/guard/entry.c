/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/entry.h"

#include "agent/guard.h"
#include "guard/binding.h"
#include "guard/limit.h"
#include "guard/pages.h"

#include <errno.h>
#include <string.h>
#include <trapline/event.h>

void *guard_allocate(struct guard_wish *wish, struct allocation_caller caller)
{
	struct choose_decision decision;
	int saved_errno = errno;
	void *block = NULL;

	if (allocator_is_found() && choose(&caller, &decision)) {
		uint32_t place;

		wish->context = decision.context;
		wish->told = decision.told;
		wish->pages = decision.pages;
		wish->seldom = decision.seldom;
		wish->unkept = decision.unkept;
		wish->behind = decision.behind;
		wish->make_place = release_make_place;
		place = block_make(wish, caller);
		if (place != GUARD_NOWHERE)
			block = (void *)guard_address(atomic_load_explicit(
				&guard_table.entry[place], memory_order_relaxed));
		choose_pay(&caller, &decision, block ? &guard_table.record[place].allocated : NULL);
	}
	errno = saved_errno;
	return block;
}

void guard_free(void *block, struct guard_end end, struct allocation_caller caller)
{
	int saved_errno = errno;

	if (!block || allocator_is_early(block) || !allocator_is_found())
		return;
	if (!release(block, end, caller))
		allocator.free(block);
	errno = saved_errno;
}

/* A program that brings some of these functions itself hands our blocks to functions that do not
 * know them. */
static bool ask_whose(void)
{
	static const char *const names[] = {"malloc", "calloc", "realloc", "free"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!binding_is_ours(names[i]))
			return false;
	return true;
}

/* Asked for once: a forked child may not ask the dynamic linker, whose lock another thread may have
 * held. */
static bool is_all_ours(void)
{
	static _Atomic int known; /* 0: not yet */

	if (!atomic_load(&known))
		atomic_store(&known, ask_whose() ? 1 : -1);
	return atomic_load(&known) > 0;
}

static void begin(struct area_process *process, bool waits)
{
	memset(&process->guard, 0, sizeof(process->guard));
	/* A forked child's blocks are where its parent's were. */
	process->guard.table = (uintptr_t)&guard_table;
	if (allocator_is_found())
		own_begin(agent_state.area->guard.all);
	choose_begin(is_all_ours());
	limit_begin();
	pages_begin(process, waits);
}

static void end(void)
{
	choose_end();
	release_check_all();
}

/* Before the constructor that announces this process. */
__attribute__((constructor(101))) static void offer(void)
{
	static const struct agent_guard offered = {begin, pages_begun, end, limit_before,
						   limit_before_lock};

	if (allocator_is_found())
		own_begin(false);
	agent_state.guard = &offered;
}
