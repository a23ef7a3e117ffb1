/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_WRONG_OPTION_H
#define CLI_WRONG_OPTION_H

#include <getopt.h>

/*
 * What getopt_long(), asked with a string that begins with ':' after any '+', has just refused with
 * `code` ('?' or ':'): says so, and which option was probably meant. Returns STATUS_USAGE.
 */
int wrong_option(const char *command, char *const argv[], const struct option *known, int code);

/* `path` was given to -o, --output: says so where that names no file, being empty or the -- that
 * was to follow. Returns STATUS_USAGE, else STATUS_OK. */
int wrong_output(const char *command, const char *path);

#endif
