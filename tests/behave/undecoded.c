/* SPDX-License-Identifier: Apache-2.0 */
/* TL_UNDECODED: every access is a hit, marked as guessed, with nothing claimed about it. */
#include "check.h"

static volatile uint32_t word;
static volatile int hits;

static void note(tl_hit *hit, void *arg)
{
	(void)arg;
	CHECK_EQUAL(tl_hit_access(hit), TL_READ | TL_WRITE | TL_GUESSED);
	CHECK(tl_hit_addr(hit) == (const void *)&word);
	CHECK_EQUAL(tl_hit_size(hit), 4);
	CHECK_EQUAL(tl_hit_pc(hit), tl_hit_next_pc(hit));
	CHECK_OK(tl_hit_skip(hit)); /* where it resumes anyway */
	hits++;
}

int main(void)
{
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (const void *)&word,
			       .len = sizeof(word),
			       .access = TL_READ | TL_WRITE,
			       .flags = TL_UNDECODED};
	tl_event *event;

	CHECK_OK(tl_event_open(&event, &spec, note, NULL));
	for (int i = 0; i < 1000; i++) {
		word = (uint32_t)i;
		CHECK_EQUAL(word, i);
	}
	CHECK_EQUAL(hits, 2000);
	CHECK_OK(tl_event_close(event));
	return 0;
}
