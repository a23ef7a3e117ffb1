/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a pair's first access may have been seen, whatever the order in which records are met,
 * and what memory tells of that. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/state.h"
#include "hit/collect.h"
#include "process/space.h"
#include "reader/open.h"

/* Code that nobody runs, to be found by whoever asks what an instruction in front of these does. */
extern const uint8_t after_load[], after_store[], after_last_load[];

__asm__(".text\n"
	"load_and_store:\n"
	"	.cfi_startproc\n"
	"	movl (%rdi), %eax\n"
	"after_load:\n"
	"	incl %eax\n"
	"	movl %eax, (%rdi)\n"
	"after_store:\n"
	"	movl (%rdi), %edi\n"
	"after_last_load:\n"
	"	ret\n"
	"	.cfi_endproc\n");

#define RDI 7 /* of the general registers, in the processor's order */

enum { WRITER = 1, READER = 2 };

struct bench {
	struct control control;
	struct target target;
	struct area_process shared;
	struct area *area;
	struct hits hits;
	unsigned pairs;			       /* whose second access is a store */
	bool first_seen, second_seen, changed; /* of the last one */
	bool guessed;
	void (*meanwhile)(struct bench *bench); /* once, when the first hit has begun */
};

static struct bench *bench;
static _Alignas(8) int around[6]; /* zeros */
#define watched (around[2])

/* A record that its thread has left already, or not (`exit` 0). */
static void put(unsigned index, uint64_t identity, const uint8_t *after, uint64_t entry,
		uint64_t exit)
{
	struct area_hit *record = &bench->area->hit[index];

	record->registers.pc = (uintptr_t)after;
	record->registers.general[RDI] = (uintptr_t)&watched;
	record->identity = identity;
	record->generation = bench->target.slot[0].generation;
	record->address = (uintptr_t)&watched;
	record->entry_time = entry;
	atomic_store(&record->exit_time, exit);
	atomic_store(&record->state, exit ? AREA_HIT_DONE : AREA_HIT_HELD);
}

/* What its handler read there, and when it had. */
static void show(unsigned index, int value, uint64_t until)
{
	struct area_hit *record = &bench->area->hit[index];

	memcpy(record->value, &value, sizeof(value));
	record->value_address = (uintptr_t)&watched;
	record->value_length = AREA_VALUE;
	record->value_until = until;
}

static void leave(unsigned index, uint64_t exit)
{
	atomic_store(&bench->area->hit[index].exit_time, exit);
	atomic_store(&bench->area->hit[index].state, AREA_HIT_DONE);
}

static void seen(struct target *target, const struct hit *hit)
{
	(void)target, (void)hit;
}

static struct slot *held(struct target *target, struct slot *slot, struct hit *hit)
{
	(void)target, (void)hit;
	return slot;
}

static void visit(struct target *target, const struct slot *slot, const struct hit *hit)
{
	void (*meanwhile)(struct bench * bench) = bench->meanwhile;

	(void)target, (void)slot, (void)hit;
	bench->meanwhile = NULL;
	if (meanwhile)
		meanwhile(bench);
}

static void shared(struct target *target, const struct hit *hit, const struct hit *other)
{
	(void)target, (void)hit, (void)other;
}

static void pair(struct target *target, const struct slot *slot, struct tl_pair *pair)
{
	(void)target, (void)slot;
	if (!(pair->second->access & TL_WRITE))
		return;
	bench->pairs++;
	bench->first_seen = pair->first_seen;
	bench->second_seen = pair->second_seen;
	bench->changed = pair->changed;
	bench->guessed = (pair->first->access | pair->second->access) & TL_GUESSED;
}

static const struct hit_events events = {
	.seen = seen, .held = held, .visit = visit, .shared = shared, .pair = pair};

static int set_up(void **state)
{
	struct target *target;

	(void)state;
	bench = calloc(1, sizeof(*bench));
	target = &bench->target;
	bench->area = calloc(1, sizeof(*bench->area));
	bench->hits.program = target->program = &bench->control.program;
	bench->hits.events = &events;
	target->program->area = bench->area;
	target->program->target[0] = target;
	assert_int_equal(symbol_session_open(&target->program->session, NULL), 0);
	assert_int_equal(space_open(&target->space, target->program->session, getpid()), 0);
	target->control = &bench->control;
	target->pid = getpid();
	target->shared = &bench->shared;
	target->slots = 1;
	target->slot[0] = (struct slot){.armed = true,
					.whole = true,
					.generation = 3,
					.watch = {.address = (uintptr_t)&watched,
						  .length = sizeof(watched),
						  .access = TL_READ | TL_WRITE}};
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	hits_forget_slot(&bench->hits, &bench->target.slot[0]);
	space_close(bench->target.space);
	symbol_session_close(bench->target.program->session);
	free(bench->area);
	free(bench);
	return 0;
}

static void nobody_came_between(void)
{
	put(5, WRITER, after_store, 100, 1000);
	put(9, READER, after_store, 300, 400);
	hits_collect(&bench->hits);
	assert_int_equal(bench->pairs, 1);
}

static void nobody_read_it(void **state)
{
	(void)state;
	nobody_came_between();
	assert_false(bench->first_seen);
}

/* The pass has gone by the place of the read by then, not by that of the store. */
static void read_and_store(struct bench *at)
{
	(void)at;
	put(3, READER, after_load, 200, 250);
	put(9, READER, after_store, 300, 400);
}

