/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/extension.h"

#include "base/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD="
#define PRELOAD_LENGTH (sizeof(PRELOAD) - 1)
#define LOCATOR AREA_VARIABLE "="
#define POINTERS 32 /* read at a time */
#define BYTES 256
#define MAX_PRELOAD 65536 /* bytes of the user's own; more is cut off */

bool agent_can_follow(void)
{
	struct area *area = agent_state.area;

	if (!area || !agent_state.library[0] || area_is_closed(area) || !area->follow)
		return false;
	if (raw_syscall3(SYS_faccessat, AT_FDCWD, (long)agent_state.library, R_OK) == 0)
		return true;
	atomic_fetch_add(&area->unreadable, 1);
	area_ring(area);
	return false;
}

/* How many bytes could be read. Where the kernel does not do it, they are read plainly. */
static size_t peek(void *to, const void *from, size_t length)
{
	ssize_t count = -EPERM;

	if (!agent_state.quiet)
		count = raw_read_memory(raw_getpid(), to, (uintptr_t)from, length);
	if (count >= 0)
		return (size_t)count;
	if (count == -EFAULT)
		return 0;
	memcpy(to, from, length);
	return length;
}

size_t agent_extension_count(char *const environment[])
{
	char *piece[POINTERS];
	size_t count = 0, got, i;

	if (!environment)
		return 0;
	/* Up to the end of a page at a time: an array may end where mapped memory does. */
	for (;;) {
		size_t room = (4096 - ((uintptr_t)&environment[count] & 4095)) / sizeof(char *);

		room = room && room < POINTERS ? room : POINTERS;
		got = peek(piece, &environment[count], room * sizeof(char *)) / sizeof(char *);
		for (i = 0; i < got && piece[i]; i++)
			;
		count += i;
		if (i < room)
			return count;
	}
}

/* Of the string, at most `most` bytes. */
static size_t length_of(const char *string, size_t most)
{
	char piece[BYTES];
	size_t length = 0;

	while (length < most) {
		size_t room = 4096 - ((uintptr_t)(string + length) & 4095), got;

		room = room < BYTES ? room : BYTES;
		got = peek(piece, string + length, room);
		for (size_t i = 0; i < got; i++)
			if (!piece[i])
				return length + i;
		length += got;
		if (got < room)
			return length;
	}
	return most;
}

static bool is_preload(const char *variable)
{
	char name[PRELOAD_LENGTH];

	return peek(name, variable, PRELOAD_LENGTH) == PRELOAD_LENGTH &&
	       memcmp(name, PRELOAD, PRELOAD_LENGTH) == 0;
}

struct agent_extension agent_extension_copy(char *const environment[], size_t count, char **to)
{
	struct agent_extension extension = {0};

	count = count ? peek(to, environment, count * sizeof(char *)) / sizeof(char *) : 0;
	while (extension.count < count && to[extension.count])
		extension.count++;
	while (extension.place < extension.count && !is_preload(to[extension.place]))
		extension.place++;
	if (extension.place < extension.count) {
		extension.user = to[extension.place] + PRELOAD_LENGTH;
		extension.user_size = length_of(extension.user, MAX_PRELOAD);
	}
	return extension;
}

static size_t preload_size(const struct agent_extension *extension)
{
	return PRELOAD_LENGTH + strlen(agent_state.library) + 1 + extension->user_size + 1;
}

size_t agent_extension_size(const struct agent_extension *extension)
{
	return preload_size(extension) + sizeof(LOCATOR) + AREA_LOCATOR;
}

void agent_extension_fill(const struct agent_extension *extension, char **to, char *text)
{
	char *locator = text + preload_size(extension), *end;
	bool has_preload = extension->place < extension->count;

	end = stpcpy(stpcpy(text, PRELOAD), agent_state.library);
	if (extension->user_size) {
		*end++ = ':';
		end += peek(end, extension->user, extension->user_size);
		*end = '\0';
	}
	agent_executed_locator(stpcpy(locator, LOCATOR));
	to[extension->place] = text;
	to[extension->count + (has_preload ? 0 : 1)] = locator;
	to[extension->count + (has_preload ? 1 : 2)] = NULL;
}
