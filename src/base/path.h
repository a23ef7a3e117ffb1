/* SPDX-License-Identifier: Apache-2.0 */
/* Names of files, as text. Async-signal-safe. */
#ifndef BASE_PATH_H
#define BASE_PATH_H

#include "base/text.h"

#include <stdbool.h>
#include <string.h>

/* A path's last part; NULL of NULL. */
static inline const char *path_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* Is it the file of a C library, or of what such a library has beside it: threads, dynamic linker?
 * False of NULL. The vDSO is the kernel's. Of that very name musl's is installed; glibc's has a
 * text for the linker there. */
static inline bool path_is_c_library(const char *path)
{
	static const char *const stems[] = {"libc.so.", "libc-2.",  "libc.musl-", "ld-linux",
					    "ld-2.",	"ld-musl-", "libpthread", NULL};

	return path && (text_begins_with_any(path_name(path), stems) ||
			strcmp(path_name(path), "libc.so") == 0);
}

#endif
