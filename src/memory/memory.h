/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: a watched program's memory as seen from outside. How bytes are read (here), what is
 * mapped where (memory/mapping.h), which block of the heap an address lies in (memory/block.h), and
 * which function the dynamic linker binds a name to (memory/binding.h).
 *
 * Nothing of the program is trusted: each length is checked, and each read may fail. Nothing is
 * kept here and nothing is opened for longer than a call. Runs outside, in whichever process asks:
 * the controller's one thread, the command's, and the reader of files, which is handed memory by
 * its asker.
 *
 * This file: memory, read through a callback so that a copy serves as well as a live process.
 */
#ifndef MEMORY_MEMORY_H
#define MEMORY_MEMORY_H

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
