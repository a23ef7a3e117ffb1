/* SPDX-License-Identifier: Apache-2.0 */
/* Which accesses are uses of a frame that is gone, which writes hit a live one, and when a stack is
 * known to be a thread's own from its beginning on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "stack/rules.h"

#include <string.h>

#define SP 0x7f0000010000ull

/* An access by the stack's owner, of memory far below its stack pointer. */
static const struct rules_use below = {
	.address = SP - 512, .own = true, .pointer_known = true, .pointer = SP, .verified = true};

static struct rules_verdict judge(const struct rules_use *use)
{
	struct rules_verdict verdict;

	rules_judge_use(use, &verdict);
	return verdict;
}

static void is_hidden_as(const struct rules_use *use, const char *rule)
{
	struct rules_verdict verdict = judge(use);

	assert_true(verdict.hidden);
	assert_string_equal(verdict.rule, rule);
}

static void is_of(const struct rules_use *use, enum tl_certainty certainty)
{
	struct rules_verdict verdict = judge(use);

	assert_false(verdict.hidden);
	assert_int_equal(verdict.certainty, certainty);
	assert_true(verdict.evidence_count > 0);
}

static void below_the_stack_pointer(void **state)
{
	struct rules_use use = below;

	(void)state;
	is_of(&use, TL_DEFINITE);
	use.verified = false; /* a coroutine's stack, an alternate one, or not unwound */
	is_hidden_as(&use, "hidden-live-frame");
	use = below;
	use.address = SP - RULES_RED_ZONE;
	is_hidden_as(&use, "hidden-live-frame");
	use.keeps_nothing = true; /* no leaf, say */
	is_of(&use, TL_DEFINITE);
	use.address = SP;
	is_hidden_as(&use, "hidden-live-frame");
}

static void by_new_frames(void **state)
{
	struct rules_use use = below;

	(void)state;
	use.implicit = true;
	is_hidden_as(&use, "hidden-call-stack");
	use = below;
	use.frame_based = true;
	is_hidden_as(&use, "hidden-own-frame");
	use = below;
	use.guessed = true;
	is_hidden_as(&use, "hidden-guessed");
}

static void through_an_argument(void **state)
{
	struct rules_use use = below;

	(void)state;
	use.address = SP + 64;
	use.entry_known = use.argument_known = true;
	use.entry = SP + 256;
	use.argument = SP + 64; /* where the function's own frame came to be */
	is_of(&use, TL_DEFINITE);
	use.argument = SP + 300; /* a caller's frame */
	use.address = SP + 300;
	is_hidden_as(&use, "hidden-live-frame");
}

static void of_other_threads(void **state)
{
	struct rules_use use = below;

	(void)state;
	use.own = false;
	is_of(&use, TL_DEFINITE); /* its owner sleeps further up */
	use.pointer_known = false;
	is_hidden_as(&use, "hidden-owner-runs");
	use.kept = true;
	is_of(&use, TL_LIKELY);
	use.ended = true;
	is_of(&use, TL_DEFINITE);
	use.kept = false;
	use.seen_returning = true;
	is_of(&use, TL_DEFINITE);
}

/* The pointer is what the frame's function returned. */
static void through_a_result(void **state)
{
	struct rules_use use = {.address = SP + 64, .own = true, .pointer_known = true};

	(void)state;
	use.pointer = SP;
	is_hidden_as(&use, "hidden-live-frame");
	use.result = true;
	is_of(&use, TL_DEFINITE);
	use.doubtful = true;
	is_hidden_as(&use, "hidden-live-frame");
	use.doubtful = use.own = false;
	is_hidden_as(&use, "hidden-live-frame");
}

/* The way to it was guessed, and a frame that is there may have the address. */
static void on_a_way_that_was_guessed(void **state)
{
	struct rules_use use = {.address = SP + 64, .own = true, .pointer_known = true};

	(void)state;
	use.pointer = SP;
	use.kept = true;
	is_of(&use, TL_DEFINITE);
	use.doubtful = true;
	is_hidden_as(&use, "hidden-live-frame");
	use.pointer = use.address + 512;
	use.verified = true; /* no frame is there */
	is_of(&use, TL_DEFINITE);
}

