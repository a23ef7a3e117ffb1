/* SPDX-License-Identifier: Apache-2.0 */
/* What two accesses show of themselves: which pairs are hidden, and how sure the others are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "race/rules.h"

#include <string.h>

static const struct rule_meeting in_order = {.first_seen = true};
static const struct rule_meeting in_doubt = {.first_seen = true, .second_seen = true};
static const struct rule_meeting unseen = {.first_seen = false};

static struct tl_access plain(unsigned access)
{
	return (struct tl_access){.access = access, .traits = TL_TRAIT_PLAIN, .length = 8};
}

static struct tl_access vector(unsigned access)
{
	return (struct tl_access){.access = access, .traits = TL_TRAIT_VECTOR, .length = 32};
}

static struct rule_side side(const struct tl_access *access, enum tl_atomicity atomicity)
{
	return (struct rule_side){
		.access = access, .code = {"/bin/program", "f"}, .atomicity = atomicity};
}

static struct verdict judge(struct rule_side first, struct rule_side second,
			    const struct rule_meeting *meeting)
{
	struct verdict verdict;

	rules_judge(&first, &second, meeting, &verdict);
	return verdict;
}

static void expect(struct verdict verdict, enum tl_certainty certainty)
{
	assert_false(verdict.hidden);
	assert_null(verdict.rule);
	assert_int_equal(verdict.certainty, certainty);
}

static void expect_hidden(struct verdict verdict, const char *rule)
{
	assert_true(verdict.hidden);
	assert_string_equal(verdict.rule, rule);
}

static void test_classes(void **state)
{
	struct tl_access load = plain(TL_READ), store = plain(TL_WRITE), copy = vector(TL_WRITE);

	(void)state;
	expect(judge(side(&load, TL_ATOMICITY_UNKNOWN), side(&store, TL_ATOMICITY_UNKNOWN),
		     &in_order),
	       TL_POSSIBLE);
	expect(judge(side(&load, TL_ATOMICITY_PLAIN), side(&store, TL_ATOMICITY_UNKNOWN),
		     &in_order),
	       TL_LIKELY);
	expect(judge(side(&load, TL_ATOMICITY_UNKNOWN), side(&copy, TL_ATOMICITY_UNKNOWN),
		     &in_order),
	       TL_DEFINITE);
}

/* A count of references that reaches zero, a flag that is set: what comes after is in order. */
static void test_released(void **state)
{
	struct tl_access decrement = {.access = TL_READ | TL_WRITE | TL_ATOMIC, .length = 4};
	struct tl_access store = plain(TL_WRITE), clear = vector(TL_WRITE);

	(void)state;
	expect_hidden(judge(side(&decrement, TL_ATOMICITY_UNKNOWN),
			    side(&clear, TL_ATOMICITY_PLAIN), &in_order),
		      "hidden-released");
	expect(judge(side(&store, TL_ATOMICITY_UNKNOWN), side(&clear, TL_ATOMICITY_PLAIN),
		     &in_order),
	       TL_POSSIBLE);
	expect(judge(side(&store, TL_ATOMICITY_PLAIN), side(&clear, TL_ATOMICITY_UNKNOWN),
		     &in_order),
	       TL_DEFINITE);
}

static void test_released_in_doubt(void **state)
{
	struct tl_access store = plain(TL_WRITE), clear = vector(TL_WRITE);
	struct rule_side early = side(&clear, TL_ATOMICITY_PLAIN);

	(void)state;
	expect(judge(early, side(&store, TL_ATOMICITY_UNKNOWN), &in_order), TL_DEFINITE);
	expect(judge(early, side(&store, TL_ATOMICITY_UNKNOWN), &in_doubt), TL_POSSIBLE);
	expect_hidden(judge(early, side(&store, TL_ATOMICITY_ATOMIC), &in_doubt),
		      "hidden-released");
	expect(judge(early, side(&store, TL_ATOMICITY_PLAIN), &in_doubt), TL_DEFINITE);
}

/* Nobody came between: the second itself is the first to see the store. */
static void test_unseen(void **state)
{
	struct tl_access store = plain(TL_WRITE), clear = vector(TL_WRITE);

	(void)state;
	expect(judge(side(&store, TL_ATOMICITY_UNKNOWN), side(&clear, TL_ATOMICITY_UNKNOWN),
		     &unseen),
	       TL_DEFINITE);
}

/* It still stands before its store: nothing is released yet. */
static void test_not_made_yet(void **state)
{
	struct tl_access store = plain(TL_WRITE), clear = vector(TL_WRITE);

	(void)state;
	store.before = true;
	expect(judge(side(&store, TL_ATOMICITY_UNKNOWN), side(&clear, TL_ATOMICITY_UNKNOWN),
		     &in_order),
	       TL_DEFINITE);
}

