/* SPDX-License-Identifier: Apache-2.0 */
/* A table is cleared with memset() while others read and bump its cells. */
#include "../harness.h"

#define CELLS 96

static unsigned table[CELLS];
static volatile size_t table_size = sizeof(table);

static void *clear(void *arg)
{
	(void)arg;
	while (running()) {
		memset(table, 0, table_size); /* RACE a */
		pace_warm();
	}
	return NULL;
}

static void *bump(void *arg)
{
	unsigned cell = (unsigned)(uintptr_t)arg;

	while (running()) {
		cell = (cell + 7) % CELLS;
		table[cell]++; /* RACE a */
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(clear, 1);
	harness_start(bump, harness_threads - 1);
	return harness_finish();
}
