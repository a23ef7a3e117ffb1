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
		.access = access, .code = {"/bin/program", "f", NULL}, .atomicity = atomicity};
}

static struct verdict judge(struct rule_side first, struct rule_side second,
			    const struct rule_meeting *meeting)
{
	struct verdict verdict;

	rules_judge(&first, &second, meeting, &verdict);
	return verdict;
}

static struct verdict judge_unknown(const struct tl_access *first, const struct tl_access *second,
				    const struct rule_meeting *meeting)
{
	return judge(side(first, TL_ATOMICITY_UNKNOWN), side(second, TL_ATOMICITY_UNKNOWN),
		     meeting);
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

static struct verdict judge_beside(const struct tl_access *first, enum tl_atomicity atomicity,
				   const struct tl_access *unknown,
				   const struct rule_meeting *meeting)
{
	return judge(side(first, atomicity), side(unknown, TL_ATOMICITY_UNKNOWN), meeting);
}

static void test_classes(void **state)
{
	struct tl_access load = plain(TL_READ), store = plain(TL_WRITE), copy = vector(TL_WRITE);

	(void)state;
	expect(judge_unknown(&load, &store, &in_order), TL_POSSIBLE);
	expect(judge_beside(&load, TL_ATOMICITY_PLAIN, &store, &in_order), TL_LIKELY);
	expect(judge_unknown(&load, &copy, &in_order), TL_DEFINITE);
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
	expect(judge_beside(&store, TL_ATOMICITY_PLAIN, &clear, &in_order), TL_DEFINITE);
}

/* `lock xadd` takes a ticket in one half of a word, `inc` of the other half gives the lock back. */
static void test_released_by_half(void **state)
{
	struct tl_access take = {.access = TL_READ | TL_WRITE | TL_ATOMIC, .length = 4};
	struct tl_access give = {
		.access = TL_READ | TL_WRITE, .traits = TL_TRAIT_UPDATE, .length = 2};
	struct rule_side half = side(&give, TL_ATOMICITY_UNKNOWN);

	(void)state;
	half.updates_tell = true;
	expect_hidden(judge(half, side(&take, TL_ATOMICITY_UNKNOWN), &in_order), "hidden-released");
	expect(judge(side(&take, TL_ATOMICITY_UNKNOWN), half, &unseen), TL_POSSIBLE);
	give.length = 4;
	expect_hidden(judge(half, side(&take, TL_ATOMICITY_UNKNOWN), &in_order), "hidden-released");
	expect(judge(half, side(&take, TL_ATOMICITY_UNKNOWN), &unseen), TL_DEFINITE);
}

/* `incw` of the number that is served is a ticket lock's release, in a file without debug
 * information: who has read it may be the next to give the lock back. */
static void test_released_by_update(void **state)
{
	struct tl_access give = {
		.access = TL_READ | TL_WRITE, .traits = TL_TRAIT_UPDATE, .length = 2};
	struct rule_side one = side(&give, TL_ATOMICITY_UNKNOWN), other = one;

	(void)state;
	one.updates_tell = other.updates_tell = true;
	expect(judge(one, other, &in_order), TL_POSSIBLE);
	expect(judge(one, other, &unseen), TL_DEFINITE);
	one.atomicity = TL_ATOMICITY_PLAIN;
	expect(judge(one, other, &in_order), TL_DEFINITE);
}

/* Who tries to take a lock that is held leaves it as it is: `andl` gives it back all the same. */
static void test_attempt(void **state)
{
	struct tl_access attempt = {
		.access = TL_READ | TL_WRITE | TL_ATOMIC, .traits = TL_TRAIT_ATTEMPT, .length = 4};
	struct tl_access give = {
		.access = TL_READ | TL_WRITE, .traits = TL_TRAIT_UPDATE, .length = 4};
	struct rule_side update = side(&give, TL_ATOMICITY_UNKNOWN);

	(void)state;
	update.updates_tell = true;
	expect(judge(side(&attempt, TL_ATOMICITY_UNKNOWN), update, &unseen), TL_POSSIBLE);
	expect(judge(update, side(&attempt, TL_ATOMICITY_UNKNOWN), &unseen), TL_POSSIBLE);
	update.atomicity = TL_ATOMICITY_PLAIN;
	expect(judge(side(&attempt, TL_ATOMICITY_UNKNOWN), update, &unseen), TL_DEFINITE);
	update.atomicity = TL_ATOMICITY_UNKNOWN;
	attempt.traits = 0; /* LOCK XADD */
	expect(judge(side(&attempt, TL_ATOMICITY_UNKNOWN), update, &unseen), TL_DEFINITE);
}

/* A member of a packed structure, by an atomic operation whose source is not at hand. */
static void test_packed(void **state)
{
	struct tl_access load = plain(TL_READ), store = plain(TL_WRITE);

	(void)state;
	load.traits |= TL_TRAIT_UNALIGNED;
	store.traits |= TL_TRAIT_UNALIGNED;
	load.address = store.address = 0x1001;
	expect(judge_unknown(&load, &store, &in_order), TL_LIKELY);
	expect(judge_beside(&load, TL_ATOMICITY_PLAIN, &store, &in_order), TL_DEFINITE);
	load.address = 0x1002;
	expect(judge_unknown(&load, &store, &in_order), TL_DEFINITE);
	load.address = store.address = 0x103c;
	expect(judge_unknown(&load, &store, &in_order), TL_DEFINITE);
}

/* libatomic moves 16 bytes by a vector instruction where the processor makes those whole. */
static void test_atomic_library(void **state)
{
	struct tl_access load = vector(TL_READ), store = vector(TL_WRITE), other = plain(TL_WRITE);
	struct rule_side reader = side(&load, TL_ATOMICITY_UNKNOWN);
	struct rule_side writer = side(&store, TL_ATOMICITY_UNKNOWN);

	(void)state;
	reader.code.module = writer.code.module = "/usr/lib/x86_64-linux-gnu/libatomic.so.1";
	expect_hidden(judge(reader, writer, &unseen), "hidden-atomic");
	expect(judge(reader, side(&other, TL_ATOMICITY_PLAIN), &unseen), TL_LIKELY);
}

/* An aligned move of 16 bytes is what compilers make of an atomic access, and of a structure. */
static void test_whole_vectors(void **state)
{
	struct tl_access load = vector(TL_READ), store = vector(TL_WRITE);
	struct rule_side writer = side(&store, TL_ATOMICITY_UNKNOWN);

	(void)state;
	load.length = store.length = 16;
	expect(judge_unknown(&load, &store, &unseen), TL_DEFINITE);
	load.traits |= TL_TRAIT_WHOLE_VECTOR;
	expect(judge_unknown(&load, &store, &unseen), TL_DEFINITE); /* by the store's MOVDQU */
	store.traits |= TL_TRAIT_WHOLE_VECTOR;
	expect(judge_unknown(&load, &store, &unseen), TL_POSSIBLE);
	expect(judge_unknown(&store, &load, &in_order), TL_POSSIBLE);
	expect(judge_beside(&load, TL_ATOMICITY_MIXED, &store, &unseen), TL_POSSIBLE);
	expect(judge_beside(&load, TL_ATOMICITY_ORDERED, &store, &unseen), TL_POSSIBLE);
	expect(judge_beside(&load, TL_ATOMICITY_PLAIN, &store, &unseen), TL_DEFINITE);
	writer.code = (struct rule_code){"/lib/libc.so.6", "memcpy", "memcpy"};
	expect(judge(side(&load, TL_ATOMICITY_UNKNOWN), writer, &unseen), TL_DEFINITE);
}

/* The line of a LOCK instruction may be that of another statement. */
static void test_lock_is_no_plain_access(void **state)
{
	struct tl_access decrement = {.access = TL_READ | TL_WRITE | TL_ATOMIC, .length = 4};
	struct tl_access load = plain(TL_READ), clear = vector(TL_WRITE);

	(void)state;
	expect(judge(side(&load, TL_ATOMICITY_MIXED), side(&decrement, TL_ATOMICITY_PLAIN),
		     &in_order),
	       TL_POSSIBLE);
	expect(judge(side(&load, TL_ATOMICITY_PLAIN), side(&decrement, TL_ATOMICITY_PLAIN),
		     &in_order),
	       TL_LIKELY);
	expect_hidden(judge(side(&decrement, TL_ATOMICITY_PLAIN), side(&clear, TL_ATOMICITY_PLAIN),
			    &in_order),
		      "hidden-released");
}

/* What is atomic in the source may be one move of 16 bytes, or of an object anywhere. */
static void test_atomic_by_the_source(void **state)
{
	struct tl_access store = plain(TL_WRITE), wide = vector(TL_READ), odd = plain(TL_READ);

	(void)state;
	wide.address = 0x1000;
	wide.length = 16;
	odd.traits |= TL_TRAIT_UNALIGNED;
	for (int i = 0; i < 2; i++) {
		struct tl_access *access = i ? &odd : &wide;

		expect(judge(side(access, TL_ATOMICITY_MIXED), side(&store, TL_ATOMICITY_MIXED),
			     &in_order),
		       TL_POSSIBLE);
	}
	expect(judge(side(&wide, TL_ATOMICITY_UNKNOWN), side(&store, TL_ATOMICITY_MIXED),
		     &in_order),
	       TL_DEFINITE);
	/* Both are of the very object: who is not known may be atomic as the other is. */
	expect(judge(side(&odd, TL_ATOMICITY_UNKNOWN), side(&store, TL_ATOMICITY_MIXED), &in_order),
	       TL_POSSIBLE);
	wide.length = 32;
	expect(judge(side(&wide, TL_ATOMICITY_MIXED), side(&store, TL_ATOMICITY_MIXED), &in_order),
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

/* The message lets who receives it write there; where that came first, it did not. */
static void test_sent(void **state)
{
	struct tl_access sent = {
		.access = TL_READ | TL_KERNEL, .traits = TL_TRAIT_SENT, .length = 8};
	struct tl_access kept = {.access = TL_READ | TL_KERNEL, .length = 8};
	struct tl_access store = plain(TL_WRITE);
	struct verdict verdict = judge_beside(&store, TL_ATOMICITY_PLAIN, &sent, &in_doubt);

	(void)state;
	expect(verdict, TL_POSSIBLE);
	assert_string_equal(verdict.evidence[0],
			    "a system call sends it: the message could let the other go on");
	expect(judge_beside(&store, TL_ATOMICITY_PLAIN, &sent, &in_order), TL_DEFINITE);
	expect(judge_beside(&sent, TL_ATOMICITY_UNKNOWN, &store, &in_order), TL_POSSIBLE);
	expect(judge_beside(&kept, TL_ATOMICITY_UNKNOWN, &store, &in_order), TL_DEFINITE);
}

/* Nobody came between: the second itself is the first to see the store. */
static void test_unseen(void **state)
{
	struct tl_access store = plain(TL_WRITE), clear = vector(TL_WRITE);

	(void)state;
	expect(judge_unknown(&store, &clear, &unseen), TL_DEFINITE);
}

/* Two relaxed operations in a row lose an update, too. */
static void test_changed(void **state)
{
	const struct rule_meeting changed = {.first_seen = true, .changed = true};
	struct tl_access load = plain(TL_READ), store = plain(TL_WRITE);
	struct rule_side unknown = side(&load, TL_ATOMICITY_UNKNOWN);
	struct rule_side stored = side(&store, TL_ATOMICITY_UNKNOWN);
	struct verdict verdict = judge(unknown, stored, &changed);

	(void)state;
	expect(verdict, TL_POSSIBLE);
	rules_rank(&unknown, &stored, &verdict);
	assert_int_equal(verdict.rank, 5);
	expect(judge(side(&load, TL_ATOMICITY_VOLATILE), stored, &changed), TL_LIKELY);
	expect(judge(side(&load, TL_ATOMICITY_VOLATILE), stored, &in_order), TL_POSSIBLE);
	expect(judge(unknown, side(&store, TL_ATOMICITY_MIXED), &changed), TL_POSSIBLE);
	expect(judge_beside(&load, TL_ATOMICITY_MIXED, &store, &changed), TL_POSSIBLE);
	expect(judge(side(&load, TL_ATOMICITY_PLAIN), side(&store, TL_ATOMICITY_MIXED), &changed),
	       TL_LIKELY);
	expect(judge(side(&load, TL_ATOMICITY_ORDERED), stored, &changed), TL_LIKELY);
	load.traits |= TL_TRAIT_UNOPTIMISED;
	expect(judge(unknown, stored, &changed), TL_LIKELY);
}

/* The halves of a lock by hand are accessed alone and together, atomically. */
static void test_sizes(void **state)
{
	struct tl_access half = plain(TL_WRITE), whole = plain(TL_READ);

	(void)state;
	half.length = 4;
	/* So is a lock given back that others look at as a whole. */
	expect(judge_unknown(&whole, &half, &unseen), TL_POSSIBLE);
	expect(judge_beside(&whole, TL_ATOMICITY_VOLATILE, &half, &unseen), TL_LIKELY);
	expect(judge(side(&whole, TL_ATOMICITY_MIXED), side(&half, TL_ATOMICITY_MIXED), &unseen),
	       TL_POSSIBLE);
	expect(judge(side(&whole, TL_ATOMICITY_MIXED), side(&half, TL_ATOMICITY_PLAIN), &unseen),
	       TL_LIKELY);
	half.access = TL_READ;
	whole.access = TL_WRITE;
	/* Who has a lock stores all of it while others wait for a part. */
	expect(judge_unknown(&whole, &half, &unseen), TL_POSSIBLE);
	expect(judge(side(&whole, TL_ATOMICITY_ORDERED), side(&half, TL_ATOMICITY_ORDERED),
		     &unseen),
	       TL_POSSIBLE);
	expect(judge_beside(&half, TL_ATOMICITY_VOLATILE, &whole, &unseen), TL_LIKELY);
	/* Of two stores one undoes the other. */
	half.access = TL_WRITE;
	expect(judge_unknown(&whole, &half, &unseen), TL_LIKELY);
}

/* The pointer to the virtual functions of its class, as a destructor begins. */
static void test_class_kept(void **state)
{
	struct tl_access load = plain(TL_READ), store = plain(TL_WRITE);

	(void)state;
	expect(judge_beside(&load, TL_ATOMICITY_PLAIN, &store, &unseen), TL_LIKELY);
	store.traits |= TL_TRAIT_CLASS_KEPT;
	expect(judge_beside(&load, TL_ATOMICITY_PLAIN, &store, &unseen), TL_POSSIBLE);
}

/* It still stands before its store: nothing is released yet. */
static void test_not_made_yet(void **state)
{
	struct tl_access store = plain(TL_WRITE), clear = vector(TL_WRITE);

	(void)state;
	store.before = true;
	expect(judge_unknown(&store, &clear, &in_order), TL_DEFINITE);
}

static void test_hidden(void **state)
{
	struct tl_access load = plain(TL_READ), store = plain(TL_WRITE), guess = store,
			 push = store;
	struct rule_side libc = side(&store, TL_ATOMICITY_UNKNOWN);

	(void)state;
	guess.access |= TL_GUESSED;
	push.traits |= TL_TRAIT_STACK;
	libc.code = (struct rule_code){"/lib/libc.so.6", "pthread_mutex_unlock", NULL};
	expect_hidden(judge(side(&load, TL_ATOMICITY_PLAIN), side(&guess, TL_ATOMICITY_PLAIN),
			    &in_order),
		      "hidden-guessed");
	expect_hidden(judge(side(&load, TL_ATOMICITY_PLAIN), side(&push, TL_ATOMICITY_PLAIN),
			    &in_order),
		      "hidden-call-stack");
	expect_hidden(judge(side(&load, TL_ATOMICITY_PLAIN), libc, &in_order), "hidden-libc");
	libc.code.module = "/usr/lib/x86_64-linux-musl/libc.so"; /* musl's, as Debian has it */
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

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"

/* A load of more than a string needs may not have touched what was written. */
static void test_unbounded(void **state)
{
	struct tl_access load = vector(TL_READ), store = plain(TL_WRITE);
	struct rule_side first = side(&load, TL_ATOMICITY_UNKNOWN);

	(void)state;
	first.code = (struct rule_code){LIBC, "__strlen_avx2", "__strlen_avx2"};
	expect(judge(first, side(&store, TL_ATOMICITY_PLAIN), &in_order), TL_DEFINITE);
	load.traits |= TL_TRAIT_UNBOUNDED;
	expect(judge(first, side(&store, TL_ATOMICITY_PLAIN), &in_order), TL_POSSIBLE);
}

static void test_not_taken(void **state)
{
	struct tl_access load = plain(TL_READ), store = plain(TL_WRITE);

	(void)state;
	expect(judge(side(&load, TL_ATOMICITY_PLAIN), side(&store, TL_ATOMICITY_PLAIN), &in_order),
	       TL_LIKELY);
	load.traits |= TL_TRAIT_NOT_TAKEN;
	expect_hidden(judge(side(&load, TL_ATOMICITY_PLAIN), side(&store, TL_ATOMICITY_PLAIN),
			    &in_order),
		      "hidden-not-taken");
}

/* A word is loaded for the bit-field in it, and the other thread writes what stands beside. */
static void test_discarded(void **state)
{
	struct tl_access load = plain(TL_READ), store = plain(TL_WRITE), copy = vector(TL_WRITE);
	struct rule_side first = side(&load, TL_ATOMICITY_PLAIN);
	struct rule_side second = side(&store, TL_ATOMICITY_PLAIN);
	struct verdict verdict;

	(void)state;
	load.traits |= TL_TRAIT_DISCARDED;
	verdict = judge(first, second, &in_order);
	expect(verdict, TL_POSSIBLE);
	rules_rank(&first, &second, &verdict);
	assert_int_equal(verdict.rank, 85);
	assert_int_equal(verdict.evidence_count, 1);
	expect(judge(side(&copy, TL_ATOMICITY_UNKNOWN), first, &in_order), TL_POSSIBLE);
	load.traits &= ~TL_TRAIT_DISCARDED;
	expect(judge(side(&copy, TL_ATOMICITY_UNKNOWN), first, &in_order), TL_DEFINITE);
	/* A store of the elements that a mask chooses. */
	copy.traits |= TL_TRAIT_DISCARDED;
	expect(judge(side(&copy, TL_ATOMICITY_UNKNOWN), first, &in_order), TL_POSSIBLE);
	copy.access = TL_READ;
	verdict = judge(side(&copy, TL_ATOMICITY_UNKNOWN), second, &in_order);
	assert_non_null(strstr(verdict.evidence[0], "vector that is loaded"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_not_taken),
		cmocka_unit_test(test_discarded),
		cmocka_unit_test(test_released),
		cmocka_unit_test(test_released_by_half),
		cmocka_unit_test(test_lock_is_no_plain_access),
		cmocka_unit_test(test_atomic_by_the_source),
		cmocka_unit_test(test_whole_vectors),
		cmocka_unit_test(test_released_in_doubt),
		cmocka_unit_test(test_not_made_yet),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_unbounded),
		cmocka_unit_test(test_sent),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_released_by_update),
		cmocka_unit_test(test_attempt),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_atomic_library),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_class_kept),
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_no_rank),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
