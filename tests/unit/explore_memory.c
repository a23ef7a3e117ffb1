/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing: sites by pc, the sharing table and cooldown by address, by tables and by counting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "history/memory.h"
#include <trapline/event.h>

#define DRAWS 20000

static void draws_follow_the_weights(void **state)
{
	static const struct {
		uint64_t weight[3];
		unsigned percent[3];
	} table[] = {{{1, 1, 2}, {25, 25, 50}}, {{0, 5, 0}, {0, 100, 0}}, {{9, 0, 1}, {90, 0, 10}}};
	struct random random = {1};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		unsigned count[3] = {0};

		for (int n = 0; n < DRAWS; n++)
			count[random_draw(&random, table[i].weight, 3)]++;
		for (int j = 0; j < 3; j++)
			assert_in_range(count[j] * 100 / DRAWS + 2, table[i].percent[j] + 0,
					table[i].percent[j] + 4);
	}
	assert_int_equal(random_draw(&random, (uint64_t[]){0, 0}, 2), 2);
}

/* How often, of a hundred, a site is drawn that was so often in vain, beside one that never was. */
static void sites_in_vain_are_drawn_seldom(void **state)
{
	static const struct {
		unsigned vain, least, most;	  /* drawn */
		unsigned least_sharp, most_sharp; /* drawn sharply */
	} table[] = {{0, 47, 53, 47, 53}, {1, 30, 37, 18, 22}, {9, 7, 12, 0, 2}, {99, 0, 3, 0, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct sites sites = {0};
		struct random random = {7};
		unsigned drawn = 0, sharp = 0;

		sites_note(&sites, &random, 0x1000);
		sites_note(&sites, &random, 0x1001); /* the same site */
		sites_note(&sites, &random, 0x2000);
		assert_int_equal(sites.used, 2);
		for (unsigned n = 0; n < table[i].vain; n++)
			sites_tell(&sites, 0x2000, false);
		for (int n = 0; n < DRAWS; n++) {
			drawn += sites_draw(&sites, &random) == 0x2000;
			sharp += sites_draw_sharply(&sites, &random) == 0x2000;
		}
		assert_in_range(drawn * 100 / DRAWS, table[i].least, table[i].most);
		assert_in_range(sharp * 100 / DRAWS, table[i].least_sharp, table[i].most_sharp);
		sites_tell(&sites, 0x2000, true);
		assert_int_equal(sites.site[1].vain, 0);
	}
}

static void no_site_is_drawn_where_none_is(void **state)
{
	struct sites sites = {0};
	struct random random = {7};

	(void)state;
	assert_int_equal(sites_draw(&sites, &random), 0);
	assert_int_equal(sites_draw_sharply(&sites, &random), 0);
	for (uint64_t i = 1; i < 3 * SITES_MAX; i++)
		sites_note(&sites, &random, i * SITE_BYTES);
	assert_int_equal(sites.used, SITES_MAX);
}

/* What the tool thinks of an instruction: the first two are worth nothing to it. */
static unsigned interest_of(void *context, uint64_t pc)
{
	(void)context;
	return pc < 0x3000 ? 0 : INTEREST_EQUAL;
}

static const struct contended_wish plenty = {.interest_of = interest_of},
				   little = {.interest_of = interest_of, .scarce = true};

static void change_makes_a_site_interesting_until_it_was_tried_in_vain(void **state)
{
	static const struct {
		unsigned changes, tries, interest;
	} table[] = {{1, 0, 96}, {1, 3, 96}, {1, 4, 48}, {1, 40, 8}, {3, 12, 48}, {0, 9, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct contended contended = {0};
		struct random random = {3};
		unsigned interest = 0;

		contended_note(&contended, &random, 0x1000, 5)->tries = table[i].tries;
		for (unsigned n = 0; n < table[i].changes; n++)
			contended_change(&contended, &random, 0x1000, 5);
		for (int n = 0; n < 1000 && !interest; n++)
			contended_choose(&contended, &random, &plenty, &interest);
		assert_int_equal(interest, table[i].interest);
	}
}

static void contended_sites_take_their_part_of_the_choices(void **state)
{
	struct contended contended = {0};
	struct random random = {3};
	unsigned interest, chosen[2] = {0};

	(void)state;
	contended_note(&contended, &random, 0x3000, 5);
	contended_note(&contended, &random, 0x1000, 6);
	assert_int_equal(contended_note(&contended, &random, 0x3000, 7)->tid, 7);
	for (int scarce = 0; scarce < 2; scarce++)
		for (int n = 0; n < DRAWS; n++) {
			struct contended_site *site = contended_choose(
				&contended, &random, scarce ? &little : &plenty, &interest);

			assert_true(!site || site->pc == 0x3000);
			chosen[scarce] += site != NULL;
		}
	assert_in_range(chosen[0] * 100 / DRAWS, 48, 52);
	assert_in_range(chosen[1] * 100 / DRAWS, 73, 77);
}

static struct foreseen foreseen(pid_t tid, unsigned access, uint64_t lock, uint64_t time)
{
	return (struct foreseen){
		.pc = 0x1000, .lock = {lock}, .tid = tid, .access = access, .time = time};
}

/* Two threads about to come to one word: is that a conflict? */
static void a_conflict_is_foreseen_without_a_common_lock(void **state)
{
	static const struct {
		struct foreseen one, other;
		uint64_t address; /* of the other */
		bool conflict;
	} table[] = {
		{{.tid = 1, .access = TL_WRITE}, {.tid = 2, .access = TL_READ}, 0x8004, true},
		{{.tid = 1, .access = TL_READ}, {.tid = 2, .access = TL_WRITE}, 0x8000, true},
		{{.tid = 1, .access = TL_READ}, {.tid = 2, .access = TL_READ}, 0x8000, false},
		{{.tid = 1, .access = TL_WRITE}, {.tid = 1, .access = TL_WRITE}, 0x8000, false},
		{{.tid = 1, .access = TL_WRITE}, {.tid = 2, .access = TL_WRITE}, 0x8008, false},
		{{.tid = 1, .access = TL_WRITE, .lock = {7}},
		 {.tid = 2, .access = TL_WRITE, .lock = {9, 7}},
		 0x8000,
		 false},
		{{.tid = 1, .access = TL_WRITE, .lock = {7}},
		 {.tid = 2, .access = TL_WRITE, .lock = {9}},
		 0x8000,
		 true},
		{{.tid = -1, .access = TL_WRITE}, {.tid = -2, .access = TL_READ}, 0x8000, true},
		{{.tid = 1, .access = TL_WRITE}, {.tid = -2, .access = TL_READ}, 0x8000, false},
		{{.tid = 1, .access = TL_WRITE | TL_ATOMIC},
		 {.tid = 2, .access = TL_WRITE | TL_ATOMIC},
		 0x8000,
		 false},
		{{.tid = 1, .access = TL_WRITE | TL_ATOMIC},
		 {.tid = 2, .access = TL_READ},
		 0x8000,
		 true},
		{{.tid = 1, .access = TL_WRITE},
		 {.tid = 2, .access = TL_READ, .time = FORESIGHT_AGE},
		 0x8000,
		 false},
	};
	static struct foresight foresight;
	struct foreseen others[2];

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		memset(&foresight, 0, sizeof(foresight));
		assert_int_equal(foresight_note(&foresight, 0x8000, &table[i].one, others), 0);
		assert_int_equal(foresight_note(&foresight, table[i].address, &table[i].other,
						others),
				 table[i].conflict);
		assert_int_equal(foresight_view(&foresight, table[i].address),
				 table[i].conflict ? FORESIGHT_SHARED : FORESIGHT_PRIVATE);
		assert_int_equal(foresight_view(&foresight, 0x9000), FORESIGHT_NOTHING);
	}
}

static void a_writer_conflicts_with_reader_and_writer(void **state)
{
	static struct foresight foresight;
	struct foreseen others[2], writer = foreseen(1, TL_WRITE, 0, 5),
				   reader = foreseen(2, TL_READ, 0, 6),
				   another = foreseen(3, TL_WRITE, 0, 7);

	(void)state;
	assert_int_equal(foresight_note(&foresight, 0x8000, &writer, others), 0);
	assert_int_equal(foresight_note(&foresight, 0x8000, &reader, others), 1);
	assert_int_equal(others[0].tid, 1);
	assert_int_equal(foresight_note(&foresight, 0x8000, &another, others), 2);
	assert_int_equal(others[0].tid, 1);
	assert_int_equal(others[1].tid, 2);
}

static unsigned interest_at(struct contended *contended, uint64_t pc)
{
	struct random random = {3};
	unsigned interest = 0;

	for (int n = 0; n < 4000; n++) {
		struct contended_site *site =
			contended_choose(contended, &random, &plenty, &interest);

		if (site && site->pc == pc)
			return interest;
	}
	return 0;
}

/* Who does not come is waited for first, and less each time; then others are held for him. */
static void foreseen_sites_are_worth_what_was_seen_there(void **state)
{
	struct contended contended = {0};
	struct random random = {3};

	(void)state;
	assert_false(contended_promises(&contended, NULL, NULL));
	contended_foresee(&contended, &random, 0x3000, 1, 0x4000);
	contended_foresee(&contended, &random, 0x4000, 2, 0x3000);
	assert_true(contended_promises(&contended, NULL, NULL));
	assert_int_equal(interest_at(&contended, 0x3000), INTEREST_EQUAL + INTEREST_FORESEEN);
	contended_tell(&contended, 0x3000, 0, true);
	assert_int_equal(interest_at(&contended, 0x3000),
			 INTEREST_EQUAL + INTEREST_FORESEEN / FORESEEN_UNSEEN_PARTS);
	contended_tell(&contended, 0x4000, 0, false);
	assert_int_equal(interest_at(&contended, 0x4000), INTEREST_EQUAL + INTEREST_FORESEEN / 2);
	contended_tell(&contended, 0x4000, 0, true);
	assert_int_equal(interest_at(&contended, 0x3000), INTEREST_EQUAL + INTEREST_FORESEEN);
	contended_tell(&contended, 0x3000, FORESEEN_HOLDS, true);
	assert_int_equal(interest_at(&contended, 0x3000), INTEREST_EQUAL + INTEREST_FORESEEN / 2);
	/* Another conflict takes the place of one that nobody came to, not of a real one. */
	contended_foresee(&contended, &random, 0x3000, 1, 0x5000);
	assert_int_equal(interest_at(&contended, 0x3000), INTEREST_EQUAL + INTEREST_FORESEEN / 2);
}

static void what_the_tool_rejects_no_foresight_makes_interesting(void **state)
{
	struct contended contended = {0};
	struct random random = {3};

	(void)state;
	contended_foresee(&contended, &random, 0x1000, 1, 0x4000);
	assert_int_equal(interest_at(&contended, 0x1000), 0);
}

static bool is_seen(void *context, const struct contended_site *site)
{
	(void)context;
	return site->seen;
}

static bool is_foreseen(void *context, const struct contended_site *site)
{
	(void)context;
	return site->conflict;
}

static void only_what_the_wish_allows_is_chosen(void **state)
{
	static const struct {
		contended_filter_fn *filter;
		bool both, promises;
		uint64_t pc;
	} table[] = {{NULL, true, true, 0},
		     {is_seen, false, false, 0x3000},
		     {is_foreseen, false, true, 0x4000}};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct contended_wish wish = {.interest_of = interest_of,
					      .filter = table[i].filter};
		struct contended contended = {0};
		struct random random = {3};
		unsigned interest, chosen = 0, other = 0;

		contended_note(&contended, &random, 0x3000, 1);
		contended_foresee(&contended, &random, 0x4000, 2, 0x5000);
		for (int n = 0; n < 1000; n++) {
			struct contended_site *site =
				contended_choose(&contended, &random, &wish, &interest);

			chosen += site && site->pc == table[i].pc;
			other += site && site->pc != table[i].pc;
		}
		assert_int_equal(other != 0, table[i].both);
		assert_int_equal(chosen != 0, !table[i].both);
		assert_int_equal(contended_promises(&contended, table[i].filter, NULL),
				 table[i].promises);
	}
}

