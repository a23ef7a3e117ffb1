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
	bool typed; /* `type` is valid */
	Dwarf_Die type;
	/* Addresses of the functions of that name in the same module, as many as there is room for:
	 * with other parameters, in other scopes, or copies. */
	uint64_t overload[SYMBOL_OVERLOADS]; /* 0: there are no more */
};

/*
 * `qualifier`: NULL, a module ("libc.so.6", a path) or a source file ("net.c"). Debug information
 * is preferred to symbol tables, and variables to functions. Functions of C++ and Rust are named
 * without parameters; outer scopes and arguments of templates may be left out. 0: found; `error` is
 * "", or a sentence if a static one was taken although other files have some. -EAGAIN: no loaded
 * module has it; -ENOENT: the module asked for is loaded and lacks it; `error` then has near names.
 */
int symbol_lookup(struct symbol_modules *modules, const char *qualifier, const char *name,
		  struct symbol_found *found, char error[SYMBOL_ERROR_MAX]);

#endif
