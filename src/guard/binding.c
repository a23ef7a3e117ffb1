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

/* Is the address an entry in the program that stands for another file's function, as its undefined
 * symbol there says? Then that function is ours, since our library comes first behind the program
 * (preload_put()). */
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
