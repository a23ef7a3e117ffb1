/* SPDX-License-Identifier: Apache-2.0 */
/* The race is inside a shared library that the program links; see shared_library.lib.c. */
#include "../harness.h"

void library_record(int size);

static void *caller(void *arg)
{
	while (running()) {
		library_record((int)(intptr_t)arg);
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(caller, harness_threads);
	return harness_finish();
}
