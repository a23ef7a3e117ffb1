/* SPDX-License-Identifier: Apache-2.0 */
/* Nanoseconds since 1970 as RFC 3339 text in UTC, and back. */
#ifndef JSONL_TIMESTAMP_H
#define JSONL_TIMESTAMP_H

#include <stdint.h>

#define TIMESTAMP_SIZE 40

/* "2026-11-21T03:37:17.123456789Z" */
void timestamp_format(uint64_t nanoseconds, char text[TIMESTAMP_SIZE]);

/* The same, to whole seconds and readable: "2026-11-21 03:37:17". */
void timestamp_format_short(uint64_t nanoseconds, char text[TIMESTAMP_SIZE]);

/* Accepts "YYYY-MM-DD", with an optional "THH:MM[:SS[.fraction]]" (or a space for the T) and an
 * optional "Z"; always UTC. 0 or -EINVAL. */
int timestamp_parse(const char *text, uint64_t *nanoseconds);

#endif
