/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the modules of a process export, as its dynamic linker would find it: by name and version,
 * in the program first and then in its libraries, in the order of their addresses. For an IFUNC
 * the function is told that the process's linker has chosen, where the module that has the IFUNC
 * has a word of its own for the choice.
 *
 * The tables are read from the process's memory, where its own linker reads them: no file is
 * opened. Each is read as a whole before it is used, and is as hostile as a file.
 */
#ifndef GRAFT_EXPORTS_H
#define GRAFT_EXPORTS_H

#include "graft/image.h"
#include "module/module.h"

struct graft_exports;

/* NULL: memory is short. A table of a module that cannot be read counts as empty. `modules` must
 * outlive the result. */
struct graft_exports *graft_exports_read(struct symbol_modules *modules);
void graft_exports_free(struct graft_exports *exports);

/* A graft_resolve_fn; `context`: struct graft_exports. */
int graft_exports_find(void *context, const struct graft_wanted *wanted, uint64_t *address,
		       struct graft_error *error);

#endif
