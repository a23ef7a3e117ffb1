/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_WRONG_OPTION_H
#define CLI_WRONG_OPTION_H

#include <getopt.h>

/*
 * Says what getopt_long() has just refused with `code` ('?' or ':'), and which option was probably
 * meant. getopt_long() must have been asked with a string that begins with ':' after any '+'.
 * Returns STATUS_USAGE.
 */
int wrong_option(const char *command, char *const argv[], const struct option *known, int code);

/* `path` was given to -o or --output. If it names no file, being empty or the -- that was to
 * follow, says so and returns STATUS_USAGE; else STATUS_OK. */
int wrong_output(const char *command, const char *path);

#endif
