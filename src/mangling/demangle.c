/* SPDX-License-Identifier: Apache-2.0 */
#include "mangling/demangle.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longer names are shown as they are: the work of demangling can grow faster than the name. */
#define LINKAGE_MAX 8192

typedef char *cxa_demangle_fn(const char *name, char *buffer, size_t *size, int *status);

static cxa_demangle_fn *find_cxa_demangle(void)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
	static cxa_demangle_fn *function;
	static int tried;

	for (size_t i = 0; i < 2 && !tried && !function; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);

		if (library)
			function = (cxa_demangle_fn *)dlsym(library, "__cxa_demangle");
	}
	tried = 1;
	return function;
}

static int demangle_cxx(const char *linkage, char *text, size_t size)
{
	cxa_demangle_fn *demangle = find_cxa_demangle();
	int status = -1;
	char *result = demangle ? demangle(linkage, NULL, NULL, &status) : NULL;

	if (!result)
		return -EINVAL;
	snprintf(text, size, "%s", result);
	free(result);
	return 0;
}

int symbol_demangle(const char *linkage, char *text, size_t size)
{
	snprintf(text, size, "%s", linkage);
	if (strlen(linkage) > LINKAGE_MAX)
		return -EINVAL;
	if (symbol_demangle_rust(linkage, text, size) == 0)
		return 0;
	if (strncmp(linkage, "_Z", 2) == 0 && demangle_cxx(linkage, text, size) == 0)
		return 0;
	snprintf(text, size, "%s", linkage);
	return -EINVAL;
}
