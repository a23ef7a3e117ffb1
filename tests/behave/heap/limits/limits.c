/* SPDX-License-Identifier: Apache-2.0 */
/* Asks for limits, and for memory that is locked, while it has blocks. */
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

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

/* Nothing may be locked, however little is: what was freed stays where it is. The block is used
 * after that. */
static int use_freed(void)
{
	const struct rlimit none = {0, 0};
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2] = {{0}};

	make();
	free(blocks[BLOCKS / 2]);
	if (setrlimit(RLIMIT_MEMLOCK, &none) || syscall(SYS_capset, &header, data))
		return 77;
	if (!mlock(blocks[0], SIZE) || errno != EPERM)
		return 1;
	seen = blocks[BLOCKS / 2][0];
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
	if (!strcmp(what, "unlocked"))
		return use_freed();
	return 2;
}
