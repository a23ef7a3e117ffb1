/* SPDX-License-Identifier: Apache-2.0 */
/* Durations of the command line: a number and its unit. */
#ifndef CLI_DURATION_H
#define CLI_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* "500us", "10ms", "1.5s": *ns gets 1 ns to a million seconds. False: it is no duration. */
bool duration_parse(const char *text, uint64_t *ns);

/* A number of seconds without a unit, as --duration takes it: *ns gets 0 to a thousand million
 * seconds. */
bool duration_parse_seconds(const char *text, uint64_t *ns);

#endif
