/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/die.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PARTS_MAX 65536u

const char *symbol_die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr_integrate(die, DW_AT_name, &attribute));
}

const char *symbol_die_linkage(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		return dwarf_formstring(&attribute);
	return NULL;
}

const char *symbol_die_producer(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;

	return dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));
}

int symbol_die_type(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;

	if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) ||
	    !dwarf_formref_die(&attribute, type))
		return -ENOENT;
	return 0;
}

uint64_t symbol_die_value(Dwarf_Die *die, unsigned name, uint64_t missing)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr_integrate(die, name, &attribute) ||
	    dwarf_formudata(&attribute, &value) != 0)
		return missing;
	return value;
}

bool symbol_die_flag(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attribute;
	bool flag = false;

	return dwarf_attr_integrate(die, name, &attribute) &&
	       dwarf_formflag(&attribute, &flag) == 0 && flag;
}

/* Take out "/./" and "/x/../", as text: what the compiler was told, not where links lead. */
static void collapse(char *path)
{
	char *read = path, *write = path;

	while (*read) {
		if (strncmp(read, "/./", 3) == 0) {
			read += 2;
		} else if ((strncmp(read, "/../", 4) == 0 || strcmp(read, "/..") == 0) &&
			   write > path) {
			char *back = write;

			while (back > path && *--back != '/')
				;
			if (*back != '/' || strncmp(back, "/..", 3) == 0) {
				*write++ = *read++;
				continue;
			}
			write = back;
			read += 3;
		} else {
			*write++ = *read++;
		}
	}
	*write = 0;
}

void symbol_die_absolute(Dwarf_Die *unit, const char *file, char *path, size_t size)
{
	Dwarf_Attribute attribute;
	const char *directory = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));

	while (file[0] == '.' && file[1] == '/')
		file += 2;
	if (file[0] == '/' || !directory)
		snprintf(path, size, "%s", file);
	else
		snprintf(path, size, "%s/%s", directory, file);
	collapse(path);
}

bool symbol_die_declared(Dwarf_Die *die, char *path, size_t size, unsigned *line)
{
	const char *file = dwarf_decl_file(die);
	int number = 0;
	Dwarf_Die unit;

	path[0] = 0;
	*line = 0;
	if (!file || !dwarf_diecu(die, &unit, NULL, NULL))
		return false;
	symbol_die_absolute(&unit, file, path, size);
	if (dwarf_decl_line(die, &number) == 0 && number > 0)
		*line = (unsigned)number;
	return true;
}

int symbol_die_part(Dwarf_Die *function, Dwarf_Addr address, Dwarf_Addr *start, Dwarf_Addr *end)
{
	Dwarf_Addr base;
	ptrdiff_t offset = 0;

	for (unsigned i = 0; i < PARTS_MAX; i++) {
		offset = dwarf_ranges(function, offset, &base, start, end);
		if (offset <= 0)
			break;
		if (address >= *start && address < *end)
			return 0;
	}
	return -ENOENT;
}

int symbol_die_entry(Dwarf_Die *function, Dwarf_Addr *entry, Dwarf_Addr *end)
{
	Dwarf_Addr base, low, high;

	if (dwarf_entrypc(function, entry) != 0 &&
	    dwarf_ranges(function, 0, &base, entry, &high) <= 0)
		return -ENOENT;
	if (symbol_die_part(function, *entry, &low, end) < 0)
		*end = *entry;
	return 0;
}

uint64_t symbol_die_size(Dwarf_Die *type)
{
	Dwarf_Word size;

	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}
