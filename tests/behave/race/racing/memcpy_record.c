/* SPDX-License-Identifier: Apache-2.0 */
/* A record is copied out whole with memcpy() while its owner updates one field. */
#include "../harness.h"

struct record {
	char key[100];
	long hits;
	char value[300];
};

static struct record record;
static volatile size_t record_size = sizeof(struct record);

static void *update(void *arg)
{
	(void)arg;
	while (running()) {
		record.hits += 2; /* RACE a */
		pace_warm();
	}
	return NULL;
}

static void *snapshot(void *arg)
{
	struct record copy;

	(void)arg;
	while (running()) {
		memcpy(&copy, &record, record_size); /* RACE a */
		consume(copy.hits);
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(update, 1);
	harness_start(snapshot, harness_threads - 1);
	return harness_finish();
}
