/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that limit or lock their memory, and use it well. */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include "mistakes.h"

#define PAGED 200
#define SMALL 40000
#define THREADS 8
#define CHILDREN 500

static void use(char **pages, unsigned count, int seconds)
{
	time_t until = time(NULL) + seconds;

	while (time(NULL) < until)
		for (unsigned i = 0; i < count * 64; i++)
			((volatile char *)pages[i % count])[i % 4096]++;
}

/* What blocks on pages of their own stood on is the program's to map, where other blocks have their
 * places in the table. */
static void mapped_where_blocks_were(void)
{
	static char *paged[PAGED], *small[SMALL];
	unsigned mapped = 0;

	for (int i = 0; i < PAGED; i++) {
		paged[i] = checked(hidden(malloc(3000 + i)));
		paged[i][0] = 1;
	}
	for (int i = 0; i < PAGED; i++)
		free(paged[i]);
	mlockall(MCL_CURRENT); /* which not everybody may */
	munlockall();
	for (int i = 0; i < PAGED; i++) {
		uintptr_t page = (uintptr_t)paged[i] & ~(uintptr_t)4095;
		char *own = mmap((void *)page, 4096, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (own != MAP_FAILED)
			paged[mapped++] = own;
	}
	for (int i = 0; i < SMALL; i++)
		small[i] = checked(hidden(malloc(16 + i % 100)));
	if (mapped)
		use(paged, mapped, 4);
	for (int i = 0; i < SMALL; i++)
		free(small[i]);
}

static volatile int stop;

static void *churn(void *argument)
{
	while (!stop)
		for (int i = 0; i < 100; i++) {
			char *block = checked(hidden(malloc(2048)));

			block[2047] = 1;
			free(block);
		}
	return argument;
}

/* A child that libc does not know of may limit itself, whichever locks the others held. */
static void limited_in_bare_children(void)
{
	const struct rlimit limit = {1 << 30, RLIM_INFINITY};
	pthread_t threads[THREADS];
	int status;

	for (int i = 0; i < THREADS; i++)
		require(!pthread_create(&threads[i], NULL, churn, NULL), "thread");
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = _Fork();

		if (!child) {
			/* It ends by itself where it hangs. */
			alarm(20);
			setrlimit(RLIMIT_AS, &limit);
			_exit(0);
		}
		require(child > 0 && waitpid(child, &status, 0) == child && !status,
			"a child's end");
	}
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static const struct test_case cases[] = {
	{"limited_in_bare_children", limited_in_bare_children},
	{"mapped_where_blocks_were", mapped_where_blocks_were},
};

CASES_MAIN(cases)