/* A site of which nothing was seen gives its place away; only where there are few such ones the
 * draws may miss them all. */
static void what_was_only_foreseen_is_replaced_first(void **state)
{
	struct contended contended = {0};
	struct random random = {3};
	unsigned seen = 0;

	(void)state;
	for (unsigned i = 0; i < CONTENDED_MAX; i++)
		if (i % 2)
			contended_note(&contended, &random, 0x3000 + i, 1);
		else
			contended_foresee(&contended, &random, 0x3000 + i, 1, 0x1000);
	assert_int_equal(contended.used, CONTENDED_MAX);
	for (unsigned i = 0; i < 20 * CONTENDED_MAX; i++)
		contended_foresee(&contended, &random, 0x10000 + i, 1, 0x1000);
	for (unsigned i = 0; i < CONTENDED_MAX; i++)
		seen += contended.site[i].seen;
	assert_in_range(seen, CONTENDED_MAX / 2 - CONTENDED_MAX / 8, CONTENDED_MAX / 2);
}

static void a_line_is_a_threads_own_until_another_comes(void **state)
{
	static struct sharing sharing;

	(void)state;
	for (unsigned i = 1; i < SHARING_VISITS; i++)
		assert_true(sharing_note(&sharing, 0x5000, 1));
	assert_false(sharing_note(&sharing, 0x503f, 1));
	assert_true(sharing_note(&sharing, 0x5040, 1));
	assert_true(sharing_note(&sharing, 0x5008, 2));
	for (int i = 0; i < 9; i++)
		assert_true(sharing_note(&sharing, 0x5000, 1));
}

