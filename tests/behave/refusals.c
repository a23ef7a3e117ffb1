/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be opened is refused with the right error, and explained. */
#include "check.h"

static volatile long watched[8];

/* `word` is what the explanation must name. */
static void refuse(struct tl_spec spec, int expected, const char *word)
{
	tl_event *event = NULL;
	int err = tl_event_open(&event, &spec, check_count_hit, NULL);

	CHECK_EQUAL(err, expected);
	CHECK(!event, "an event in spite of the error");
	CHECK(strstr(tl_explain(err), word), "explained as: %s", tl_explain(err));
}

static void refuse_bad_specs(void)
{
	struct tl_spec good = check_spec(&watched, 8, TL_WRITE, TL_PROCESS), bad;
	struct {
		struct tl_spec spec;
		long tail;
	} newer = {good, 1};

	bad = good, bad.size = 8, refuse(bad, -EINVAL, "spec.size");
	newer.spec.size = sizeof(newer), refuse(newer.spec, -E2BIG, "newer");
	bad = good, bad.access = 0, refuse(bad, -EINVAL, "either access");
	bad = good, bad.counter = TL_CPU_TIME, refuse(bad, -EINVAL, "either access");
	bad = good, bad.access = TL_EXEC | TL_WRITE, refuse(bad, -EINVAL, "TL_EXEC");
	bad = good, bad.access = 0x40, refuse(bad, -EINVAL, "bits");
	bad = good, bad.len = 0, refuse(bad, -EINVAL, "len");
	bad = good, bad.scope = (enum tl_scope)9, refuse(bad, -EINVAL, "scope");
	bad = good, bad.scope = TL_THREADS, refuse(bad, -EINVAL, "TL_THREADS");
	bad = good, bad.flags = 0x8000, refuse(bad, -EINVAL, "flags");
	bad = good, bad.access = 0, bad.counter = TL_CPU_TIME, refuse(bad, -EINVAL, "period");
	bad = good, bad.addr = NULL, refuse(bad, -EINVAL, "addr is 0");
	bad.flags = TL_DISABLED, refuse(bad, -EINVAL, "addr is 0");
	bad = good, bad.addr = NULL, bad.len = 64, refuse(bad, -EINVAL, "addr is 0");
	bad = check_spec(NULL, 0, TL_EXEC, TL_PROCESS), refuse(bad, -EINVAL, "addr is 0");
	bad = good, bad.addr = (void *)-4l, refuse(bad, -EINVAL, "range");
}

static void refuse_bad_moves(void)
{
	tl_event *event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, check_count_hit, NULL);
	int err = tl_event_move(event, NULL, 8, TL_WRITE);

	CHECK_EQUAL(err, -EINVAL);
	CHECK(strstr(tl_explain(err), "addr is 0"), "explained as: %s", tl_explain(err));
	CHECK_OK(tl_event_close(event));
}

/* Which has no place. */
static void open_counter(void)
{
	struct tl_spec spec = check_spec(NULL, 0, 0, TL_THREAD);
	tl_event *event;

	spec.counter = TL_CPU_TIME;
	spec.period = 1000000000;
	CHECK_OK(tl_event_open(&event, &spec, check_count_hit, NULL));
	CHECK_OK(tl_event_close(event));
}

static void refuse_fifth(void)
{
	tl_event *events[4];
	volatile long hits = 0;

	for (int i = 0; i < 4; i++)
		events[i] = check_open(&watched[i], 8, TL_WRITE, TL_PROCESS, check_count_hit,
				       (void *)&hits);
	refuse(check_spec(&watched[4], 8, TL_WRITE, TL_PROCESS), -ENOSPC, "4 perf events");
	for (int i = 0; i < 5; i++)
		watched[i] = 1;
	CHECK_EQUAL(hits, 4);
	for (int i = 0; i < 4; i++)
		CHECK_OK(tl_event_close(events[i]));
	CHECK_OK(tl_event_close(
		check_open(&watched[4], 8, TL_WRITE, TL_PROCESS, check_count_hit, NULL)));
}

int main(void)
{
	check_hardware();
	refuse_bad_specs();
	refuse_bad_moves();
	open_counter();
	refuse_fifth();
	CHECK_EQUAL(tl_event_close(NULL), -EINVAL);
	return 0;
}
