/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that -o names: where `trapline` writes what it finds.
 *
 * A path may stand for what somebody else has open: /dev/stdout, /dev/fd/N, a file to which the
 * shell redirected the program's output. Such a file is neither emptied nor replaced, and its mode
 * stays: the program writes to it, too.
 */
#ifndef CLI_OUTPUT_FILE_H
#define CLI_OUTPUT_FILE_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

/* Opens a file that only its owner may read, or what the path of one of our standard descriptors
 * stands for. Its contents stay until output_file_empty(), since the program may turn out not to
 * run. NULL: it was said why. */
FILE *output_file_open(const char *path);
/* False, with errno: the contents are still there. A file that is not regular, or is the program's
 * too, stays as it is. */
bool output_file_empty(FILE *file);
/* Opens the file and empties it at once. NULL, with errno; nothing is said. */
FILE *output_file_open_silently(const char *path);
/* Is one of our standard descriptors open for writing on this file? Then the program, which
 * inherits it, writes to the file, too, behind our lines. */
bool output_file_is_shared(FILE *file);
/* The path, without links, of the regular file that a new one may replace; of a file that does not
 * exist yet, `path` itself. The caller frees it. NULL: the file must be written where it is. */
char *output_file_replaceable(const char *path);
/* Opens a new file beside the old one, mode 0600, to be renamed to `path` when it is complete. So a
 * reader sees all or nothing, and the old contents are lost only when the new ones are whole. NULL
 * with errno; the caller frees *beside, the new file's name. */
FILE *output_file_open_beside(const char *path, char **beside);
/* Puts the new file in the place of the old one, which `old` describes, and gives it that one's
 * mode. False: that failed, or another run has made a new file there since, which is left alone. */
bool output_file_replace(const char *path, const struct stat *old, const char *beside,
			 FILE *stream);

#endif
