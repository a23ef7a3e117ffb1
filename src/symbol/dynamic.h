/* SPDX-License-Identifier: Apache-2.0 */
/* What the dynamic linker is told: an object's dynamic symbols, and which of them stands for
 * another's. */
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

/* The dynamic symbols of one object; of a file that may have been made to harm us. */
struct symbol_dynamic {
	struct symbol_table symbol, text;
};

bool symbol_table_find(struct symbol_object *object, const char *section,
		       struct symbol_table *table);
bool symbol_dynamic_find(struct symbol_object *object, struct symbol_dynamic *dynamic);
/* False: there is none of that index, or its name does not end. */
bool symbol_dynamic_at(const struct symbol_dynamic *dynamic, uint64_t index, Elf64_Sym *symbol,
		       const char **name);
/*
 * Where a library's own variable at `address` really is, for the library itself too, when the
 * program defines a symbol of its name: by a copy (R_X86_64_COPY), or one of the program's own.
 * Addresses are the files' own. False: the library has it.
 */
bool symbol_dynamic_bound(struct symbol_object *library, uint64_t address,
			  struct symbol_object *program, uint64_t *bound);

#endif
