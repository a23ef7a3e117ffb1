/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a process that this one traces. */
#ifndef INJECT_MEMORY_H
#define INJECT_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* 0 or -errno. */
int memory_read(pid_t pid, uint64_t address, void *to, size_t length);
int memory_write(pid_t pid, uint64_t address, const void *from, size_t length);

/* Where the program itself may not write: `tid` is stopped by us. Memory there is never both
 * writable and executable, which systems forbid (prctl(2), PR_SET_MDWE; MemoryDenyWriteExecute). */
int memory_write_code(pid_t tid, uint64_t address, const void *from, size_t length);

#endif
