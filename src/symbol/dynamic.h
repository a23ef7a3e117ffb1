/* SPDX-License-Identifier: Apache-2.0 */
/* What an object tells the dynamic linker: its dynamic symbols, and which of them stands for
 * another object's. */
#ifndef SYMBOL_DYNAMIC_H
#define SYMBOL_DYNAMIC_H

#include "elf/object.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_table {
	const uint8_t *bytes;
	size_t length;
};

/* The dynamic symbols of one object. Nothing in them can be trusted: the file may have been made to
 * harm us. */
struct symbol_dynamic {
	struct symbol_table symbol, text;
};

bool symbol_table_find(struct symbol_object *object, const char *section,
		       struct symbol_table *table);
bool symbol_dynamic_find(struct symbol_object *object, struct symbol_dynamic *dynamic);
/* False: there is no symbol of that index, or its name has no end. */
bool symbol_dynamic_at(const struct symbol_dynamic *dynamic, uint64_t index, Elf64_Sym *symbol,
		       const char **name);
/*
 * Where a library's own variable at `address` really is. If the program defines a symbol of its
 * name, as a copy (R_X86_64_COPY) or as a variable of its own, then it is there, for the library's
 * code, too. Addresses are the files' own. False: it is in the library.
 */
bool symbol_dynamic_bound(struct symbol_object *library, uint64_t address,
			  struct symbol_object *program, uint64_t *bound);

#endif
