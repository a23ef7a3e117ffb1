/* SPDX-License-Identifier: Apache-2.0 */
/* Strings that a function of the C library is given and reads, whatever else it is asked for. Pure,
 * as c_function.h. */
#ifndef LIBC_C_GIVEN_H
#define LIBC_C_GIVEN_H

#include "memory/memory.h"

#include <stdint.h>

#define C_GIVEN 6 /* arguments in registers */

/* Which arguments are strings of which at least the first byte is read, a bit each: those of
 * puts(), atoi() and the like, and what printf() is to print with %s. `known`: which of `argument`
 * are. `symbol`: also a name of the library's own for it (_IO_puts, __printf_chk). */
unsigned c_given_strings(const char *symbol, const uint64_t argument[C_GIVEN], unsigned known,
			 const struct symbol_memory *memory);

#endif
