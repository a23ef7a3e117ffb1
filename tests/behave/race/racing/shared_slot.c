/* SPDX-License-Identifier: Apache-2.0 */
/* "Private" slots chosen by index modulo eight: the ninth thread shares the first's. */
#include "../harness.h"

#define SLOTS 8

static struct {
	short depth;
	char padding[62];
} slots[SLOTS];

static void *enter_and_leave(void *arg)
{
	short *depth = &slots[(uintptr_t)arg % SLOTS].depth;

	while (running()) {
		(*depth)++; /* RACE a */
		pace_warm();
		(*depth)--; /* RACE a */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 12);
	harness_start(enter_and_leave, harness_threads);
	return harness_finish();
}
