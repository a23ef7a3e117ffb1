/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program leaves behind when its first process has ended: daemons, children of shells.
 * They are watched on until the last of them has ended, by this process or by a copy of it, to
 * which its events, rings and the area belong as well.
 */
#include "control/linger.h"

#include "base/syscall.h"
#include "program/abandon.h"
#include "program/life.h"
#include "control/state.h"
#include "base/clock.h"
#include "program/entries.h"

#include <stdatomic.h>
#include <unistd.h>

#define FORK_LOOKS 500 /* of a millisecond */
#define FORK_PATIENCE SECOND

unsigned control_others(struct control *control)
{
	if (control->observing || program_is_attached(&control->program))
		return 0;
	/* A child that has begun and not announced itself yet may be all that is left. */
	for (int i = 0; i < FORK_LOOKS; i++) {
		unsigned others;

		targets_welcome(&control->program);
		targets_check(&control->program);
		others = entries_waiting(&control->program);
		if (others || !atomic_load(&control->program.area->forking))
			return others;
		raw_nanosleep(MILLISECOND);
	}
	return 0;
}

/* Between a process that ends and the child that it leaves there may be nobody for a moment. */
bool linger_is_over(struct control *control)
{
	uint64_t now = clock_now();

	if (entries_waiting(&control->program)) {
		control->alone_since = 0;
		return false;
	}
	if (!atomic_load(&control->program.area->forking))
		return true;
	if (!control->alone_since)
		control->alone_since = now;
	return now - control->alone_since > FORK_PATIENCE;
}

void control_prepare_copy(struct control *control)
{
	prices_end(&control->budget.prices);
}

int control_take_over(struct control *control)
{
	__atomic_store_n(&control->program.area->controller, getpid(), __ATOMIC_RELAXED);
	abandon_take_over();
	life_begin(control->program.area);
	return control->windows.samples ? samples_map_again(control->windows.samples) : 0;
}
