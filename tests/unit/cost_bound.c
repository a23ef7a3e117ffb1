/* SPDX-License-Identifier: Apache-2.0 */
/* What armed slots are said to cost a program whose threads come and go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cost/bound.h"

#define PRICE 3000.0 /* ns, as measured on a thread of our own */
#define LOOK 1e9     /* ns between two looks */

/* A second of a program that switches so often, at so much CPU time; `armed`: part of it. */
static double second(struct bound *bound, double rate, double cpus, double armed)
{
	double charged = 0;

	for (int i = 0; i < 10; i++)
		charged += bound_charge(bound, rate * armed / 10, PRICE);
	bound_look(bound, rate, (uint64_t)(cpus * LOOK));
	return charged;
}

/* A server's: 50 us to a switch. The price does not stand out, and what is seen varies more. */
static void a_price_that_does_not_stand_out_is_charged(void **state)
{
	struct bound bound = {0};

	(void)state;
	for (int i = 0; i < 5; i++) {
		assert_in_range(second(&bound, 20000, 1, 1), 59.9e6, 60.1e6);
		second(&bound, 20000, 1.1, 0);
	}
	assert_in_range(second(&bound, 20000, 0.9, 1), 59.9e6, 60.1e6);
}

/* A million switches a second: no program has spent three seconds of a second on that. */
static void what_cannot_be_is_not_charged(void **state)
{
	struct bound bound = {0};
	double sum = 0;

	(void)state;
	second(&bound, 1e6, 1, 0);
	for (int i = 0; i < 4; i++)
		sum += second(&bound, 1e6, 1, 1);
	second(&bound, 1e6, 1, 0);
	/* What was charged before it was compared is given back. */
	for (int i = 0; i < 4; i++)
		sum += second(&bound, 1e6, 1, 1);
	assert_in_range(sum, 0.5e9, 1.1e9);
}

static void slots_first_and_then_none(void **state)
{
	struct bound bound = {0};
	double sum = second(&bound, 1e6, 1, 1);

	(void)state;
	sum += second(&bound, 1e6, 1, 1);
	sum += second(&bound, 1e6, 1, 0);
	sum += second(&bound, 1e6, 1, 1);
	assert_in_range(sum, 0.2e9, 0.4e9);
}

/* A switch takes 1 us, and 3 us with slots armed: fewer fit into a second. */
static void what_is_seen_is_charged(void **state)
{
	struct bound bound = {0};
	double sum = 0;

	(void)state;
	second(&bound, 1e6, 1, 0);
	second(&bound, 333e3, 1, 1);
	for (int i = 0; i < 4; i++)
		sum += second(&bound, 333e3, 1, 1);
	assert_in_range(sum, 4 * 0.66e9, 4 * 1.0e9);
}

static void few_switches_tell_nothing(void **state)
{
	struct bound bound = {0};

	(void)state;
	second(&bound, 100, 0.0001, 0);
	second(&bound, 100, 0.0001, 1);
	assert_in_range(second(&bound, 100, 0.0001, 1), 299e3, 301e3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_price_that_does_not_stand_out_is_charged),
		cmocka_unit_test(what_cannot_be_is_not_charged),
		cmocka_unit_test(slots_first_and_then_none),
		cmocka_unit_test(what_is_seen_is_charged),
		cmocka_unit_test(few_switches_tell_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
