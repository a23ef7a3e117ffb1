/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mode that is nearly always zero, among zeros, is polled without a lock. The load overwrites the
 * register that had its address, and zeros do not tell which of them were loaded.
 */
#include "../harness.h"

static struct settings {
	int reserved[3];
	int mode;
	int unused[4];
} settings;

static struct settings *current = &settings;
static volatile int seen;

static int mode_of(struct settings *of)
{
	return of->mode; /* RACE a */
}

static void *poll_mode(void *arg)
{
	(void)arg;
	while (running()) {
		seen = mode_of(current);
		pace_hot();
	}
	return NULL;
}

static void *reset(void *arg)
{
	(void)arg;
	while (running()) {
		current->mode = 0; /* RACE a */
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(poll_mode, 1);
	harness_start(reset, 1);
	return harness_finish();
}
