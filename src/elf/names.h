/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The symbol tables of one object (.symtab of the debug or program file, .dynsym, .gnu_debugdata),
 * indexed by address and by name.
 */
#ifndef ELF_NAMES_H
#define ELF_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_object;

enum symbol_name_kind {
	SYMBOL_NAME_CODE,
	SYMBOL_NAME_DATA,
	SYMBOL_NAME_TLS,
	SYMBOL_NAME_UNDEFINED, /* of another module; without an address */
	SYMBOL_NAME_KINDS
};

struct symbol_name {
	uint64_t address; /* the file's own; for TLS: offset in the module's TLS block */
	uint64_t size;	  /* 0: not stated */
	const char *name; /* as linked, without any version */
	uint8_t kind;
	bool global;
};

struct symbol_names {
	struct symbol_name *name; /* by kind, then address */
	size_t count;
	size_t first[SYMBOL_NAME_KINDS + 1]; /* index of the first of each kind; last = count */
	uint32_t *order;		     /* by name */
};

/* Read at first use; never NULL except out of memory. */
const struct symbol_names *symbol_object_names(struct symbol_object *object);
/* More of them, whose names are kept by somebody. False: there are none, or no memory. What was
 * found before is no longer valid. */
bool symbol_names_add(struct symbol_object *object, const struct symbol_name *more, size_t count);
/* The symbol whose extent holds `address`; of code the nearest before it if sizes are not stated;
 * or NULL. */
const struct symbol_name *symbol_names_find(const struct symbol_names *names,
					    enum symbol_name_kind kind, uint64_t address);
/* The `index`th of those called `name`, or NULL. */
const struct symbol_name *symbol_names_lookup(const struct symbol_names *names, const char *name,
					      size_t index);
void symbol_names_free(struct symbol_names *names);

#endif
