/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a descriptor of this process, also of one that is open for its path alone. */
#ifndef BASE_OWN_PATH_H
#define BASE_OWN_PATH_H

#include <string.h>

#define OWN_PATH "/proc/self/fd/"
#define OWN_PATH_SIZE (sizeof(OWN_PATH) + 12)

/* "/proc/self/fd/12". Async-signal-safe. */
static inline const char *own_path(char path[static OWN_PATH_SIZE], int fd)
{
	char digits[12], *at = path + sizeof(OWN_PATH) - 1;
	int count = 0;

	memcpy(path, OWN_PATH, sizeof(OWN_PATH));
	do {
		digits[count++] = (char)('0' + fd % 10);
		fd /= 10;
	} while (fd > 0);
	while (count > 0)
		*at++ = digits[--count];
	*at = '\0';
	return path;
}

#endif
