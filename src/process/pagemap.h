/* SPDX-License-Identifier: Apache-2.0 */
/* Which pages of a process have content: /proc/PID/pagemap (Linux's Documentation/admin-guide/mm).
 */
#ifndef PROCESS_PAGEMAP_H
#define PROCESS_PAGEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Has each page of the range content, in memory or swapped out? Where that cannot be told: no. */
bool pagemap_is_filled(pid_t pid, uint64_t address, size_t length);

#endif
