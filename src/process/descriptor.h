/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROCESS_DESCRIPTOR_H
#define PROCESS_DESCRIPTOR_H

#include <stdbool.h>
#include <sys/types.h>

/* Is descriptor `number` of process `pid` that of a file, or of a device that forgets what is
 * written to it, and so none that wakes who receives what is written? False where that cannot be
 * told. */
bool process_keeps(pid_t pid, int number);

#endif
