/* SPDX-License-Identifier: Apache-2.0 */
/* Where else a function's code is: what replacing its out-of-line body would leave as it is. */
#ifndef SYMBOL_COPIES_H
#define SYMBOL_COPIES_H

#include "module/module.h"

#include <stdbool.h>

#define SYMBOL_COPIES_NAME 128

struct symbol_copies {
	bool indirect;			     /* the symbol is an IFUNC: a resolver, not the code */
	size_t inlined;			     /* places it was inlined at */
	char inlined_in[SYMBOL_COPIES_NAME]; /* the function around the first of them */
	size_t specialised;		     /* variants: name.constprop.0, name.isra.0, … */
	char specialised_name[SYMBOL_COPIES_NAME];
};

/* `name` as it stands in the symbol table or the source, without scopes. Walks all of the module's
 * debug information: seconds for a large program. 0 or -errno. */
int symbol_copies_find(struct symbol_modules *modules, const struct symbol_module *module,
		       const char *name, struct symbol_copies *copies);

#endif
