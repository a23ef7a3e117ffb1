/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: what DWARF says in one file, at the file's own addresses: units and their functions
 * (here), single entries (dwarf/die.h), lines (dwarf/line.h), types (dwarf/type.h), locations
 * (dwarf/evaluate.h), and the rows that lead from a frame to its caller (dwarf/row.h).
 *
 * Debug information is hostile: trees and chains are followed to SYMBOL_DIE_DEPTH, expressions for
 * a bounded number of steps, and what makes no sense is skipped and counted. Nothing here knows of
 * processes. Runs in the reader of files, or where there is none in the process whose session it
 * is.
 *
 * This file: the compilation units of one object's DWARF, indexed by our own walk: some compilers
 * write no .debug_aranges, and libdw's own search walks a whole unit for every address.
 */
#ifndef DWARF_UNIT_H
#define DWARF_UNIT_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_object;

struct symbol_function {
	uint64_t low, high; /* one contiguous range of its code */
	Dwarf_Off die;
};

/* A variable at a fixed address or TLS offset, or a function, by name. */
struct symbol_entity {
	const char *name;    /* as in the source, without scopes */
	const char *linkage; /* mangled, or NULL */
	uint64_t address;    /* of a variable; TLS offset if tls; low pc of a function */
	uint64_t size;	     /* of a variable; 0 unknown */
	Dwarf_Off die;
	uint32_t unit;
	bool function, tls, external;
};

struct symbol_unit {
	Dwarf_Off die;
	Dwarf *dwarf;	/* that the entries are in: another one for split DWARF; set when indexed */
	Dwarf_Off root; /* the unit's full entry there */
	struct symbol_function *functions; /* by low */
	size_t function_count;
	struct symbol_entity *entities; /* in order of appearance */
	size_t entity_count;
	bool indexed;
	/* Made at first use by the files of their names, each with what frees it in the end. */
	struct symbol_vocabulary *vocabulary;
	void (*vocabulary_free)(struct symbol_vocabulary *vocabulary);
	struct symbol_macros *macros;
	void (*macros_free)(struct symbol_macros *macros);
};

struct symbol_range {
	uint64_t low, high;
	uint32_t unit;
};

struct symbol_units {
	struct symbol_unit *unit;
	size_t count;
	struct symbol_range *ranges; /* by low */
	size_t range_count;
	bool merged; /* variables and order are valid: all units were indexed */
	const struct symbol_entity **variables; /* not TLS, by address */
	size_t variable_count;
	const struct symbol_entity **tls; /* by offset */
	size_t tls_count;
	const struct symbol_entity **named; /* all, by name */
	size_t named_count;
};

/* Read at first use; NULL when the object has no usable DWARF. */
struct symbol_units *symbol_object_units(struct symbol_object *object);
/* The unit with code at `address`, indexed; or NULL. */
struct symbol_unit *symbol_units_find(struct symbol_object *object, uint64_t address);
/* The innermost out-of-line function at `address`. 0 or -ENOENT. */
int symbol_unit_function(const struct symbol_unit *unit, uint64_t address, Dwarf_Die *function);
/* The unit's entry that has the line table, and the one that has the entries. 0 or -ENOENT. */
int symbol_unit_die(struct symbol_object *object, const struct symbol_unit *unit, Dwarf_Die *die);
int symbol_unit_root(const struct symbol_unit *unit, Dwarf_Die *die);
/* The entry of an entity. 0 or -ENOENT. */
int symbol_entity_die(const struct symbol_units *units, const struct symbol_entity *entity,
		      Dwarf_Die *die);
/* Index every unit (takes a while the first time), for variables and names. 0 or -errno. */
int symbol_units_index_all(struct symbol_object *object);
/* The variable whose extent holds `address` (a TLS offset if `tls`), or NULL. */
const struct symbol_entity *symbol_units_variable(const struct symbol_units *units,
						  uint64_t address, bool tls);
/* The `index`th entity called `name`, or NULL. */
const struct symbol_entity *symbol_units_lookup(const struct symbol_units *units, const char *name,
						size_t index);

#endif
