/* SPDX-License-Identifier: Apache-2.0 */
/* A frame buffer is filled by memcpy() and taken out by memcpy(): frames tear. */
#include "../harness.h"

static char frame[1024];
static volatile size_t frame_size = sizeof(frame);

static void *draw(void *arg)
{
	char next[sizeof(frame)];
	int colour = 0;

	(void)arg;
	memset(next, 0, sizeof(next));
	while (running()) {
		next[0] = (char)++colour;
		memcpy(frame, next, frame_size); /* RACE a */
		pace_warm();
	}
	return NULL;
}

static void *show(void *arg)
{
	char shown[sizeof(frame)];

	(void)arg;
	while (running()) {
		memcpy(shown, frame, frame_size); /* RACE a */
		consume(shown[17]);
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(draw, 1);
	harness_start(show, harness_threads - 1);
	return harness_finish();
}
