/* SPDX-License-Identifier: Apache-2.0 */
/* What `trapline flow` estimates with: incidence under censoring, weights, sharing of lines. */
#include "traffic/incidence.h"
#include "traffic/lines.h"
#include "traffic/random.h"
#include "traffic/weigh.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OBSERVATIONS 20000

static void assert_near(double value, double wanted, double tolerance)
{
	if (fabs(value - wanted) > tolerance)
		fail_msg("%f is not within %f of %f", value, tolerance, wanted);
}

/* 30 % end in one way after 1 to 2 ms, 70 % in another after 1 to 21 ms; each is given up after a
 * time of its own. Counting what ended would say 60 % and more. */
static void censoring_does_not_favour_what_is_quick(void **state)
{
	struct flow_observation *observation = calloc(OBSERVATIONS, sizeof(*observation));
	struct flow_incidence incidence;
	uint64_t random = 1;

	(void)state;
	for (uint32_t i = 0; i < OBSERVATIONS; i++) {
		bool quick = flow_below(&random, 10) < 3;
		uint64_t needed = 1000000 + flow_below(&random, quick ? 1000000 : 20000000);
		uint64_t window = 2000000ull << 2 * flow_below(&random, 3);

		observation[i] = (struct flow_observation){
			.weight = 1,
			.duration = needed < window ? needed : window,
			.group = i,
			.way = needed < window ? !quick : FLOW_CENSORED,
		};
	}
	flow_incidence(observation, OBSERVATIONS, &incidence);
	assert_near(incidence.share[0], 0.3, 0.02);
	assert_near(incidence.share[1], 0.7, 0.02);
	assert_true(incidence.error[0] > 0.001 && incidence.error[0] < 0.02);
	free(observation);
}

static void nothing_seen_is_all_open(void **state)
{
	struct flow_observation censored = {.weight = 2, .duration = 5, .way = FLOW_CENSORED};
	struct flow_incidence incidence;

	(void)state;
	flow_incidence(NULL, 0, &incidence);
	assert_true(incidence.open == 1 && incidence.error[0] == 1);
	flow_incidence(&censored, 1, &incidence);
	assert_true(incidence.open == 1 && incidence.share[0] == 0);
}

static void weights_count(void **state)
{
	struct flow_observation observation[] = {{.weight = 3, .duration = 1, .way = 0},
						 {.weight = 1, .duration = 2, .way = 1}};
	struct flow_incidence incidence;

	(void)state;
	flow_incidence(observation, 2, &incidence);
	assert_near(incidence.share[0], 0.75, 1e-9);
	assert_near(incidence.share[1], 0.25, 1e-9);
}

static void a_reservoir_keeps_each_with_the_same_chance(void **state)
{
	unsigned kept[10] = {0};
	uint64_t random = 7;

	(void)state;
	for (unsigned round = 0; round < 100000; round++) {
		unsigned holds[2] = {0};
		uint64_t victim;

		for (unsigned i = 0; i < 10; i++)
			if (flow_reservoir(&random, 2, i + 1, &victim))
				holds[victim] = i;
		kept[holds[0]]++;
		kept[holds[1]]++;
	}
	for (unsigned i = 0; i < 10; i++)
		assert_near(kept[i], 20000, 600);
}

/* Two loops over one table, of which one takes three times as long, and a third elsewhere. */
static void places_that_share_bytes_weigh_by_how_often_they_run(void **state)
{
	const double samples[3] = {300, 100, 50};
	struct flow_sight sight[450];
	double occurrences[3];

	(void)state;
	for (unsigned i = 0; i < 450; i++)
		sight[i] = i < 400 ? (struct flow_sight){{0, 1}, {4, 4}, 2}
				   : (struct flow_sight){{2}, {8}, 1};
	assert_int_equal(flow_weigh(samples, 3, sight, 450, occurrences), 0);
	assert_near(occurrences[0] / occurrences[1], 1, 0.02);
	assert_near(occurrences[0] + occurrences[1], 400, 1);
	assert_near(occurrences[2], 50, 1);
}

