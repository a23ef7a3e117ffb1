/* SPDX-License-Identifier: Apache-2.0 */
/* From a source line to the addresses where its code begins. */
#ifndef DWARF_LINE_H
#define DWARF_LINE_H

#include "elf/object.h"

/* `file`: a path or its last parts ("net.c", "src/net.c"). When the line has no code, the next one
 * that has is taken and left in *line. Returns how many addresses (the file's own), at most `max`.
 */
size_t symbol_line_addresses(struct symbol_object *object, const char *file, unsigned *line,
			     uint64_t *addresses, size_t max);
bool symbol_line_same_file(const char *path, const char *asked);

#endif
