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

/* A file that only its owner may read, or what one of our own standard descriptors stands for. What
 * is in it stays until output_file_empty(): the program may turn out not to run. NULL, and said
 * why. */
FILE *output_file_open(const char *path);
/* False: what was there is there still, and errno says why. What is no regular file, or the
 * program's too, is left as it is. */
bool output_file_empty(FILE *file);
/* Emptied at once, and without a word: NULL with errno. */
FILE *output_file_open_silently(const char *path);
/* Is it one that a standard descriptor of ours is open for writing on? The program writes to it,
 * too, behind what is ours. */
bool output_file_is_shared(FILE *file);
/* The regular file, by a path without links, that a new one may replace; the caller frees it. Of
 * one that is not there yet it is `path` itself. NULL: it must be written to where it is. */
char *output_file_replaceable(const char *path);
/* A new file beside the old one, 0600, to be renamed to `path` when it is complete: a reader sees
 * all or nothing, and what stood there is lost only when what replaces it is whole. NULL with
 * errno; the name in *beside is the caller's to free. */
FILE *output_file_open_beside(const char *path, char **beside);
/* Puts that new one in the place of the old one, of which `old` tells, with its mode. False: it
 * could not be, or another run has made a new file there since, which is left alone. */
bool output_file_replace(const char *path, const struct stat *old, const char *beside,
			 FILE *stream);

#endif
