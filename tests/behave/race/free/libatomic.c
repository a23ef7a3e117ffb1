/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic objects that are left to libatomic, which has no debug information: of 16 bytes as GCC
 * always leaves them, by vector moves or LOCK CMPXCHG16B as the processor is, of 8 as
 * -fno-inline-atomics tells it to, by an ordinary move and an exchange.
 */
#include "../harness.h"

typedef struct {
	uint64_t count, inverse;
} __attribute__((aligned(16))) pair_t;

static pair_t shared = {0, ~0ull};
static uint64_t last;
static int torn;

static void *writer(void *arg)
{
	for (uint64_t turn = (uintptr_t)arg; running(); turn += 2) {
		pair_t next = {turn, ~turn};

		__atomic_store(&shared, &next, __ATOMIC_RELEASE);
		__atomic_store_n(&last, turn, __ATOMIC_RELEASE);
		pace_hot();
	}
	return NULL;
}

static void *reader(void *arg)
{
	while (running()) {
		pair_t seen;

		consume(__atomic_load_n(&last, __ATOMIC_ACQUIRE));
		__atomic_load(&shared, &seen, __ATOMIC_ACQUIRE);
		if (seen.count != ~seen.inverse)
			__atomic_store_n(&torn, 1, __ATOMIC_RELAXED);
		pace_hot();
	}
	return arg;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 4);
	harness_start(writer, 2);
	harness_start(reader, harness_threads > 2 ? harness_threads - 2 : 1);
	harness_finish();
	return torn;
}
