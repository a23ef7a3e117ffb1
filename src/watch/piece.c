/* SPDX-License-Identifier: Apache-2.0 */
/* What one hardware slot watches: how much fits, arming and disarming it. */
#include "watch/piece.h"

#include "lasting/lasting.h"
#include "lasting/threads.h"
#include "symbol/target.h"
#include "watch/filter.h"
#include "watch/state.h"
#include "watch/watched.h"

#include <errno.h>
#include <stdlib.h>

#define SLOT_BYTES 8u

unsigned piece_length(uint64_t address, uint64_t length)
{
	unsigned piece = SLOT_BYTES;

	while (address % piece || piece > length)
		piece /= 2;
	return piece;
}

int piece_free(const struct watched *process)
{
	for (unsigned i = 0; i < AREA_SLOTS; i++)
		if (!process->piece[i].armed)
			return (int)i;
	return -ENOSPC;
}

unsigned pieces_free(const struct watched *process)
{
	unsigned count = 0;

	for (unsigned i = 0; i < AREA_SLOTS; i++)
		count += !process->piece[i].armed;
	return count;
}

unsigned pieces_needed(const struct symbol_target *target)
{
	uint64_t offset = 0;
	unsigned count = 0;

	if (target->kind == SYMBOL_TARGET_CODE_PLACES)
		return target->code_count;
	while (offset < target->length && count <= AREA_SLOTS) {
		uint64_t at = target->kind == SYMBOL_TARGET_HEAP_BLOCKS
				      ? (uint64_t)target->offset[0] + offset
				      : offset;

		offset += piece_length(at, target->length - offset);
		count++;
	}
	return count;
}

unsigned slot_access(unsigned access)
{
	if (access & SYMBOL_ACCESS_EXECUTE)
		return TL_EXEC;
	return access & SYMBOL_ACCESS_READ ? TL_READ | TL_WRITE : TL_WRITE;
}

/* With an action at each hit the thread is held, since actions happen while it is still at its
 * access. */
uint64_t watch_hold(const struct watch *watch)
{
	if (watch->options.action == WATCH_DEBUG)
		return WATCH_DEBUG_HOLD;
	return watch->options.action >= WATCH_STOP ? 1000000000u : 0;
}

int watch_arm_piece(struct watch *watch, struct watched *process, unsigned index)
{
	struct piece *piece = &process->piece[index];
	struct tl_watch request = {.size = sizeof(request),
				   .pid = process->pid,
				   .address = piece->address,
				   .length = piece->length,
				   .access = slot_access(watch->wanted[piece->wanted].access),
				   .hold = watch_hold(watch)};
	int err = 0;

	piece->armed = true;
	filter_slot_begin(watch, process, index);
	if (!process->silent && piece->each_thread)
		err = lasting_arm_threads(watch->program, process->pid, index, &request);
	else if (!process->silent)
		err = lasting_arm(watch->program, process->pid, index, &request);
	piece->armed = !err;
	return err;
}

int watch_arm_wish(struct watch *watch, struct watched *process, const struct piece *wish)
{
	int index = piece_free(process);

	if (index < 0)
		return index;
	process->piece[index] = *wish;
	return watch_arm_piece(watch, process, (unsigned)index);
}

void piece_forget(struct piece *piece)
{
	free(piece->shadow);
	piece->shadow = NULL;
}

void watch_disarm_piece(struct watch *watch, struct watched *process, unsigned index)
{
	struct piece *piece = &process->piece[index];

	watch->wanted[piece->wanted].kernel += lasting_count(watch->program, process->pid, index);
	filter_estimate(watch, process, index);
	lasting_disarm(watch->program, process->pid, index);
	if (!piece->region)
		filter_collect(watch, process, (int)index);
	piece_forget(piece);
	piece->armed = false;
}

void watch_disarm_wanted(struct watch *watch, struct watched *process, unsigned wanted)
{
	for (unsigned i = 0; i < AREA_WATCHES; i++)
		if (process->piece[i].armed && !process->piece[i].scout &&
		    process->piece[i].wanted == wanted)
			watch_disarm_piece(watch, process, i);
}

void watch_disarm_block(struct watch *watch, struct watched *process, uint64_t block)
{
	/* Pieces that lie in no block, as scouts do, have block 0: these must not be disarmed. */
	if (!block)
		return;
	for (unsigned i = 0; i < AREA_WATCHES; i++)
		if (process->piece[i].armed && !process->piece[i].scout &&
		    process->piece[i].block == block)
			watch_disarm_piece(watch, process, i);
}

void watch_disarm_whole(struct watch *watch, struct watched *process, unsigned wanted,
			uint64_t start)
{
	for (unsigned i = 0; i < AREA_WATCHES; i++)
		if (process->piece[i].armed && !process->piece[i].scout &&
		    process->piece[i].wanted == wanted && process->piece[i].start == start)
			watch_disarm_piece(watch, process, i);
}
