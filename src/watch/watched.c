/* SPDX-License-Identifier: Apache-2.0 */
/* A watched process, and its hardware given back for a while. */
#include "watch/private.h"

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
	for (unsigned i = 0; i < AREA_SLOTS; i++) {
		if (!process->piece[i].armed)
			continue;
		watch->wanted[process->piece[i].wanted].kernel +=
			control_slot_count(watch->control, process->pid, i);
		control_close(watch->control, process->pid, i);
	}
}

void watch_resume(struct watch *watch, struct watched *process)
{
	process->silent = false;
	for (unsigned i = 0; i < AREA_SLOTS; i++) {
		struct piece *piece = &process->piece[i];
		int err = piece->armed ? watch_arm_piece(watch, process, i) : -ESRCH;

		if (err == -ESRCH) /* or the process has ended */
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
