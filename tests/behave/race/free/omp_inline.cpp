// SPDX-License-Identifier: Apache-2.0
// OpenMP's atomic directives in inlined functions and at the head of loops. GCC's loops of LOCK
// CMPXCHG begin with a plain load that has the line of what stands before the directive.
#include "../harness.h"

#include <vector>

template <class T> static inline void add(T &to, T value)
{
#pragma omp atomic
	to += value;
}

template <class T> static inline void scale(T &to, T value)
{
#pragma omp atomic
	to *= value;
}

template <class T> static inline T get(const T &from)
{
	T value;
#pragma omp atomic read
	value = from;
	return value;
}

struct sums {
	double total = 1;
	int count = 0;
	std::vector<double> parts = std::vector<double>(16);

	void note(int i)
	{
		scale(total, 1.0);
		add(count, i);
		add(parts[i & 15], .5);
		scale(parts[(i + 1) & 15], 1.0);
	}

	double sum()
	{
		double all = get(total) + get(count);

		for (size_t i = 0; i < parts.size(); i++)
			all += get(parts[i]);
		return all;
	}
};

static sums global;
static float values[8];

static void *worker(void *arg)
{
	sums *heap = static_cast<sums *>(arg);

	while (running()) {
		for (int i = 0; i < 8; i++) {
#pragma omp atomic
			values[i] *= 1.5f;
		}
		for (auto &value : values)
			scale(value, .5f);
		global.note(harness_turn);
		heap->note(harness_turn);
		consume(static_cast<long>(global.sum() + heap->sum()));
		pace_hot();
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	sums *heap = new sums;

	harness_init(argc, argv, 3);
	for (int i = 0; i < harness_threads; i++)
		pthread_create(&harness_ids[harness_count++], nullptr, worker, heap);
	harness_finish();
	delete heap;
	return 0;
}
