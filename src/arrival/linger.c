/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the program leaves behind when its first process has ended: daemons, children of shells.
 * They are watched on until the last of them has ended, by this process or by a copy of it, to
 * which its events, rings and the area belong as well.
 */
#include "arrival/linger.h"

#include "base/syscall.h"
#include "target/target.h"
#include "base/clock.h"
#include "program/entries.h"

#include <stdatomic.h>
#include <unistd.h>

#define FORK_LOOKS 500 /* of a millisecond */
#define FORK_PATIENCE SECOND

unsigned linger_others(struct program *program)
{
	if (program_is_attached(program))
		return 0;
	/* A child that has begun and not announced itself yet may be all that is left. */
	for (int i = 0; i < FORK_LOOKS; i++) {
		unsigned others;

		targets_welcome(program);
		targets_check(program);
		others = entries_waiting(program);
		/* A process that has ended without a word, as by _exit(2), is no other. */
		if (others) {
			entries_check_all(program);
			others = entries_waiting(program);
		}
		if (others || !atomic_load(&program->area->forking))
			return others;
		raw_nanosleep(MILLISECOND);
	}
	return 0;
}

/* Between a process that ends and the child that it leaves there may be nobody for a moment. */
bool linger_is_over(struct linger *linger, struct program *program)
{
	uint64_t now = clock_now();

	if (entries_waiting(program)) {
		linger->alone_since = 0;
		return false;
	}
	if (!atomic_load(&program->area->forking))
		return true;
	if (!linger->alone_since)
		linger->alone_since = now;
	return now - linger->alone_since > FORK_PATIENCE;
}
