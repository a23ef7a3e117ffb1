/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the modules of a process export, as its dynamic linker would find it: by name and version,
 * in the program first and then in its libraries by address. An IFUNC is what the process's linker
 * has chosen, where the module that has it keeps that for itself.
 *
 * The tables are those in the process's memory, by which its own linker goes: no file is opened.
 */
#ifndef GRAFT_EXPORTS_H
#define GRAFT_EXPORTS_H

#include "graft/image.h"
#include "module/module.h"

struct graft_exports;

/* NULL: memory is short. Whatever cannot be read of a module exports nothing. */
struct graft_exports *graft_exports_read(struct symbol_modules *modules);
void graft_exports_free(struct graft_exports *exports);

/* A graft_resolve_fn; `context`: struct graft_exports. */
int graft_exports_find(void *context, const struct graft_wanted *wanted, uint64_t *address,
		       struct graft_error *error);

#endif
