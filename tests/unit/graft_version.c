/* SPDX-License-Identifier: Apache-2.0 */
/* Which name a needed version's number has, also where the records are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "graft/version.h"

#include <elf.h>

struct records {
	Elf64_Verneed first;
	Elf64_Vernaux of_first[2];
	Elf64_Verneed second;
	Elf64_Vernaux of_second;
};

#define AT(field) offsetof(struct records, field)

static struct records sound(void)
{
	return (struct records){
		.first = {.vn_cnt = 2, .vn_aux = AT(of_first), .vn_next = AT(second)},
		.of_first = {{.vna_other = 2, .vna_name = 20, .vna_next = sizeof(Elf64_Vernaux)},
			     {.vna_other = 3 | 0x8000, .vna_name = 30}},
		.second = {.vn_cnt = 1, .vn_aux = AT(of_second) - AT(second)},
		.of_second = {.vna_other = 4, .vna_name = 40},
	};
}

static uint64_t needed(const struct records *records, uint64_t length, unsigned number)
{
	return version_needed((const uint8_t *)records, length, number);
}

static void test_found(void **state)
{
	struct records records = sound();

	(void)state;
	assert_int_equal(needed(&records, sizeof(records), 2), 20);
	assert_int_equal(needed(&records, sizeof(records), 3), 30);
	assert_int_equal(needed(&records, sizeof(records), 4), 40);
	assert_int_equal(needed(&records, sizeof(records), 5), 0);
}

static void test_cut_off(void **state)
{
	struct records records = sound();

	(void)state;
	assert_int_equal(needed(&records, sizeof(records) - 1, 4), 0);
	assert_int_equal(version_needed(NULL, 0, 2), 0);
	records.first.vn_next = UINT32_MAX;
	assert_int_equal(needed(&records, sizeof(records), 4), 0);
}

/* A library that is looked at is named by its sender: a circle must end, in a bounded time. */
static void test_circle(void **state)
{
	static uint8_t many[1 << 16];
	struct records records = sound();

	(void)state;
	records.of_first[1].vna_next = 0;
	records.first.vn_cnt = UINT16_MAX;
	assert_int_equal(needed(&records, sizeof(records), 5), 0);
	/* What comes behind the circle is not come to. */
	assert_int_equal(needed(&records, sizeof(records), 4), 0);
	/* Every record has no version, and the next one begins a byte later. */
	for (size_t i = 0; i + sizeof(uint32_t) <= sizeof(many); i++)
		many[i] = 1;
	assert_int_equal(version_needed(many, sizeof(many), 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_found),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_circle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
