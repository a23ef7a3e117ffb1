/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread's copy of a module's thread-local variables is. */
#ifndef SYMBOL_TLS_H
#define SYMBOL_TLS_H

#include "module/module.h"

/* Finds the block of `module` in the thread whose thread pointer is `fs_base`. 0; -ENOENT: the
 * module has none, the thread has not used it yet, or its place cannot be known. */
int symbol_tls_block(struct symbol_modules *modules, const struct symbol_module *module,
		     uint64_t fs_base, uint64_t *start);

#endif
