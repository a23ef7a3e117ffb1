/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watched memory of any size, in the preload library on processors with protection keys. The area
 * says which regions the controller wants, in slots beyond those of the hardware; this process
 * opens each of them (src/region/region.h) and notes their hits as it notes those of the hardware's
 * slots.
 */
#include "agent/region.h"
#include "agent/state.h"
#include "event/explain.h"
#include "handler/handler.h"
#include "region/lost.h"
#include "region/region.h"
#include "region/thread.h"
#include "trap/creation.h"

#include <stdatomic.h>
#include <trapline/event.h>
#include <trapline/hit.h>

static struct {
	tl_event *event; /* NULL: not open */
	uint32_t generation;
} regions[AREA_REGIONS];

/* Stands in for trap/creation.c: a region covers every thread by its protection key, so threads
 * that are being created need not be waited for. */
void creation_settle(void)
{
}

/* Stands in for event/explain.c: the error number goes to the controller, which explains it. */
int explain_failure(int err, const char *sentence)
{
	(void)sentence;
	return err;
}

void explain_clear(void)
{
}

void region_note_lost(size_t count, bool frozen)
{
	struct area_process *process = agent_state.process;

	if (process)
		atomic_fetch_add(frozen ? &process->regions_frozen : &process->regions_ended,
				 (uint32_t)count);
}

static void on_hit(tl_hit *hit, void *argument)
{
	uint32_t index = (uint32_t)(uintptr_t)argument;
	struct agent_access access = {.pc = tl_hit_pc(hit),
				      .address = (uintptr_t)tl_hit_addr(hit),
				      .length = (uint32_t)tl_hit_size(hit),
				      .access = tl_hit_access(hit)};
	struct area_process *process = agent_state.process;

	if (!process) {
		atomic_fetch_add(&agent_state.area->hits_gone, 1);
		return;
	}
	atomic_fetch_add(&agent_state.handlers, 1);
	agent_note_access(process, AREA_SLOTS + index, regions[index].generation, &access,
			  tl_hit_context(hit));
	atomic_fetch_sub(&agent_state.handlers, 1);
}

static void open_one(uint32_t index, struct area_slot *slot)
{
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (const void *)(uintptr_t)slot->address,
			       .len = slot->length,
			       .access = slot->region_access & (TL_READ | TL_WRITE),
			       .scope = TL_PROCESS,
			       .flags = TL_REGION};
	int err;

	regions[index].generation = atomic_load(&slot->generation);
	err = tl_event_open(&regions[index].event, &spec, on_hit, (void *)(uintptr_t)index);
	if (err)
		regions[index].event = NULL;
	atomic_store(&slot->region_error, err);
}

static void follow_one(struct area_process *process, uint32_t index)
{
	struct area_slot *slot = &process->slot[AREA_SLOTS + index];
	uint32_t generation = atomic_load(&slot->generation);

	if (regions[index].generation == generation)
		return;
	if (regions[index].event)
		tl_event_close(regions[index].event);
	regions[index].event = NULL;
	regions[index].generation = generation;
	if (generation & 1)
		open_one(index, slot);
}

static void follow(void)
{
	struct area_process *process = agent_state.process;

	for (uint32_t i = 0; process && i < AREA_REGIONS; i++)
		follow_one(process, i);
}

static void close_all(void)
{
	for (uint32_t i = 0; i < AREA_REGIONS; i++) {
		if (regions[i].event)
			tl_event_close(regions[i].event);
		regions[i].event = NULL;
		/* A forked child's slots count from their own beginning. */
		regions[i].generation = 0;
	}
}

static bool begin(siginfo_t *info, ucontext_t *context)
{
	return region_on_trap(info, context);
}

static void leave(ucontext_t *context)
{
	region_thread_clean(context);
}

/* Runs before the constructor that announces this process to the controller. */
__attribute__((constructor(101))) static void offer(void)
{
	static const struct agent_regions offered = {follow, close_all, region_end, begin, leave};

	agent_state.regions = &offered;
}
