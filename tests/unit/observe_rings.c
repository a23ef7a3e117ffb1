/* SPDX-License-Identifier: Apache-2.0 */
/* Records of several CPUs' rings are read in the order in which they were written, also where one
 * ring is looked at before a record is written to it and another after. */
#include "observe/rings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* After those that it needs. */
#include <cmocka.h>

#define DATA 4096

/* As the kernel lays it out, and a record of no kind in particular with its time where rings.h
 * says. */
struct shared {
	struct perf_event_mmap_page page;
	uint8_t data[DATA];
};

struct record {
	struct perf_event_header header;
	uint64_t time, id;
};

static struct shared shared[2];
static struct ring ring[2];
static struct rings rings = {.ring = ring, .count = 2};

static int begin(void **state)
{
	(void)state;
	memset(shared, 0, sizeof(shared));
	for (unsigned i = 0; i < 2; i++) {
		shared[i].page.data_offset = offsetof(struct shared, data);
		shared[i].page.data_size = DATA;
		ring[i] = (struct ring){.page = &shared[i].page};
	}
	return 0;
}

static void write_record(unsigned cpu, uint64_t time)
{
	struct record record = {.header = {.type = PERF_RECORD_COMM, .size = sizeof(record)},
				.time = time};

	memcpy(shared[cpu].data + shared[cpu].page.data_head, &record, sizeof(record));
	shared[cpu].page.data_head += sizeof(record);
}

/* The time of the next record that may be read; 0: none. */
static uint64_t next(uint64_t until)
{
	struct perf_event_header header;
	struct ring *found = rings_earliest(&rings, until, &header);
	struct record record;

	if (!found)
		return 0;
	assert_int_equal(header.size, sizeof(record));
	ring_copy(found, found->tail, &record, sizeof(record));
	found->tail += header.size;
	return record.time;
}

static void in_order(void **state)
{
	(void)state;
	write_record(0, 10);
	write_record(1, 20);
	write_record(0, 30);
	rings_look(&rings);
	assert_int_equal(next(100), 10);
	assert_int_equal(next(100), 20);
	assert_int_equal(next(100), 30);
	assert_int_equal(next(100), 0);
}

/* A look begins at 15: it sees the first ring empty, and in the second what was written since. */
static void written_meanwhile(void **state)
{
	(void)state;
	write_record(1, 12);
	ring_look(&ring[0]);
	write_record(0, 17);
	write_record(1, 20);
	ring_look(&ring[1]);
	assert_int_equal(next(15), 12);
	assert_int_equal(next(15), 0);
	rings_look(&rings);
	assert_int_equal(next(25), 17);
	assert_int_equal(next(25), 20);
}

static void the_last(void **state)
{
	(void)state;
	write_record(0, 40);
	rings_look(&rings);
	assert_int_equal(next(40), 0);
	assert_int_equal(next(UINT64_MAX), 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(in_order, begin),
		cmocka_unit_test_setup(written_meanwhile, begin),
		cmocka_unit_test_setup(the_last, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
