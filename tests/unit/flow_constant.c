/* SPDX-License-Identifier: Apache-2.0 */
/* Of which memory it is known that nobody writes there. */
#include "flow/origin_tree.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tool/set.h"

static struct tl_memory memory;
static int error;

void tool_refuse(struct tl_host *host, pid_t pid)
{
	(void)host, (void)pid;
}

static int find_memory(struct tl_host *host, pid_t pid, uint64_t address, struct tl_memory *found)
{
	(void)host, (void)pid, (void)address;
	*found = memory;
	return error;
}

static const struct tl_services services = {.size = sizeof(services), .memory = find_memory};
static struct flow_tree tree = {.services = &services};

static bool is_constant(bool shared, bool writable, int err)
{
	struct flow_value value = {.address = 0x1000, .length = 8};

	memory = (struct tl_memory){
		.start = 0x1000, .end = 0x2000, .shared = shared, .writable = writable};
	error = err;
	return flow_tree_end_constant(&tree, &value) && value.state == FLOW_VALUE_ENDED;
}

static void memory_that_cannot_be_written(void **state)
{
	(void)state;
	assert_true(is_constant(false, false, 0));
	assert_false(is_constant(false, true, 0));
	assert_false(is_constant(false, false, -ENOENT));
}

/* Another process may have mapped it to write. */
static void not_memory_that_is_shared(void **state)
{
	(void)state;
	assert_false(is_constant(true, false, 0));
	assert_false(is_constant(true, true, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_that_cannot_be_written),
		cmocka_unit_test(not_memory_that_is_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
