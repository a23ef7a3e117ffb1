/* SPDX-License-Identifier: Apache-2.0 */
/* What a function's own parameters and variables are, by name. */
#ifndef DWARF_LOCAL_H
#define DWARF_LOCAL_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>

struct symbol_local {
	bool found;
	bool is_atomic, is_volatile; /* any of that name is, or leads to, such a type */
};

/* Those called `name` in `function`, a subprogram's entry, and in its blocks; not those of
 * functions inlined into it, whose text is elsewhere. */
struct symbol_local symbol_local_find(Dwarf_Die *function, const char *name, size_t length);

#endif
