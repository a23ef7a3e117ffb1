/* SPDX-License-Identifier: Apache-2.0 */
/* Locks blocks of the heap (mlock(2)) that it then frees, more in all than it may lock: the
 * allocator unmaps large ones, or has the same memory again for the next. */
#include "hostile.h"

#include <linux/capability.h>

#define LOCKED_MOST (4u << 20)
#define LARGE 600000

/* Who has the capability is not limited. */
static void drop_capability(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];

	expect(syscall(SYS_capget, &header, data) == 0);
	data[0].effective &= ~(1u << CAP_IPC_LOCK);
	data[0].permitted &= ~(1u << CAP_IPC_LOCK);
	expect(syscall(SYS_capset, &header, data) == 0);
}

static void lock_blocks(size_t size, int count)
{
	for (int i = 0; i < count; i++) {
		char *block = malloc(size);

		expect(block && mlock(block, size) == 0);
		memset(block, i, size);
		free(block);
	}
	say("%d of %zu bytes", count, size);
}

int main(void)
{
	const struct rlimit most = {LOCKED_MOST, LOCKED_MOST};

	drop_capability();
	expect(setrlimit(RLIMIT_MEMLOCK, &most) == 0);
	noise_start();
	lock_blocks(LARGE, 100);
	lock_blocks(1000, 5000);
	lock_blocks(LARGE, 100);
	nap(500000);
	noise_stop();
	return 0;
}