static void an_address_cools_down_until_it_is_paid_for(void **state)
{
	static const struct {
		bool by_writers, sees_reads;
		uint64_t at;
		bool on;
	} table[] = {
		{true, false, 1499, true},   {true, true, 1499, true},	{true, true, 1500, false},
		{false, false, 1001, false}, {false, true, 1001, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct cooldowns cooldowns = {0};

		cooldown_begin(&cooldowns, 0x7000, table[i].by_writers, 1000, 500);
		assert_int_equal(cooldown_is_on(&cooldowns, 0x7000, table[i].sees_reads,
						table[i].at),
				 table[i].on);
		assert_false(cooldown_is_on(&cooldowns, 0x7004, true, table[i].at));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_follow_the_weights),
		cmocka_unit_test(sites_in_vain_are_drawn_seldom),
		cmocka_unit_test(no_site_is_drawn_where_none_is),
		cmocka_unit_test(change_makes_a_site_interesting_until_it_was_tried_in_vain),
		cmocka_unit_test(contended_sites_take_their_part_of_the_choices),
		cmocka_unit_test(a_conflict_is_foreseen_without_a_common_lock),
		cmocka_unit_test(a_writer_conflicts_with_reader_and_writer),
		cmocka_unit_test(foreseen_sites_are_worth_what_was_seen_there),
		cmocka_unit_test(what_the_tool_rejects_no_foresight_makes_interesting),
		cmocka_unit_test(only_what_the_wish_allows_is_chosen),
		cmocka_unit_test(what_was_only_foreseen_is_replaced_first),
		cmocka_unit_test(a_line_is_a_threads_own_until_another_comes),
		cmocka_unit_test(an_address_cools_down_until_it_is_paid_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
