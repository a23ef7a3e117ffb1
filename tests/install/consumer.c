/* SPDX-License-Identifier: Apache-2.0 */
/* A C program against the installed library: watch a variable, expect one hit for each write. */
#include <trapline/trapline.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITES 100

static volatile long watched;
static volatile unsigned hits;

static void count(tl_hit *hit, void *arg)
{
	if (tl_hit_event(hit) && (tl_hit_access(hit) & TL_WRITE) && arg == &hits)
		hits++;
}

int main(void)
{
	struct tl_spec spec = {
		.size = sizeof(spec),
		.addr = (const void *)&watched,
		.len = sizeof(watched),
		.access = TL_WRITE,
		.scope = TL_PROCESS,
	};
	const char *required = getenv("TRAPLINE_REQUIRE_HARDWARE");
	tl_event *event;
	int err = tl_event_open(&event, &spec, count, (void *)&hits);

	if (err < 0) {
		fprintf(stderr, "tl_event_open: %s\n", tl_explain(err));
		return required && strcmp(required, "1") == 0 ? 1 : 77;
	}
	for (int i = 0; i < WRITES; i++)
		watched = i;
	err = tl_event_close(event);
	printf("%u hits of %d writes, %zu counts\n", hits, WRITES, tl_stats_count());
	return err || hits != WRITES || tl_stats_count() == 0;
}
