/* SPDX-License-Identifier: Apache-2.0 */
/* Tables built at first use, each by whoever comes first; a flush empties them again. */
#include "../harness.h"

#define TABLES 4

static int built[TABLES];
static unsigned char tables[TABLES][256];

static unsigned lookup(unsigned table, unsigned char byte)
{
	if (!built[table]) { /* RACE a */
		for (unsigned i = 0; i < 256; i++)
			tables[table][i] = (unsigned char)(i * table); /* RACE b */
		built[table] = 1;				       /* RACE a */
	}
	return tables[table][byte]; /* RACE b */
}

static void *translate(void *arg)
{
	unsigned turn = (unsigned)(uintptr_t)arg;

	while (running()) {
		consume(lookup(turn % TABLES, (unsigned char)turn));
		turn++;
		pace_warm();
	}
	return NULL;
}

static void *flush(void *arg)
{
	unsigned turn = 0;

	(void)arg;
	while (running()) {
		built[turn++ % TABLES] = 0; /* RACE a */
		nap(2000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(translate, harness_threads - 1);
	harness_start(flush, 1);
	return harness_finish();
}
