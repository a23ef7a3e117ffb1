/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic loads and stores of 16 bytes as GCC 13 and later, Clang and libatomic make them where the
 * processor has AVX: one aligned vector move. Without debug information a structure is copied so.
 */
#include "../harness.h"

typedef uint64_t pair_t __attribute__((vector_size(16)));

static pair_t shared = {0, ~0ull};
static int torn;

static inline pair_t load(const pair_t *from)
{
	pair_t value;

	__asm__ volatile("movdqa %1, %0" : "=x"(value) : "m"(*from) : "memory");
	return value;
}

static inline void store(pair_t *to, pair_t value)
{
	__asm__ volatile("movdqa %1, %0" : "=m"(*to) : "x"(value) : "memory");
}

static void *writer(void *arg)
{
	for (uint64_t turn = (uintptr_t)arg; running(); turn += 2) {
		store(&shared, (pair_t){turn, ~turn});
		pace_hot();
	}
	return NULL;
}

static void *reader(void *arg)
{
	while (running()) {
		pair_t seen = load(&shared);

		if (seen[0] != ~seen[1])
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
	return torn && __builtin_cpu_supports("avx");
}
