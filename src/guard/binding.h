/* SPDX-License-Identifier: Apache-2.0 */
/* To whose functions the program's calls go. */
#ifndef GUARD_BINDING_H
#define GUARD_BINDING_H

#include <stdbool.h>

bool binding_is_same_file(const void *a, const void *b);

/*
 * Do the program's calls of the function of this name come to us? No: the program defines one
 * itself. A program that is linked to a fixed address and takes the function's address (as in
 * `release = free`) has an entry of that address in its own file, which the dynamic linker gives
 * out as the function's for everybody; what is called there goes on to us. Asks the dynamic linker.
 */
bool binding_is_ours(const char *name);

#endif
