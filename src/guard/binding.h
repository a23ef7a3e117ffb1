/* SPDX-License-Identifier: Apache-2.0 */
/* Whose allocation functions the program's calls reach. */
#ifndef GUARD_BINDING_H
#define GUARD_BINDING_H

#include <stdbool.h>

bool binding_is_same_file(const void *a, const void *b);

/*
 * Do the program's calls of the function of this name come to us? False where the program defines
 * the function itself. A program that is linked to a fixed address and takes the function's address
 * (as in `release = free`) has an entry for it in its own file, which the dynamic linker gives to
 * everybody as the function's address; calls of that entry go on to us. Asks the dynamic linker, so
 * not for signal handlers.
 */
bool binding_is_ours(const char *name);

#endif
