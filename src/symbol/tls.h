/* SPDX-License-Identifier: Apache-2.0 */
/* Where a thread's copy of a module's thread-local variables is. */
#ifndef SYMBOL_TLS_H
#define SYMBOL_TLS_H

#include "module/module.h"

/* Address of the block of `module` in the thread whose thread pointer is `fs_base`.
 * 0, or -ENOENT: the module has none, or the thread has not used it, or it cannot be known. */
int symbol_tls_block(struct symbol_modules *modules, const struct symbol_module *module,
		     uint64_t fs_base, uint64_t *start);

#endif
