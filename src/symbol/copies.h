/* SPDX-License-Identifier: Apache-2.0 */
/* Where else a function's code is: what stays as it is when the function's own body is replaced. */
#ifndef SYMBOL_COPIES_H
#define SYMBOL_COPIES_H

#include "module/module.h"

#include <stdbool.h>

#define SYMBOL_COPIES_NAME 128

struct symbol_copies {
	/* the symbol is an IFUNC: its code chooses a function and is not that function */
	bool indirect;
	size_t inlined;			     /* number of places it was inlined at */
	char inlined_in[SYMBOL_COPIES_NAME]; /* the function around the first of them */
	/* number of variants, such as name.constprop.0 and name.isra.0 */
	size_t specialised;
	char specialised_name[SYMBOL_COPIES_NAME];
};

/* Looks for copies of `name`, given as in the symbol table or the source, without scopes. Walks all
 * of the module's debug information, which takes seconds for a large program. 0 or -errno. */
int symbol_copies_find(struct symbol_modules *modules, const struct symbol_module *module,
		       const char *name, struct symbol_copies *copies);

#endif