static void places_without_sights_keep_their_samples(void **state)
{
	const double samples[2] = {5, 7};
	double occurrences[2];

	(void)state;
	assert_int_equal(flow_weigh(samples, 2, NULL, 0, occurrences), 0);
	assert_true(occurrences[0] == 5 && occurrences[1] == 7);
}

static void visit(struct flow_line *line, pid_t tid, uint64_t address, unsigned length, bool writes,
		  uint64_t time)
{
	struct flow_visit visit = {.pid = 1,
				   .tid = tid,
				   .pc = (uint64_t)tid,
				   .address = address,
				   .time = time,
				   .length = length,
				   .reads = !writes,
				   .writes = writes};

	flow_line_watch_visit(line, &visit);
}

/* Two threads in turn, at these addresses. */
static struct flow_line *alternate(struct flow_lines *lines, uint64_t first, uint64_t second,
				   bool second_writes)
{
	const struct flow_memory memory = {.object = 1, .offset = first & ~63ull};
	struct flow_line *line = flow_lines_find(lines, &memory);

	flow_line_watch_begin(line);
	for (uint64_t i = 0; i < 10; i++) {
		visit(line, 100, first, 8, true, 2 * i + 1);
		visit(line, 200, second, 8, second_writes, 2 * i + 2);
	}
	flow_line_watch_end(line, 1000);
	return line;
}

static void different_bytes_are_shared_falsely(void **state)
{
	struct flow_lines *lines = calloc(1, sizeof(*lines));
	struct flow_line *line = alternate(lines, 4096, 4104, false);
	const struct flow_actor *first, *second;

	(void)state;
	assert_true(line->false_transfers == 19 && !line->true_transfers);
	assert_true(flow_line_pair(line, &first, &second));
	assert_int_equal(first->tid, 100);
	free(lines);
}

static void the_same_bytes_are_shared_truly(void **state)
{
	struct flow_lines *lines = calloc(1, sizeof(*lines));
	struct flow_line *line = alternate(lines, 4096, 4100, false);

	(void)state;
	assert_true(line->true_transfers > 0 && !line->false_transfers);
	free(lines);
}

/* Both threads use both fields: that one comes to this and then the other to that is their lock's
 * doing, not the line's. */
static void a_structure_under_a_lock_is_shared_truly(void **state)
{
	struct flow_lines *lines = calloc(1, sizeof(*lines));
	const struct flow_memory memory = {.object = 1, .offset = 0};
	struct flow_line *line = flow_lines_find(lines, &memory);

	(void)state;
	for (unsigned round = 0; round < 2; round++) {
		flow_line_watch_begin(line);
		for (uint64_t i = 0; i < 10; i++) {
			visit(line, 100 + (pid_t)(i % 2), 0, 8, true, 2 * i + 1);
			visit(line, 100 + (pid_t)(i % 2), 8, 8, true, 2 * i + 2);
		}
		flow_line_watch_end(line, 1000);
	}
	assert_true(line->true_transfers > line->false_transfers);
	free(lines);
}

static void bytes_do_not_leave_their_line(void **state)
{
	(void)state;
	assert_true(flow_line_bytes(60, 16) == 0xf000000000000000ull);
	assert_true(flow_line_bytes(64, 64) == UINT64_MAX);
	assert_true(flow_line_bytes(1, 1) == 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(censoring_does_not_favour_what_is_quick),
		cmocka_unit_test(nothing_seen_is_all_open),
		cmocka_unit_test(weights_count),
		cmocka_unit_test(a_reservoir_keeps_each_with_the_same_chance),
		cmocka_unit_test(places_that_share_bytes_weigh_by_how_often_they_run),
		cmocka_unit_test(places_without_sights_keep_their_samples),
		cmocka_unit_test(different_bytes_are_shared_falsely),
		cmocka_unit_test(the_same_bytes_are_shared_truly),
		cmocka_unit_test(a_structure_under_a_lock_is_shared_truly),
		cmocka_unit_test(bytes_do_not_leave_their_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
