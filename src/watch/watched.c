/* SPDX-License-Identifier: Apache-2.0 */
/* A watched process, and its hardware given back for a while. */
#include "watch/watched.h"

#include "lasting/lasting.h"
#include "watch/copies.h"
#include "watch/piece.h"
#include "watch/state.h"

#include <errno.h>

struct watched *watch_find(const struct watch *watch, pid_t pid)
{
	struct watched *process = watch->processes;

	while (process && process->pid != pid)
		process = process->next;
	return process;
}

void watch_silence(struct watch *watch, struct watched *process)
{
	process->silent = true;
	process->scouted = false;
	for (unsigned i = 0; i < AREA_SLOTS; i++) {
		struct piece *piece = &process->piece[i];

		if (!piece->armed)
			continue;
		if (piece->scout)
			piece->armed = piece->scout = false;
		else
			watch->wanted[piece->wanted].kernel +=
				lasting_count(watch->program, process->pid, i);
		lasting_close(watch->program, process->pid, i);
	}
}

/* No scouts are out now, so this tick's look places them again. */
void watch_resume(struct watch *watch, struct watched *process)
{
	process->silent = false;
	for (unsigned i = 0; i < AREA_SLOTS; i++) {
		struct piece *piece = &process->piece[i];
		int err = piece->armed ? watch_arm_piece(watch, process, i) : -ESRCH;

		if (err == -ESRCH) /* the process may have ended as well */
			continue;
		if (err)
			fprintf(watch->options.lines,
				"trapline: %s can no longer be watched in process %d\n",
				watch->wanted[piece->wanted].text, (int)process->pid);
		else if (piece->each_thread)
			copies_resume(watch, process, i);
	}
	fflush(watch->options.lines);
}
