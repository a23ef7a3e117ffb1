/* SPDX-License-Identifier: Apache-2.0 */
/* A table written before the threads start and only read since, hot. */
#include "../harness.h"

static unsigned table[1024];
static const char *text;

static void *use(void *arg)
{
	unsigned place = (unsigned)(uintptr_t)arg;

	while (running()) {
		place = (place + table[place & 1023] + (unsigned char)text[place & 15]) & 0xffff;
		consume(place);
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	for (unsigned i = 0; i < 1024; i++)
		table[i] = i * 2654435761u;
	text = strdup("all work and no play");
	if (!text)
		return 2;
	harness_start(use, harness_threads);
	return harness_finish();
}
