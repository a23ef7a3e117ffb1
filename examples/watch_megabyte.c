/* SPDX-License-Identifier: Apache-2.0 */
/* Watch a whole megabyte: a region, by protection keys. Says so where the CPU has none. */
#include <stdio.h>
#include <stdlib.h>
#include <trapline/trapline.h>

static void note(tl_hit *hit, void *arg)
{
	*(const void **)arg = tl_hit_addr(hit);
}

int main(void)
{
	char *memory = aligned_alloc(4096, 1 << 20);
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = memory,
			       .len = 1 << 20,
			       .access = TL_WRITE,
			       .scope = TL_PROCESS};
	char *volatile touched = NULL;
	tl_event *event;
	int err = tl_event_open(&event, &spec, note, (void *)&touched);

	if (err)
		return fprintf(stderr, "watch_megabyte: %s\n", tl_explain(err)), 1;
	((volatile char *)memory)[123456] = 1;
	tl_event_close(event);
	printf("byte %td was written\n", touched - memory);
	free(memory);
	return 0;
}
