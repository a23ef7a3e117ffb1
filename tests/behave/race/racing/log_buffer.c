/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are formatted into one static buffer by every thread. */
#include "../harness.h"

static char line[128];
static volatile size_t written;

static void *log_lines(void *arg)
{
	int self = (int)(intptr_t)arg;
	int number = 0;

	while (running()) {
		int length = snprintf(line, sizeof(line), "%d: %d", self, number++); /* RACE a */

		consume(strchr(line, ':')); /* RACE a */
		written += length;	    /* RACE b */
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(log_lines, harness_threads);
	return harness_finish();
}
