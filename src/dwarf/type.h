/* SPDX-License-Identifier: Apache-2.0 */
/* Types in debug information: their names, their members by offset and by name, what qualifies
 * them. */
#ifndef DWARF_TYPE_H
#define DWARF_TYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_type_facts {
	bool is_atomic;	  /* _Atomic, std::atomic, core::sync::atomic, or inside one */
	bool is_volatile; /* or inside a volatile object */
	bool is_scalar;	  /* a number, enumeration or pointer */
};

/* Through typedefs and qualifiers to the type itself; collects facts on the way. 0 or -ENOENT. */
int symbol_type_strip(Dwarf_Die *type, struct symbol_type_facts *facts);
/* How its values are read: those of an array as its elements, those of a structure that one member
 * fills as that. Neither where it is unknown. */
struct symbol_type_values {
	bool is_signed, is_pointer;
};
struct symbol_type_values symbol_type_values(Dwarf_Die *type);
/* In C syntax, cut to fit. NULL for void. */
void symbol_type_name(Dwarf_Die *type, char *text, size_t size);
/*
 * The innermost member of `type` at `offset` that holds `size` bytes: appends ".member" and
 * "[index]" to `path`, and leaves its type in *type, its start relative to `type` in *start.
 */
void symbol_type_member_at(Dwarf_Die *type, uint64_t offset, uint64_t size, char *path,
			   size_t path_size, uint64_t *start, struct symbol_type_facts *facts);
struct symbol_type_member {
	uint64_t offset, length; /* bytes; of a bit-field those that it has a bit in */
	Dwarf_Die type;
};
/* The member called `name`, in anonymous members and bases too. 0 or -ENOENT. */
int symbol_type_member_named(Dwarf_Die *type, const char *name, struct symbol_type_member *member);
/* What an array or pointer is of. 0 or -ENOENT. `type` must be stripped. */
int symbol_type_element(Dwarf_Die *type, Dwarf_Die *element);
/* Whether an atomic type (or a volatile one) is anywhere in it, behind pointers too. */
struct symbol_type_facts symbol_type_reaches(Dwarf_Die *type);

#endif