static void a_read_behind_the_pass_is_known(void **state)
{
	(void)state;
	put(5, WRITER, after_store, 100, 1000);
	bench->meanwhile = read_and_store;
	hits_collect(&bench->hits);
	assert_int_equal(bench->pairs, 1);
	assert_true(bench->first_seen);
}

static void silence(struct bench *at)
{
	at->target.slot[0].armed = false;
	at->target.slot[0].generation++;
}

static void a_read_of_a_slot_that_is_silent_by_then_is_known(void **state)
{
	(void)state;
	put(5, WRITER, after_store, 100, 0);
	put(9, READER, after_store, 300, 400);
	hits_collect(&bench->hits);
	put(3, READER, after_load, 200, 250);
	silence(bench);
	leave(5, 1000);
	hits_collect(&bench->hits);
	assert_int_equal(bench->pairs, 1);
	assert_true(bench->first_seen);
}

static void a_read_without_a_record_is_known(void **state)
{
	(void)state;
	atomic_fetch_add(&bench->shared.dropped, 1);
	nobody_came_between();
	assert_true(bench->first_seen);
}

static void a_thread_that_trips_nothing_may_read(void **state)
{
	(void)state;
	bench->target.slot[0].whole = false;
	nobody_came_between();
	assert_true(bench->first_seen);
}

/* The handlers may begin in another order than the accesses were made; not where the second's
 * thread was held elsewhere since. */
static void who_was_held_since_comes_later(void **state)
{
	(void)state;
	bench->target.slot[0].whole = false;
	nobody_came_between();
	assert_true(bench->second_seen);
	put(5, WRITER, after_store, 2000, 3000);
	put(3, READER, after_load, 2100, 2200);
	put(9, READER, after_store, 2300, 2400);
	hits_collect(&bench->hits);
	assert_int_equal(bench->pairs, 2);
	assert_false(bench->second_seen);
}

/* Of two stores the one whose handler began last finds another value, read at `until`. */
static void find_another_value(uint64_t until)
{
	bench->target.slot[0].whole = false;
	put(5, WRITER, after_store, 100, 1000);
	show(5, 5, 110);
	put(9, READER, after_store, 300, 1200);
	show(9, 7, until);
	hits_collect(&bench->hits);
	assert_int_equal(bench->pairs, 1);
}

static void who_changes_memory_in_a_hold_comes_later(void **state)
{
	(void)state;
	find_another_value(310);
	assert_false(bench->second_seen);
}

/* The second store may have come first: the first's thread has gone on, and changed memory, before
 * the second's handler read it. */
static void what_was_read_behind_a_hold_orders_nothing(void **state)
{
	(void)state;
	find_another_value(1100);
	assert_true(bench->second_seen);
}

/* One thread is held between load and store, another one's store meanwhile shows a value that was
 * read at `until`. */
static void store_in_an_update(uint64_t until)
{
	put(5, READER, after_load, 100, 1000);
	put(9, WRITER, after_store, 300, 1200);
	show(9, 7, until);
	hits_collect(&bench->hits);
	assert_int_equal(bench->pairs, 1);
}

static void an_update_is_lost_in_a_hold(void **state)
{
	(void)state;
	store_in_an_update(310);
	assert_true(bench->changed);
}

/* By then it was the update's own store that memory showed. */
static void what_was_read_behind_a_hold_shows_no_loss(void **state)
{
	(void)state;
	store_in_an_update(1100);
	assert_false(bench->changed);
}

static void what_ends_with_its_process_is_told(void **state)
{
	(void)state;
	put(5, WRITER, after_store, 100, 0);
	put(9, READER, after_store, 300, 400);
	hits_forget_target(&bench->hits, &bench->target);
	assert_int_equal(bench->pairs, 1);
	assert_int_equal(bench->target.program->count[COUNT_HITS_LOST], 1);
}

/* The load overwrote its address, and zeros do not tell where it began. */
static void load_of_zeros_meets_store(unsigned watched_length)
{
	bench->target.slot[0].watch.length = watched_length;
	put(5, READER, after_last_load, 100, 1000);
	bench->area->hit[5].registers.general[RDI] = 0;
	put(9, WRITER, after_store, 300, 400);
	hits_collect(&bench->hits);
	assert_int_equal(bench->pairs, 1);
}

static void a_load_somewhere_meets_a_store_of_all_that_is_watched(void **state)
{
	(void)state;
	load_of_zeros_meets_store(sizeof(watched));
	assert_false(bench->guessed);
}

static void a_load_somewhere_may_miss_a_store_of_a_part(void **state)
{
	(void)state;
	load_of_zeros_meets_store(2 * sizeof(watched));
	assert_true(bench->guessed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nobody_read_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_read_behind_the_pass_is_known, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_read_of_a_slot_that_is_silent_by_then_is_known,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_read_without_a_record_is_known, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_thread_that_trips_nothing_may_read, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(who_was_held_since_comes_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_changes_memory_in_a_hold_comes_later, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_was_read_behind_a_hold_orders_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(an_update_is_lost_in_a_hold, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_read_behind_a_hold_shows_no_loss, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_ends_with_its_process_is_told, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			a_load_somewhere_meets_a_store_of_all_that_is_watched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_load_somewhere_may_miss_a_store_of_a_part, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
