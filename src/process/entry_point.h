/* SPDX-License-Identifier: Apache-2.0 */
/* Where a process's program begins, by its auxiliary vector: the first instruction, or 0. */
#ifndef PROCESS_ENTRY_POINT_H
#define PROCESS_ENTRY_POINT_H

#include <stdint.h>
#include <sys/types.h>

uint64_t process_entry_point(pid_t pid);

#endif
