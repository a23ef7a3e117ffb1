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

#define PAGEMAP_PAGE 4096u
#define PAGEMAP_PAGES 64
/* For several questions: a descriptor, to be closed, or -errno. */
int pagemap_open(pid_t pid);
/* Which pages from that of `address` on are in memory, a bit each, at most PAGEMAP_PAGES. Such a
 * one can be read and nothing is made, waited for or asked of anybody. Where that cannot be told:
 * none. */
uint64_t pagemap_present(int fd, uint64_t address, unsigned pages);

#endif
