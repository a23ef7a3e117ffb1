/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel told a process's program as that began: its auxiliary vector (getauxval(3)). */
#ifndef PROCESS_ENTRY_POINT_H
#define PROCESS_ENTRY_POINT_H

#include <stdint.h>
#include <sys/types.h>

uint64_t process_auxiliary(pid_t pid, uint64_t type); /* AT_…; 0: it has none, or is gone */
uint64_t process_entry_point(pid_t pid);	      /* the first instruction, or 0 */

#endif
