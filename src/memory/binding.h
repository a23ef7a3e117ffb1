/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which function the dynamic linker binds a name to, or a call at its first time. It would look for
 * it through thousands of instructions; here its tables are read (System V ABI, dynamic linking;
 * DT_GNU_HASH). Everything read is the program's, and bounded. Symbol versions are not looked at.
 */
#ifndef MEMORY_BINDING_H
#define MEMORY_BINDING_H

#include "memory/memory.h"

#include <stdbool.h>

#define SYMBOL_BINDING_NAME 64

struct symbol_binding {
	char name[SYMBOL_BINDING_NAME];
	uint64_t address;
	bool indirect; /* `address` is of a function that chooses it (STT_GNU_IFUNC) */
};

/* What `_dl_runtime_resolve` of glibc is entered with: a struct link_map, and the number of the
 * relocation. */
bool symbol_binding_of_call(const struct symbol_memory *memory, uint64_t link_map, uint64_t index,
			    struct symbol_binding *binding);

/* What the program's modules call by that name: of the first in the linker's order that has it. */
bool symbol_binding_of_name(const struct symbol_memory *memory, uint64_t link_map, const char *name,
			    struct symbol_binding *binding);

/* `dynamic`: receives where the dynamic section of the link map's module is. The link map behind
 * it; 0: there is none, and with `*dynamic` 0 none at `link_map` either. */
uint64_t symbol_link_map_next(const struct symbol_memory *memory, uint64_t link_map,
			      uint64_t *dynamic);

/* Each name that the link map's module leaves to others to define, until `tell` returns false.
 * False: its tables cannot be read. */
bool symbol_imports(const struct symbol_memory *memory, uint64_t link_map,
		    bool (*tell)(void *context, const char *name), void *context);

/* The link map of the program itself, by its program headers in memory (AT_PHDR and AT_PHNUM of its
 * auxiliary vector). 0: it has no dynamic linker, or that is loading modules just now. */
uint64_t symbol_link_map(const struct symbol_memory *memory, uint64_t headers, uint64_t count);

#endif
