/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is larger than the hardware's slots becomes a region, which the program itself watches by a
 * protection key. A hit may touch any of its bytes, so this file keeps a copy of them, as the hits
 * so far left them.
 */
#include "watch/region.h"

#include "control/control.h"
#include "lasting/lasting.h"
#include "lasting/regions.h"
#include "watch/piece.h"
#include "watch/state.h"
#include "watch/watched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SHADOW_MAX (64u << 20)

static int free_index(const struct watched *process)
{
	for (unsigned i = AREA_SLOTS; i < AREA_WATCHES; i++)
		if (!process->piece[i].armed)
			return (int)i;
	return -ENOSPC;
}

bool region_possible(const struct watch *watch, const struct watched *process)
{
	return watch->options.regions && process->may_open && free_index(process) >= 0;
}

static void note_shadow(struct watch *watch, struct watched *process, struct piece *piece)
{
	struct space *space = control_space(watch->control, process->pid);

	piece->shadow = piece->length <= SHADOW_MAX ? malloc(piece->length) : NULL;
	if (piece->shadow && (!space || space_read(space, piece->address, piece->shadow,
						   piece->length) != (ssize_t)piece->length))
		piece_forget(piece);
}

#define PAGE 4096ull

static bool share_a_page(const struct piece *a, const struct piece *b)
{
	return a->address / PAGE <= (b->address + b->length - 1) / PAGE &&
	       b->address / PAGE <= (a->address + a->length - 1) / PAGE;
}

bool region_beside(const struct watched *process, uint64_t address, uint64_t length)
{
	struct piece wish = {.address = address, .length = (unsigned)length};

	for (unsigned i = AREA_SLOTS; i < AREA_WATCHES; i++)
		if (process->piece[i].armed && share_a_page(&process->piece[i], &wish))
			return true;
	return false;
}

/*
 * The instruction that accesses a region is stepped. If it trips a watchpoint too, there are two
 * traps at once, and the kernel tells only one of them. So whatever a slot watches on a page of a
 * region becomes a region itself.
 */
static void move_neighbours(struct watch *watch, struct watched *process, const struct piece *piece)
{
	for (unsigned i = 0; i < AREA_SLOTS; i++) {
		struct piece wish = process->piece[i];

		if (!wish.armed || wish.scout || wish.each_thread ||
		    slot_access(watch->wanted[wish.wanted].access) == TL_EXEC ||
		    !share_a_page(piece, &wish) || free_index(process) < 0)
			continue;
		watch_disarm_piece(watch, process, i);
		region_arm(watch, process, &wish);
	}
}

int region_arm(struct watch *watch, struct watched *process, const struct piece *wish)
{
	int index = free_index(process);
	struct piece *piece = index < 0 ? NULL : &process->piece[index];
	struct tl_watch request = {.size = sizeof(request),
				   .pid = process->pid,
				   .address = wish->address,
				   .length = wish->length,
				   .access = slot_access(watch->wanted[wish->wanted].access),
				   .hold = watch_hold(watch)};
	int err;

	if (!piece)
		return -ENOSPC;
	*piece = *wish;
	piece->region = true;
	if (watch->wanted[wish->wanted].access == SYMBOL_ACCESS_READ)
		/* the program tells reads from writes by the instruction, so nothing is left to
		 * filter */
		request.access = TL_READ;
	err = lasting_arm_region(watch->program, process->pid, (unsigned)index, &request);
	piece->armed = !err;
	if (err)
		return err;
	note_shadow(watch, process, piece);
	move_neighbours(watch, process, piece);
	return 0;
}

/* A hit in a region says which bytes were touched: returns a piece for these, without those of the
 * same access that lie beside the region. */
struct piece *region_piece(struct watch *watch, struct watched *process, const struct trace *trace)
{
	struct piece *piece = &process->piece[trace->slot], *part = &watch->part;
	uint64_t first = trace->access->address, end = first + trace->access->length;

	if (first < piece->address)
		first = piece->address;
	if (end > piece->address + piece->length)
		end = piece->address + piece->length;
	if (!piece->armed || first >= end)
		return NULL;
	*part = *piece;
	part->address = first;
	part->length = end - first > 8 ? 8 : (unsigned)(end - first);
	part->value = 0;
	part->value_known = piece->shadow;
	if (piece->shadow)
		memcpy(&part->value, piece->shadow + (first - piece->address), part->length);
	return part;
}

/* Keeps the bytes that the access left. The thread may have gone on already; then later bytes are
 * read. */
void region_keep(struct watch *watch, struct watched *process, const struct trace *trace)
{
	struct piece *piece = &process->piece[trace->slot];
	struct space *space = control_space(watch->control, process->pid);
	uint64_t first = trace->access->address, length = trace->access->length;

	if (!piece->shadow || !(trace->access->access & TL_WRITE) || first < piece->address ||
	    length > piece->length || first - piece->address > piece->length - length)
		return;
	if (trace->value_known && length <= 8)
		memcpy(piece->shadow + (first - piece->address), &trace->value, length);
	else if (space)
		space_read(space, first, piece->shadow + (first - piece->address), length);
}

/* Says, once of each process, what its regions have lost because it restricted its own system
 * calls, which it can never undo. */
static void report_lost(struct watch *watch, struct watched *process)
{
	struct lasting_regions_lost lost = lasting_regions_lost(watch->program, process->pid);

	if (process->told_lost || !(lost.ended + lost.frozen))
		return;
	process->told_lost = true;
	if (lost.ended)
		fprintf(watch->options.lines,
			"trapline: process %d has restricted its own system calls: its regions (%u) "
			"are watched no longer from then on\n",
			(int)process->pid, lost.ended);
	else
		fprintf(watch->options.lines,
			"trapline: process %d has restricted its own system calls: its regions (%u) "
			"stay watched, and none can be opened or moved from then on\n",
			(int)process->pid, lost.frozen);
}

static void report_error(struct watch *watch, struct watched *process, unsigned index)
{
	struct piece *piece = &process->piece[index];
	int err = piece->armed ? lasting_region_error(watch->program, process->pid, index) : 0;

	if (!err)
		return;
	fprintf(watch->options.lines,
		"trapline: %s cannot be watched as a region in process %d: %s\n",
		watch->wanted[piece->wanted].text, (int)process->pid, strerror(-err));
	watch_disarm_piece(watch, process, index);
}

void region_report(struct watch *watch, struct watched *process)
{
	for (unsigned i = AREA_SLOTS; i < AREA_WATCHES; i++)
		report_error(watch, process, i);
	report_lost(watch, process);
	fflush(watch->options.lines);
}

void region_close_all(struct watched *process)
{
	for (unsigned i = AREA_SLOTS; i < AREA_WATCHES; i++)
		piece_forget(&process->piece[i]);
}
