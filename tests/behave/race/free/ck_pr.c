/* SPDX-License-Identifier: Apache-2.0 */
/* Concurrency Kit's ck_pr_load, ck_pr_store and friends: inline assembly from a header. */
#include "../harness.h"
#include <ck_pr.h>

static unsigned int clock_ticks;
static uint64_t published;
static int data;
static unsigned int version;

static void *writer(void *arg)
{
	unsigned int turn = (unsigned int)(uintptr_t)arg;

	while (running()) {
		turn++;
		ck_pr_store_uint(&clock_ticks, turn);
		ck_pr_store_64(&published, turn);
		ck_pr_add_int(&data, 1);
		ck_pr_fence_store();
		ck_pr_store_uint(&version, turn);
		pace_hot();
	}
	return NULL;
}

static void *reader(void *arg)
{
	(void)arg;
	while (running()) {
		consume(ck_pr_load_uint(&version));
		ck_pr_fence_load();
		consume(ck_pr_load_uint(&clock_ticks));
		consume(ck_pr_load_64(&published));
		consume(ck_pr_load_int(&data));
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(writer, 1);
	harness_start(reader, harness_threads - 1);
	return harness_finish();
}
