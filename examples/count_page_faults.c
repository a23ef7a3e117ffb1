/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread causes page faults? One callback for each, in the thread that caused it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/trapline.h>

static void count_fault(tl_hit *hit, void *arg)
{
	(void)hit;
	__atomic_fetch_add((long *)arg, 1, __ATOMIC_RELAXED);
}

int main(void)
{
	struct tl_spec spec = {
		.size = sizeof(spec), .counter = TL_PAGE_FAULTS, .period = 1, .scope = TL_PROCESS};
	volatile long faults = 0;
	tl_event *event;
	char *memory;
	int err = tl_event_open(&event, &spec, count_fault, (void *)&faults);

	if (err)
		return fprintf(stderr, "count_page_faults: %s\n", tl_explain(err)), 1;
	memory = malloc(8 << 20);
	memset(memory, 1, 8 << 20);
	tl_event_close(event);
	printf("%ld page faults for 8 MiB (byte 0 is %d)\n", faults, memory[0]);
	free(memory);
	return 0;
}
