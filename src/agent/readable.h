/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the program hands over, possibly by a wrong pointer: the kernel would answer EFAULT,
 * where a plain access of ours would end the program. Async-signal-safe. */
#ifndef AGENT_READABLE_H
#define AGENT_READABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Copies `length` bytes; returns how many could be read. Where a filter forbids the kernel's help,
 * or the kernel cannot give it, they are read plainly. */
size_t readable_copy(void *to, const void *from, size_t length);

/* Is the signal in this set, of the kernel's format? False for a set that cannot be read. */
bool readable_has_signal(const void *set, int signal);

/* Can `length` bytes, 8 at least, be written there? */
bool readable_is_writable(void *to, size_t length);

/* Copies the first `each` bytes of `count` strings, READABLE_STRINGS at most, one after another.
 * Returns how many could be read. */
#define READABLE_STRINGS 32
size_t readable_beginnings(void *to, char *const strings[], size_t count, size_t each);

/* The length of a string without its final zero, at most `most`. False: no end was found in
 * readable memory. */
bool readable_length(const char *string, size_t most, size_t *length);

/* The number of pointers before the final NULL, at most `most`. False: the array is not readable to
 * its end, or there are more. */
bool readable_count(char *const array[], size_t most, size_t *count);

#endif
