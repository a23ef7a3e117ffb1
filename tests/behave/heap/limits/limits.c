/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for limits, and for memory that is locked, while it has blocks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#define BLOCKS 100
#define SIZE 3000

static char *blocks[BLOCKS];
static volatile char seen;

static void make(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(SIZE);
		memset(blocks[i], i, SIZE);
	}
}

static int limit_to(rlim_t soft, rlim_t hard)
{
	const struct rlimit limit = {soft, hard};

	return setrlimit(RLIMIT_AS, &limit) ? errno : 0;
}

/* Nothing is wrong here. */
static int lock(void)
{
	make();
	return mlockall(MCL_CURRENT) ? 77 : 0;
}

/* One byte is read behind a block, far enough to lie on another page than it. */
static int read_behind(void)
{
	make();
	seen = blocks[BLOCKS / 2][SIZE + 64];
	return 0;
}

int main(int count, char **argument)
{
	const char *what = count == 2 ? argument[1] : "";

	if (!strcmp(what, "lock"))
		return lock();
	if (!strcmp(what, "refused"))
		return limit_to(2, 1) == EINVAL ? read_behind() : 1;
	if (!strcmp(what, "limited"))
		return limit_to(1ull << 45, RLIM_INFINITY) ? 1 : read_behind();
	return 2;
}
