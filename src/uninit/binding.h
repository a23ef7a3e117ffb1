/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which function the dynamic linker will bind at a call's first time. It would look for it through
 * thousands of instructions; here its tables are read (System V ABI, dynamic linking; DT_GNU_HASH).
 * Everything read is the program's, and bounded.
 */
#ifndef UNINIT_BINDING_H
#define UNINIT_BINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BINDING_NAME 64

struct binding_memory {
	int (*read)(void *context, uint64_t address, void *to, size_t length);
	void *context;
};

struct binding {
	char name[BINDING_NAME];
	uint64_t address;
	bool indirect; /* `address` is of a function that chooses it (STT_GNU_IFUNC) */
};

/* What `_dl_runtime_resolve` of glibc is entered with: a struct link_map, and the number of the
 * relocation. Symbol versions are not looked at. */
bool binding_find(const struct binding_memory *memory, uint64_t link_map, uint64_t index,
		  struct binding *binding);

#endif
