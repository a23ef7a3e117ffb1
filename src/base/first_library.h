/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that let no library be loaded before one of their own. */
#ifndef BASE_FIRST_LIBRARY_H
#define BASE_FIRST_LIBRARY_H

#include <stdbool.h>

/* Of the ELF file that is open as `fd`, of 64 bits. Async-signal-safe; what cannot be read needs
 * none. */
bool first_library_is_needed(int fd);

/* Of the file's name, which a folder may stand before, or of a list of such names, as LD_PRELOAD is
 * one. */
bool first_library_is_named(const char *names);

#endif
