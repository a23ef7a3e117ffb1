/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a program, read through a callback so that a copy serves as well as a live process. */
#ifndef SYMBOL_MEMORY_H
#define SYMBOL_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * `read` copies exactly `length` bytes at `address` and returns 0, or returns -errno having copied
 * any part of them. It must not fault. A NULL `read` means that no memory is known.
 */
struct symbol_memory {
	int (*read)(void *context, uint64_t address, void *to, size_t length);
	void *context;
};

/* The memory of a live process. Opens nothing: usable until the process is gone. */
struct symbol_memory symbol_memory_of_process(pid_t pid);

int symbol_memory_read(const struct symbol_memory *memory, uint64_t address, void *to,
		       size_t length);

#endif
