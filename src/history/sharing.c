/* SPDX-License-Identifier: Apache-2.0 */
#include "history/sharing.h"

bool sharing_note(struct sharing *sharing, uint64_t address, pid_t tid)
{
	uint64_t number = address / SHARING_LINE;
	struct sharing_line *line =
		&sharing->line[(number * 0x9e3779b97f4a7c15ull >> 32) % SHARING_LINES];

	if (line->number != number)
		*line = (struct sharing_line){.number = number, .tid = tid};
	if (line->tid != tid)
		line->shared = true;
	else if (line->visits < SHARING_VISITS)
		line->visits++;
	return line->shared || line->visits < SHARING_VISITS;
}
