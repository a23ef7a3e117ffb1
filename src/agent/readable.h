/* SPDX-License-Identifier: Apache-2.0 */
/* What the program hands over and may have got wrong: the kernel says EFAULT of it, where a plain
 * access would end the program. Async-signal-safe. */
#ifndef AGENT_READABLE_H
#define AGENT_READABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many bytes could be read. Where a filter forbids the kernel's help, or the kernel has none to
 * give, they are read plainly. */
size_t readable_copy(void *to, const void *from, size_t length);

/* Is the signal in a set as the kernel reads it? Not in one that cannot be read. */
bool readable_has_signal(const void *set, int signal);

/* Can `length` bytes be written there, 8 at least? */
bool readable_is_writable(void *to, size_t length);

/* The first `each` bytes of `count` strings, READABLE_STRINGS at most, one after another: how many
 * could be read together. */
#define READABLE_STRINGS 32
size_t readable_beginnings(void *to, char *const strings[], size_t count, size_t each);

/* Of a string, without its final zero: at most `most`. False: it ends in what cannot be read. */
bool readable_length(const char *string, size_t most, size_t *length);

/* The pointers before the final NULL, at most `most`. False: as above, or there are more. */
bool readable_count(char *const array[], size_t most, size_t *count);

#endif
