/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that pass through the same places in memory on their way to different ones: parameters and
 * variables on the stack, elements that change places. Of those that pass, only what comes from
 * make() goes on to `result`. tests/behave/flow/roads.py says which functions are on which road.
 *
 * usage: passing CASE SECONDS
 */
#include "kinds.h"
#include "table.h"

#include <stdlib.h>

/* a table with open addressing, filled by one function */
static APART uint64_t get(uint64_t key)
{
	size_t i = key * 7 % 64;

	while (slots[i].key && slots[i].key != key)
		i = (i + 1) % 64;
	return slots[i].value;
}

static APART void fill_slots(void)
{
	for (uint64_t key = 1; key < 20; key++)
		put(key * 64 + 3, key == 11 ? made : decoy);
}

static APART void finish_slot(void)
{
	result = get(11 * 64 + 3) + 1;
}

static void through_slots(void)
{
	fill_slots();
	finish_slot();
}

/* an array that is reversed in place */
static uint64_t row[9];

static APART void fill_row(void)
{
	for (int i = 0; i < 9; i++)
		row[i] = i == 2 ? made : decoy;
}

static APART void reverse(void)
{
	for (int i = 0, j = 8; i < j; i++, j--) {
		uint64_t held = row[i];

		row[i] = row[j];
		row[j] = held;
	}
}

static APART void finish_row(void)
{
	result = row[6];
}

static void through_reversal(void)
{
	fill_row();
	reverse();
	finish_row();
}

/* sorted by insertion */
static struct pair {
	uint64_t key, value;
} pairs[6];

static APART void fill_pairs(void)
{
	for (uint64_t i = 0; i < 6; i++)
		pairs[i] = (struct pair){(i * 5 + 2) % 6, (i * 5 + 2) % 6 == 3 ? made : decoy};
}

static APART void sort(void)
{
	for (int i = 1; i < 6; i++) {
		struct pair held = pairs[i];
		int j = i;

		for (; j && pairs[j - 1].key > held.key; j--)
			pairs[j] = pairs[j - 1];
		pairs[j] = held;
	}
}

static APART void finish_pairs(void)
{
	result = pairs[3].value;
}

static void through_insertion(void)
{
	fill_pairs();
	sort();
	finish_pairs();
}

/* a structure of two words, which a function returns in two registers */
static uint64_t second, first;

static APART struct pair make_pair(void)
{
	return (struct pair){decoy, made};
}

static APART void take_pair(void)
{
	struct pair pair = make_pair();

	second = pair.value;
	first = pair.key;
}

static APART void finish_second(void)
{
	result = second;
}

static void through_registers(void)
{
	take_pair();
	finish_second();
}

/* the way behind a call that never returns */
static uint64_t checked;

static APART void check(uint64_t value)
{
	uint64_t held = value;

	if (held == UINT64_MAX) {
		held = decoy;
		if (decoy == UINT64_MAX)
			abort();
	}
	checked = held;
}

static APART void check_made(void)
{
	check(made);
}

static APART void finish_checked(void)
{
	result = checked;
}

static void through_check(void)
{
	check_made();
	finish_checked();
}

/* copied twice by memcpy(), from different places */
static unsigned char near[256], between[256], far[256];
static volatile size_t length = 100;

static APART void fill_near(void)
{
	memcpy(near + 8, &decoy, 8);
	memcpy(near + 40, &made, 8);
}

static APART void copy_near(void)
{
	memcpy(between + 16, near, length);
	first++;
}

static APART void copy_between(void)
{
	memmove(far, between + 3, length);
	first++;
}

static APART void finish_far(void)
{
	uint64_t value;

	memcpy(&value, far + 53, 8);
	result = value;
}

static void through_copies(void)
{
	fill_near();
	copy_near();
	copy_between();
	finish_far();
}

static const struct road roads[] = {
	{"slots", through_slots},	  {"reversal", through_reversal},
	{"insertion", through_insertion}, {"registers", through_registers},
	{"check", through_check},	  {"copies", through_copies},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