/* Routines that take turns on one stack write their frames back through a pointer that they kept.
 */
static void by_copies_of_frames(void **state)
{
	struct rules_use use = below;

	(void)state;
	use.kept = true;
	use.copied = COPIED_STACK;
	is_hidden_as(&use, "hidden-copied-stack");
	use.copied = COPIED_UNKNOWN;
	is_hidden_as(&use, "hidden-copied-late");
}

static void of_live_frames(void **state)
{
	const struct rules_overwrite write = {.live = true};
	struct rules_overwrite other;
	struct rules_verdict verdict;

	(void)state;
	rules_judge_overwrite(&write, &verdict);
	assert_false(verdict.hidden);
	assert_int_equal(verdict.certainty, TL_DEFINITE);
#define HIDES(member, value)                             \
	do {                                             \
		other = write;                           \
		other.member = value;                    \
		rules_judge_overwrite(&other, &verdict); \
		assert_true(verdict.hidden);             \
	} while (0)
	HIDES(live, false);
	HIDES(implicit, true);
	HIDES(prologue, true);
	HIDES(guessed, true);
	HIDES(library, true);
	HIDES(copied, COPIED_STACK);
	HIDES(copied, COPIED_UNKNOWN);
}

static void whole_stacks(void **state)
{
	struct tl_frame_place frames[3] = {{.cfa = SP + 16}, {.cfa = SP + 64}, {.cfa = SP + 128}};
	struct rules_base first = {.main = true,
				   .start = SP + 128,
				   .mapping_start = SP - 8192,
				   .mapping_end = SP + 8192};
	struct rules_base other = {.fs_base = SP + 4096,
				   .has_data = true,
				   .guarded = true,
				   .mapping_start = SP - 8192,
				   .mapping_end = SP + 8192};

	(void)state;
	assert_true(rules_is_whole(frames, 3, SP, &first));
	assert_true(rules_is_whole(frames, 3, SP, &other));
	assert_false(rules_is_whole(frames, 0, SP, &first));
	first.start = SP + 65536; /* frames end where no stack begins */
	assert_false(rules_is_whole(frames, 3, SP, &first));
	other.fs_base = SP; /* of another stack */
	assert_false(rules_is_whole(frames, 3, SP, &other));
	other.fs_base = SP + 4096;
	other.has_data = false; /* a runtime's own */
	assert_false(rules_is_whole(frames, 3, SP, &other));
	other.has_data = true;
	other.guarded = false; /* one mapping with what lies below */
	assert_false(rules_is_whole(frames, 3, SP, &other));
	other.guarded = true;
	other.mapping_end = SP + 64; /* an alternate stack below the thread's own */
	assert_false(rules_is_whole(frames, 3, SP, &other));
	first.start = SP + 128;
	first.mapping_end = SP + 64;
	assert_false(rules_is_whole(frames, 3, SP, &first));
	first.mapping_end = SP + 8192;
	frames[1].cfa = SP + 8; /* down again: the thread was on two stacks */
	assert_false(rules_is_whole(frames, 3, SP, &first));
	frames[1].cfa = 0;
	assert_false(rules_is_whole(frames, 3, SP, &first));
}

static void a_stack_that_was_handed_on(void **state)
{
	struct rules_use use = {.address = SP + 64, .ended = true, .kept = true};

	(void)state;
	is_of(&use, TL_DEFINITE);
	use.inherited = true;
	is_hidden_as(&use, "hidden-new-owner");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stack_that_was_handed_on),

		cmocka_unit_test(below_the_stack_pointer),
		cmocka_unit_test(by_new_frames),
		cmocka_unit_test(through_an_argument),
		cmocka_unit_test(of_other_threads),
		cmocka_unit_test(through_a_result),
		cmocka_unit_test(on_a_way_that_was_guessed),
		cmocka_unit_test(by_copies_of_frames),
		cmocka_unit_test(of_live_frames),
		cmocka_unit_test(whole_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
