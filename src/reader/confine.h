/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader of files gives up before it is handed the first one. */
#ifndef READER_CONFINE_H
#define READER_CONFINE_H

#include <stdbool.h>

/* For good: capabilities, other programs, files to write, memory without bound, being looked at;
 * and all system calls but those that reading takes. `open` is called in place of each call of
 * openat(2), and its descriptor or -errno returned. False: the kernel has no filters for us. */
bool symbol_confine(int (*open)(const char *path));

#endif
