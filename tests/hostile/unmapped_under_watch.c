/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that threads race on is moved, protected, unmapped and mapped anew by another. */
#include "hostile.h"

#define PAGE 4096

static volatile int *volatile shared;
static int paused, waiting;

static void *race(void *arg)
{
	while (!__atomic_load_n(&noise_over, __ATOMIC_RELAXED)) {
		if (__atomic_load_n(&paused, __ATOMIC_SEQ_CST)) {
			__atomic_fetch_add(&waiting, 1, __ATOMIC_SEQ_CST);
			while (__atomic_load_n(&paused, __ATOMIC_SEQ_CST))
				nap(200);
			__atomic_fetch_sub(&waiting, 1, __ATOMIC_SEQ_CST);
		}
		for (int i = 0; i < 200; i++)
			(*shared)++;
		nap(300);
	}
	return arg;
}

static int *map(void)
{
	int *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	expect(page != MAP_FAILED);
	return page;
}

int main(void)
{
	pthread_t threads[2];

	shared = map();
	for (int i = 0; i < 2; i++)
		expect(pthread_create(&threads[i], NULL, race, NULL) == 0);
	for (int i = 0; i < 100; i++) {
		int *old = (int *)shared;

		nap(40000);
		__atomic_store_n(&paused, 1, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) != 2)
			nap(100);
		if (i % 2 == 0) {
			shared = map();
			expect(munmap(old, PAGE) == 0);
		} else {
			void *place = map();

			shared = mremap(old, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place);
			expect(shared == place);
		}
		expect(mprotect((void *)shared, PAGE, PROT_NONE) == 0);
		expect(mprotect((void *)shared, PAGE, PROT_READ | PROT_WRITE) == 0);
		__atomic_store_n(&paused, 0, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&waiting, __ATOMIC_SEQ_CST) != 0)
			nap(100);
	}
	__atomic_store_n(&noise_over, 1, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		expect(pthread_join(threads[i], NULL) == 0);
	say("100 times elsewhere");
	return 0;
}
