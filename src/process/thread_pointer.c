/* SPDX-License-Identifier: Apache-2.0 */
#include "process/thread_pointer.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DESCRIPTOR_MAX 4096u /* bytes from its start to the list's head: 736 in glibc 2.36 */
#define ALIGNMENT 16u	     /* of the thread pointer, by the psABI at least */
#define SELF_OFFSET 16u

static uint64_t word_at(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

/* The nearest below the head: a descriptor holds nothing else that points to itself twice. */
static uint64_t descriptor_below(const uint8_t *bytes, uint64_t start, size_t length)
{
	for (size_t at = length - length % ALIGNMENT; at >= ALIGNMENT;) {
		at -= ALIGNMENT;
		if (at + SELF_OFFSET + sizeof(uint64_t) <= length &&
		    word_at(bytes, at) == start + at &&
		    word_at(bytes, at + SELF_OFFSET) == start + at)
			return start + at;
	}
	return 0;
}

uint64_t thread_pointer(struct space *space, pid_t tid)
{
	uint8_t bytes[DESCRIPTOR_MAX];
	uint64_t head = 0, start, top;
	size_t size = 0, length;

	if (syscall(SYS_get_robust_list, tid, &head, &size) || head < DESCRIPTOR_MAX)
		return 0;
	top = head - head % ALIGNMENT;
	/* What lies before the descriptor's page may not be mapped: as much of it as can be read.
	 */
	for (length = DESCRIPTOR_MAX; length >= ALIGNMENT * 2; length /= 2) {
		start = top - length;
		if (space_read(space, start, bytes, length) == (ssize_t)length)
			return descriptor_below(bytes, start, length);
	}
	return 0;
}
