/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which thread comes to which line of memory. What one thread alone was seen at time and again is
 * its own, and to hold it there would show nothing. Lines that fall together in the table take each
 * other's place.
 */
#include "control/private.h"

#define LINE 64
#define VISITS 4 /* of one thread, after which a line is its own */

bool lines_note(struct target *target, uint64_t address, pid_t tid)
{
	uint64_t number = address / LINE;
	struct line_seen *line = &target->line[(number * 0x9e3779b97f4a7c15ull >> 32) % LINES_MAX];

	if (line->number != number)
		*line = (struct line_seen){.number = number, .tid = tid};
	if (line->tid != tid)
		line->shared = true;
	else if (line->visits < VISITS)
		line->visits++;
	return line->shared || line->visits < VISITS;
}
