/* SPDX-License-Identifier: Apache-2.0 */
#include "region/copy.h"

#include "base/syscall.h"
#include "region/key.h"
#include "region/stub.h"

static bool alone;

void region_copy_alone(void)
{
	__atomic_store_n(&alone, true, __ATOMIC_RELEASE);
}

/* A fault ends it: region_on_fault(). No page is closed to it that the program may touch. */
static size_t copy(void *to, const void *from, size_t length)
{
	uint32_t rights = region_rights_read();
	size_t left;

	region_rights_write(0);
	left = region_stub_copy(to, from, length);
	region_rights_write(rights);
	return length - left;
}

size_t region_copy_part(void *to, uintptr_t from, size_t length)
{
	ssize_t copied;

	if (__atomic_load_n(&alone, __ATOMIC_ACQUIRE))
		return copy(to, (const void *)from, length);
	copied = raw_read_memory(to, from, length);
	return copied > 0 ? (size_t)copied : 0;
}

bool region_copy_from(void *to, uintptr_t from, size_t length)
{
	return region_copy_part(to, from, length) == length;
}

bool region_copy_to(uintptr_t to, const void *from, size_t length)
{
	struct iovec local = {(void *)from, length};
	struct iovec remote = {(void *)to, length};

	if (__atomic_load_n(&alone, __ATOMIC_ACQUIRE))
		return copy((void *)to, from, length) == length;
	return raw_syscall6(SYS_process_vm_writev, raw_gettid(), (long)&local, 1, (long)&remote, 1,
			    0) == (long)length;
}
