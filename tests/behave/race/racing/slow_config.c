/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration is reloaded some five times a second and read at about the same rate. */
#include "../harness.h"

struct config {
	int verbosity;
	int timeout;
};

static struct config config = {1, 30};

static void *reload(void *arg)
{
	int generation = 0;

	(void)arg;
	while (running()) {
		generation++;
		config.verbosity = generation % 4;	/* RACE a */
		config.timeout = 30 + generation % 100; /* RACE b */
		nap(200000);
	}
	return NULL;
}

static void *poll_config(void *arg)
{
	(void)arg;
	while (running()) {
		consume(config.verbosity); /* RACE a */
		consume(config.timeout);   /* RACE b */
		nap(170000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(reload, 1);
	harness_start(poll_config, harness_threads - 1);
	return harness_finish();
}
