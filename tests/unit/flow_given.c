/* SPDX-License-Identifier: Apache-2.0 */
/* Is it still there what the last store that was seen has left? */
#include "flow/from.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tool/set.h"

#define PLACE 0x1000
#define LEFT 0x1122334455667788u

static const struct flow_value place = {.address = PLACE, .length = 8};

void tool_refuse(struct tl_host *host, pid_t pid)
{
	(void)host, (void)pid;
}

static struct tl_access access_of(unsigned kind, uint64_t bytes)
{
	return (struct tl_access){.size = sizeof(struct tl_access),
				  .address = PLACE,
				  .length = 8,
				  .access = kind,
				  .watched_address = PLACE,
				  .watched_length = 8,
				  .watched_value = bytes};
}

static void what_was_left(void **state)
{
	struct tl_access access = access_of(TL_READ, LEFT);

	(void)state;
	assert_true(flow_from_is_left_there(&place, LEFT, 8, &access));
	/* Of a store of which a part is known. */
	assert_true(flow_from_is_left_there(&place, LEFT & 0xffff, 2, &access));
}

/* A store between was not seen. */
static void another_value(void **state)
{
	struct tl_access access = access_of(TL_READ, LEFT + 1);

	(void)state;
	assert_false(flow_from_is_left_there(&place, LEFT, 8, &access));
	assert_false(flow_from_is_left_there(&place, LEFT, 1, &access));
	/* The bytes that differ are not known. */
	access = access_of(TL_READ, LEFT ^ 0xff0000);
	assert_true(flow_from_is_left_there(&place, LEFT, 2, &access));
}

/* What it has read is not known where it has stored as well. */
static void what_tells_nothing(void **state)
{
	struct tl_access access = access_of(TL_READ | TL_WRITE, LEFT + 1);

	(void)state;
	assert_true(flow_from_is_left_there(&place, LEFT, 8, &access));
	access = access_of(TL_READ, LEFT + 1);
	assert_true(flow_from_is_left_there(&place, LEFT, 0, &access));
	access.watched_length = 0;
	assert_true(flow_from_is_left_there(&place, LEFT, 8, &access));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_left),
		cmocka_unit_test(another_value),
		cmocka_unit_test(what_tells_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
