/* SPDX-License-Identifier: Apache-2.0 */
/* An area that cannot be made ends nobody. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

#include "record/area.h"

static void area_is_made(void **state)
{
	struct area *area;
	int fd;

	(void)state;
	assert_int_equal(area_create(&area, &fd), 0);
	assert_int_equal(area->size, sizeof(*area));
	area_unmap(area);
	close(fd);
}

/* The kernel would send SIGXFSZ, which ends a process that has no handler for it. */
static void limited_files_are_told(void **state)
{
	struct rlimit before, none;
	struct area *area;
	int fd, err;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	err = area_create(&area, &fd);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(err, -EFBIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(area_is_made),
		cmocka_unit_test(limited_files_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
