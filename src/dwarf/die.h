/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about one debug information entry, answered through its origins. */
#ifndef DWARF_DIE_H
#define DWARF_DIE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How deep trees and chains of types are followed. */
#define SYMBOL_DIE_DEPTH 64

/* Name and linkage name (mangled) as written; each NULL if there is none. */
const char *symbol_die_name(Dwarf_Die *die);
const char *symbol_die_linkage(Dwarf_Die *die);
/* The compiler that made the unit, in its own words; NULL if it does not say. */
const char *symbol_die_producer(Dwarf_Die *unit);
/* The entry's type. 0 or -ENOENT. */
int symbol_die_type(Dwarf_Die *die, Dwarf_Die *type);
/* An unsigned attribute of the entry or its origin; `missing` without one. */
uint64_t symbol_die_value(Dwarf_Die *die, unsigned attribute, uint64_t missing);
bool symbol_die_flag(Dwarf_Die *die, unsigned attribute);
/* Where it is declared: file path (joined with the compilation directory, into `path`) and line. */
bool symbol_die_declared(Dwarf_Die *die, char *path, size_t size, unsigned *line);
/* `file` made absolute with the unit's compilation directory. */
void symbol_die_absolute(Dwarf_Die *unit, const char *file, char *path, size_t size);
/* Where a function is entered, and the end of the part of it that this is in: one with a cold part
 * has several, the entry's first. 0, or -ENOENT: it has no code. */
int symbol_die_entry(Dwarf_Die *function, Dwarf_Addr *entry, Dwarf_Addr *end);
/* The part of the function that `address` is in. 0 or -ENOENT. */
int symbol_die_part(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Addr *start, Dwarf_Addr *end);
/* Size in bytes of a type, of arrays too. 0: unknown. */
uint64_t symbol_die_size(Dwarf_Die *type);

#endif
