/* SPDX-License-Identifier: Apache-2.0 */
/* From a name to the variable or function of a loaded module. */
#ifndef SYMBOL_LOOKUP_H
#define SYMBOL_LOOKUP_H

#include "module/module.h"
#include "symbol/expression.h"

#include <elfutils/libdw.h>

#define SYMBOL_OVERLOADS 8

struct symbol_found {
	const struct symbol_module *module;
	uint64_t address; /* in the process; of a TLS variable: offset in its block */
	uint64_t size;	  /* 0: unknown */
	bool function, tls;
	bool typed; /* type is valid */
	Dwarf_Die type;
	/* Where the functions of that name begin, in the same module, as many as there is room for:
	 * those of other parameters or scopes, and copies. */
	uint64_t overload[SYMBOL_OVERLOADS]; /* 0: no more */
};

/*
 * `qualifier`: NULL, a module ("libc.so.6", a path) or a source file ("net.c"). Debug information
 * comes before symbol tables, variables before functions. Functions of C++ and Rust are named
 * without parameters, and need not be with all of their scopes nor with arguments of templates. 0,
 * with a sentence in `error` where a static one was taken although other files have some, else ""
 * there; -EAGAIN: not in any loaded module; -ENOENT: the module asked for is loaded and has no such
 * name. Near names go to `error` then.
 */
int symbol_lookup(struct symbol_modules *modules, const char *qualifier, const char *name,
		  struct symbol_found *found, char error[SYMBOL_ERROR_MAX]);

#endif
