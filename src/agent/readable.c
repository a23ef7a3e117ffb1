/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/readable.h"

#include "agent/permitted.h"
#include "base/syscall.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#define PAGE 4096
#define PIECE 512 /* bytes read at a time */

size_t readable_copy(void *to, const void *from, size_t length)
{
	ssize_t count = -EPERM;

	if (permitted(SYS_process_vm_readv) && permitted(SYS_gettid))
		count = raw_read_memory(to, (uintptr_t)from, length);
	if (count >= 0)
		return (size_t)count;
	if (count == -EFAULT)
		return 0;
	memcpy(to, from, length);
	return length;
}

bool readable_has_signal(const void *set, int signal)
{
	uint64_t bits;

	return set && readable_copy(&bits, set, sizeof(bits)) == sizeof(bits) &&
	       bits & 1ull << (signal - 1);
}

/* True where both the first and the last bytes can be written. */
bool readable_is_writable(void *to, size_t length)
{
	uint64_t *last = (uint64_t *)((char *)to + length - sizeof(*last));

	return raw_sigprocmask(SIG_BLOCK, NULL, to) != -EFAULT &&
	       raw_sigprocmask(SIG_BLOCK, NULL, last) != -EFAULT;
}

size_t readable_beginnings(void *to, char *const strings[], size_t count, size_t each)
{
	struct iovec remote[READABLE_STRINGS], local = {to, count * each};
	long got;

	if (count > READABLE_STRINGS || !permitted(SYS_process_vm_readv) || !permitted(SYS_gettid))
		return 0;
	for (size_t i = 0; i < count; i++)
		remote[i] = (struct iovec){strings[i], each};
	got = raw_syscall6(SYS_process_vm_readv, raw_gettid(), (long)&local, 1, (long)remote,
			   (long)count, 0);
	return got > 0 ? (size_t)got / each : 0;
}

/* How many bytes to read next of `from`: up to the end of its page, since a string or an array may
 * end where mapped memory ends. */
static size_t room_at(const void *from)
{
	size_t room = PAGE - ((uintptr_t)from & (PAGE - 1));

	return room < PIECE ? room : PIECE;
}

bool readable_length(const char *string, size_t most, size_t *length)
{
	char piece[PIECE];

	for (*length = 0; *length < most;) {
		size_t room = room_at(string + *length);
		size_t got = readable_copy(piece, string + *length, room);
		const char *end = memchr(piece, 0, got);

		*length += end ? (size_t)(end - piece) : got;
		if (end || got < room)
			return end;
	}
	*length = most;
	return true;
}

bool readable_count(char *const array[], size_t most, size_t *count)
{
	char *piece[PIECE / sizeof(char *)];

	for (*count = 0; *count <= most;) {
		size_t room = room_at(&array[*count]) / sizeof(char *), got, i;

		/* 0 where an unaligned pointer lies in two pages: then that one is read. */
		room = room ? room : 1;
		got = readable_copy(piece, &array[*count], room * sizeof(char *)) / sizeof(char *);
		for (i = 0; i < got && piece[i]; i++)
			;
		*count += i;
		if (i < room)
			return i < got && *count <= most;
	}
	return false;
}
