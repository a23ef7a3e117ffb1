/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/binding.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

bool binding_is_same_file(const void *a, const void *b)
{
	struct dl_find_object file_a, file_b;

	return _dl_find_object((void *)a, &file_a) == 0 &&
	       _dl_find_object((void *)b, &file_b) == 0 &&
	       file_a.dlfo_link_map == file_b.dlfo_link_map;
}

/* An address that stands for a function of another file: its symbol there is not defined. Of the
 * libraries behind the program ours comes first (preload_put()), so that function is ours. */
static bool is_stand_in(const void *function)
{
	const ElfW(Sym) *symbol = NULL;
	Dl_info info;

	return dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) && symbol &&
	       symbol->st_shndx == SHN_UNDEF;
}

bool binding_is_ours(const char *name)
{
	const void *function = dlsym(RTLD_DEFAULT, name);

	return binding_is_same_file(function, (const void *)binding_is_ours) ||
	       (function && is_stand_in(function));
}
