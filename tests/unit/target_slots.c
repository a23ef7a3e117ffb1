/* SPDX-License-Identifier: Apache-2.0 */
/* What a slot may say of its watch: are all accesses hits, and how many did the kernel count? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>

#include "inject/stacks.h"
#include "target/cover.h"
#include "target/target.h"

#define EVERYWHERE 8192
#define ELSEWHERE 8200

static struct {
	unsigned opened, closed, moved;
	uint64_t count; /* of the event that is open */
	int error;	/* of the next one that is opened */
	struct area_process shared;
	struct program program;
	struct target target;
	struct inject_stacks stacks;
} * bench;

/* ---- the rooms below, without a kernel ------------------------------------------------------ */

struct coverage_target cover_threads(const struct target *target)
{
	return (struct coverage_target){.pid = target->pid, .scope = TL_PROCESS};
}

int cover_open(struct target *target, struct coverage *coverage,
	       const struct coverage_target *threads, const struct perf_request *request,
	       uint64_t data)
{
	(void)target, (void)coverage, (void)threads, (void)request, (void)data;
	if (bench->error)
		return bench->error;
	bench->opened++;
	bench->count = 0;
	return 0;
}

unsigned cover_version(const struct target *target)
{
	(void)target;
	return bench->stacks.version;
}

ssize_t space_read(struct space *space, uint64_t address, void *to, size_t length)
{
	(void)space, (void)address, (void)to, (void)length;
	return -EFAULT;
}

bool cover_may_move(struct target *target)
{
	(void)target;
	return true;
}

int cover_modify(struct coverage *coverage, const struct coverage_target *threads,
		 const struct perf_request *request, uint64_t data)
{
	(void)coverage, (void)threads, (void)request, (void)data;
	bench->moved++;
	return 0;
}

void coverage_close(struct coverage *coverage)
{
	(void)coverage;
	bench->closed++;
	bench->count = 0;
}

uint64_t coverage_count(const struct coverage *coverage)
{
	(void)coverage;
	return bench->count;
}

int coverage_enable(struct coverage *coverage, const struct coverage_target *threads)
{
	(void)coverage, (void)threads;
	return 0;
}

int coverage_disable(struct coverage *coverage, const struct coverage_target *threads)
{
	(void)coverage, (void)threads;
	return 0;
}

void wakeups_arm(struct wakeups *wakeups, uint64_t now)
{
	(void)wakeups, (void)now;
}

void wakeups_silence(struct wakeups *wakeups, uint64_t now)
{
	(void)wakeups, (void)now;
}

void wakeups_silence_single(struct wakeups *wakeups, double rate, uint64_t time)
{
	(void)wakeups, (void)rate, (void)time;
}

static void publish(struct target *target, struct slot *slot)
{
	(void)target, (void)slot;
}

/* ---- tests ---------------------------------------------------------------------------------- */

static int set_up(void **state)
{
	static const struct program_events events = {.publish = publish};

	(void)state;
	bench = calloc(1, sizeof(*bench));
	if (!bench)
		return -1;
	bench->program.events = &events;
	bench->target.program = &bench->program;
	bench->target.shared = &bench->shared;
	bench->target.stacks = &bench->stacks;
	bench->target.slots = 1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	free(bench);
	return 0;
}

static struct slot *arm(uint64_t address)
{
	struct slot *slot = &bench->target.slot[0];
	struct tl_watch watch = {.address = address, .length = 8, .access = TL_READ | TL_WRITE};

	assert_int_equal(slot_arm(&bench->target, slot, &watch), 0);
	return slot;
}

static void test_whole(void **state)
{
	(void)state;
	assert_true(arm(EVERYWHERE)->whole);
}

static void test_threads_are_born(void **state)
{
	(void)state;
	atomic_store(&bench->shared.births, 1);
	assert_false(arm(EVERYWHERE)->whole);
}

/* While no event was open accesses went unseen; those that were counted before are not forgotten.
 */
static void test_reopened(void **state)
{
	struct slot *slot = arm(EVERYWHERE);
	uint64_t covered = slot->covered_at;

	(void)state;
	bench->count = 5;
	bench->stacks.version++;
	slots_suit_cover(&bench->target);
	assert_true(slot->armed && slot->open);
	assert_int_equal(bench->opened, 2);
	assert_false(slot->whole);
	assert_true(slot->covered_at >= covered);
	assert_int_equal(slot->ended_hits, 5);
	assert_true(arm(ELSEWHERE)->whole);
}

static void test_reopened_in_vain(void **state)
{
	struct slot *slot = arm(EVERYWHERE);

	(void)state;
	bench->error = -ESRCH;
	bench->stacks.version++;
	slots_suit_cover(&bench->target);
	assert_false(slot->armed || slot->whole);
}

/* A hit on its way from an earlier watch of the address would pass for one of now … */
static void test_an_address_again(void **state)
{
	struct slot *slot = arm(EVERYWHERE);

	(void)state;
	slot_disarm(&bench->target, slot);
	arm(ELSEWHERE);
	assert_int_equal(bench->opened, 1);
	slot_disarm(&bench->target, slot);
	arm(EVERYWHERE);
	assert_int_equal(bench->opened, 2);
}

/* … but for a lasting watch, which pairs none: that keeps the kernel's count over its rests. */
static void test_a_lasting_watch_again(void **state)
{
	struct slot *slot;

	(void)state;
	bench->program.ways.unpaired = true;
	slot = arm(EVERYWHERE);
	bench->count = 7;
	for (int i = 0; i < 2 * SLOT_PLACES_MAX; i++) {
		slot_disarm(&bench->target, slot);
		arm(EVERYWHERE);
	}
	assert_int_equal(bench->opened, 1);
	assert_int_equal(bench->count + slot->ended_hits, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_threads_are_born, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reopened, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reopened_in_vain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_address_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_lasting_watch_again, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
