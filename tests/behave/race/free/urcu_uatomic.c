/* SPDX-License-Identifier: Apache-2.0 */
/* liburcu's uatomic_read, uatomic_set, CMM_LOAD_SHARED and CMM_STORE_SHARED: volatile MOVs. */
#include "../harness.h"
#include <urcu/uatomic.h>
#include <urcu/system.h>

static unsigned long position;
static int mode;
static void *owner;

static void *move(void *arg)
{
	unsigned long turn = (uintptr_t)arg;

	while (running()) {
		uatomic_set(&position, ++turn);
		uatomic_inc(&mode);
		CMM_STORE_SHARED(owner, &position);
		pace_hot();
	}
	return NULL;
}

static void *look(void *arg)
{
	(void)arg;
	while (running()) {
		consume(uatomic_read(&position));
		consume(uatomic_read(&mode));
		consume(CMM_LOAD_SHARED(owner));
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(move, 1);
	harness_start(look, harness_threads - 1);
	return harness_finish();
}