static void test_hidden(void **state)
{
	struct tl_access load = plain(TL_READ), store = plain(TL_WRITE), guess = store,
			 push = store;
	struct rule_side libc = side(&store, TL_ATOMICITY_UNKNOWN);

	(void)state;
	guess.access |= TL_GUESSED;
	push.traits |= TL_TRAIT_STACK;
	libc.code = (struct rule_code){"/lib/libc.so.6", "pthread_mutex_unlock"};
	expect_hidden(judge(side(&load, TL_ATOMICITY_PLAIN), side(&guess, TL_ATOMICITY_PLAIN),
			    &in_order),
		      "hidden-guessed");
	expect_hidden(judge(side(&load, TL_ATOMICITY_PLAIN), side(&push, TL_ATOMICITY_PLAIN),
			    &in_order),
		      "hidden-call-stack");
	expect_hidden(judge(side(&load, TL_ATOMICITY_PLAIN), libc, &in_order), "hidden-libc");
	expect_hidden(judge(side(&load, TL_ATOMICITY_ATOMIC), side(&store, TL_ATOMICITY_ATOMIC),
			    &in_order),
		      "hidden-atomic");
}

/* Of those that are possible, what harms comes before what is likely meant. */
static void test_ranks(void **state)
{
	const unsigned lock = TL_READ | TL_WRITE | TL_ATOMIC, both = TL_READ | TL_WRITE;
	const struct {
		const char *name;
		unsigned first, first_traits, first_around;
		unsigned second, second_traits, second_around;
		uint64_t values[2];
		bool released;
		unsigned rank;
	} rows[] = {
		{"an update in memory and a store",
		 both,
		 TL_TRAIT_UPDATE,
		 0,
		 TL_WRITE,
		 TL_TRAIT_PLAIN,
		 0,
		 {0},
		 false,
		 10},
		{"an update in two steps and a LOCK",
		 TL_READ,
		 TL_TRAIT_PLAIN,
		 TL_AROUND_UPDATE,
		 lock,
		 0,
		 0,
		 {0},
		 false,
		 10},
		{"two stores",
		 TL_WRITE,
		 TL_TRAIT_PLAIN,
		 0,
		 TL_WRITE,
		 TL_TRAIT_PLAIN,
		 0,
		 {1, 2},
		 false,
		 20},
		{"an update and a load",
		 both,
		 TL_TRAIT_UPDATE,
		 0,
		 TL_READ,
		 TL_TRAIT_PLAIN,
		 0,
		 {0},
		 false,
		 30},
		{"a store and a load",
		 TL_READ,
		 TL_TRAIT_PLAIN,
		 0,
		 TL_WRITE,
		 TL_TRAIT_PLAIN,
		 0,
		 {0},
		 false,
		 40},
		{"a store that may let go on",
		 TL_WRITE,
		 TL_TRAIT_PLAIN,
		 0,
		 TL_READ,
		 TL_TRAIT_PLAIN,
		 0,
		 {0},
		 true,
		 50},
		{"two stores of one value",
		 TL_WRITE,
		 TL_TRAIT_PLAIN,
		 0,
		 TL_WRITE,
		 TL_TRAIT_PLAIN,
		 0,
		 {3, 3},
		 false,
		 60},
		{"a LOCK and a store", lock, 0, 0, TL_WRITE, TL_TRAIT_PLAIN, 0, {0}, false, 70},
		{"a LOCK and a load", TL_READ, TL_TRAIT_PLAIN, 0, lock, 0, 0, {0}, false, 80},
		{"a load for a LOCK CMPXCHG",
		 TL_READ,
		 TL_TRAIT_PLAIN,
		 TL_AROUND_RETRY,
		 TL_WRITE,
		 TL_TRAIT_PLAIN,
		 0,
		 {0},
		 false,
		 90},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct tl_access a = {.access = rows[i].first,
				      .traits = rows[i].first_traits,
				      .length = 8,
				      .value_known = rows[i].values[0],
				      .value = rows[i].values[0]};
		struct tl_access b = {.access = rows[i].second,
				      .traits = rows[i].second_traits,
				      .length = 8,
				      .value_known = rows[i].values[1],
				      .value = rows[i].values[1]};
		struct rule_side first = side(&a, TL_ATOMICITY_UNKNOWN);
		struct rule_side second = side(&b, TL_ATOMICITY_UNKNOWN);
		struct rule_meeting meeting = {.first_seen = rows[i].released};
		struct verdict verdict;

		print_message("%s\n", rows[i].name);
		first.around = rows[i].first_around;
		second.around = rows[i].second_around;
		rules_judge(&first, &second, &meeting, &verdict);
		expect(verdict, TL_POSSIBLE);
		rules_rank(&second, &first, &verdict);
		assert_int_equal(verdict.rank, rows[i].rank);
		assert_int_equal(verdict.evidence_count, 1);
	}
}

/* What is surer than possible has none. */
static void test_no_rank(void **state)
{
	struct tl_access load = plain(TL_READ), copy = vector(TL_WRITE);
	struct rule_side first = side(&load, TL_ATOMICITY_UNKNOWN);
	struct rule_side second = side(&copy, TL_ATOMICITY_UNKNOWN);
	struct verdict verdict = judge(first, second, &in_order);

	(void)state;
	rules_rank(&first, &second, &verdict);
	assert_int_equal(verdict.certainty, TL_DEFINITE);
	assert_int_equal(verdict.rank, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_released),
		cmocka_unit_test(test_released_in_doubt),
		cmocka_unit_test(test_not_made_yet),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_no_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
