/* SPDX-License-Identifier: Apache-2.0 */
/* The program's memory, which may be gone, or closed to the running thread. */
#ifndef REGION_COPY_H
#define REGION_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All of it or false. Async-signal-safe. The kernel copies, which knows every reason why memory
 * cannot be touched, until region_copy_alone(). */
bool region_copy_from(void *to, uintptr_t from, size_t length);
/* As much of it as there is; returns how much. */
size_t region_copy_part(void *to, uintptr_t from, size_t length);
bool region_copy_to(uintptr_t to, const void *from, size_t length);

/* From now on without a system call: a filter of the program's forbids it. Accepted: a page that
 * lies beyond the end of its file raises SIGBUS in the program. */
void region_copy_alone(void);

#endif
