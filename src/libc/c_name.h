/* SPDX-License-Identifier: Apache-2.0 */
/* Names that glibc has for its own functions: __GI_strlen, _IO_puts, __printf_chk. Pure. */
#ifndef LIBC_C_NAME_H
#define LIBC_C_NAME_H

#include <string.h>

/* What stands behind the underscores and the prefixes that follow them. */
static inline const char *c_plain_name(const char *symbol)
{
	const char *name = symbol + strspn(symbol, "_");

	while (name != symbol && (strncmp(name, "GI_", 3) == 0 || strncmp(name, "IO_", 3) == 0)) {
		symbol = name + 2;
		name = symbol + strspn(symbol, "_");
	}
	return name;
}

#endif
