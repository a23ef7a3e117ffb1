/* SPDX-License-Identifier: Apache-2.0 */
/* The library with the new functions, as it lies in the process. */
#ifndef PATCH_FIX_H
#define PATCH_FIX_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether [address, address + length) lies in one segment of the object that is mapped with all of
 * `flags` (PF_X, PF_W; elf(5)) and stays so: what is made read-only after relocation does not. */
bool fix_holds(const struct link_map *fix, uintptr_t address, size_t length, unsigned flags);

#endif
