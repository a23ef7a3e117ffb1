/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/gap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define GAP_LEAST (1ull << 32) /* bytes; a smaller one may be what the program leaves room in */
#define USER_END (1ull << 47)
#define GAP_GRAIN (1ull << 21) /* what one page of a page table spans */

uint64_t gap_find(pid_t pid)
{
	uint64_t start, end, last = 0, place = 0, largest = GAP_LEAST;
	char path[64], *line = NULL;
	size_t room = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return 0;
	while (getline(&line, &room, maps) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2 || end > USER_END)
			break;
		if (last && start > last && start - last > largest) {
			largest = start - last;
			place = (last + largest / 2) & ~(GAP_GRAIN - 1);
		}
		last = end;
	}
	free(line);
	fclose(maps);
	return place;
}
