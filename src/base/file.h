/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files at paths that a watched program chose: it may put a pipe there that nobody writes to, a
 * device that acts when it is opened, a file whose lease is never given back.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

/* A descriptor (close-on-exec) to read a regular file by, or -errno; -EINVAL: it is something else,
 * which was not opened. Never waits. Async-signal-safe. */
int file_open(const char *path);

#endif
