/* SPDX-License-Identifier: Apache-2.0 */
/* Guarded blocks in the words of the tool interface. */
#include "tool/guarded.h"

#include "notice/guards.h"
#include "tool/host.h"

_Static_assert(TL_GUARD_PAGE_OPENS == GUARD_PAGE_OPENS && TL_GUARD_PAGE_RUNS == GUARD_PAGE_RUNS,
	       "what tools are told of pages is what programs say");
_Static_assert(TL_GUARD_FILLED == GUARD_FILLED, "and what they answer");

/* Where the block's front begins. An empty page before the block belongs to no other block. The
 * record was written by the program, and may say anything. */
static uint64_t front_of(const struct guards_block *block)
{
	const struct guard_record *record = &block->record;
	bool is_behind_page = record->run && record->raw == block->address &&
			      block->address - record->run == GUARD_PAGE;

	return is_behind_page ? record->run : record->raw;
}

static void moment_of(const struct allocation_event *event, struct tl_moment *moment)
{
	*moment = (struct tl_moment){.time = event->time,
				     .tid = event->tid,
				     .thread = event->thread[0] ? event->thread : NULL,
				     .pcs = event->frame,
				     .count = event->frames};
}

/* `from` owns what the block points to. */
static void block_of(const struct guards_block *from, pid_t pid, struct tl_guarded *block)
{
	const struct guard_record *record = &from->record;

	*block = (struct tl_guarded){.size = sizeof(*block),
				     .pid = pid,
				     .serial = record->serial,
				     .address = from->address,
				     .length = record->size,
				     .front = front_of(from),
				     .back = record->raw + record->room,
				     .context = record->context,
				     .family = (enum tl_guarded_family)record->family,
				     .zeroed = record->zeroed,
				     .copied = record->copied,
				     .told = record->told,
				     .freed = from->state >= GUARD_DYING,
				     .on_pages = record->run != 0,
				     .checked = record->checked,
				     .kept = record->kept,
				     .kept_length = record->size < GUARD_KEPT ? record->size
									      : GUARD_KEPT};
	moment_of(&record->allocated, &block->made);
	if (block->freed)
		moment_of(&record->freed, &block->ended);
}

void guarded_tell(struct tool_set *set, const struct guards_notice *notice)
{
	struct tl_guarded block = {.size = sizeof(block), .pid = notice->from->pid};
	struct tl_guarded_news news = {.size = sizeof(news),
				       .event = (enum tl_guarded_event)notice->event,
				       .block = &block,
				       .from = notice->from,
				       .address = notice->address + (uint64_t)notice->offset,
				       .length = notice->length,
				       .freer = (enum tl_guarded_family)notice->offset};

	if (notice->known)
		block_of(&notice->block, notice->from->pid, &block);
	if (notice->event < GUARD_BROKEN_FRONT)
		news.address = notice->address;
	for (unsigned i = 0; i < set->count; i++)
		if (TOOL_HAS(set->host[i].tool, guarded))
			set->host[i].tool->guarded(set->host[i].state, &news);
}

void host_guard(struct tl_host *host, const struct tl_guarding *guarding)
{
	guards_choose(host->set->program, guarding);
}

bool host_guarded(struct tl_host *host, pid_t pid, uint64_t address, struct tl_guarded *block)
{
	/* Static, since the tool is handed pointers into it; one thread calls this. */
	static struct guards_block found;

	if (!guards_at(host->set->program, pid, address, &found) &&
	    !guards_around(host->set->program, pid, address, &found) &&
	    !guards_on_page(host->set->program, pid, address, &found))
		return false;
	block_of(&found, pid, block);
	return true;
}

int host_guard_faults(struct tl_host *host, pid_t pid, struct tl_guard_faults *faults)
{
	struct guards_pages pages;
	int err = guards_pages(host->set->program, pid, &pages);

	if (err < 0)
		return err;
	faults->descriptor = pages.descriptor;
	faults->start = pages.start;
	faults->length = (uint64_t)GUARD_PAGES * GUARD_PAGE;
	faults->owner = pages.owner;
	faults->asked = pages.asked;
	faults->asks = GUARD_ASKS;
	faults->touched = pages.touched;
	faults->bell = pages.bell;
	return 0;
}

int host_guard_always(struct tl_host *host, pid_t pid, uint64_t caller, uint64_t above)
{
	return guards_always(host->set->program, pid, caller, above);
}
