/* SPDX-License-Identifier: Apache-2.0 */
/* Before anything was allocated the library frees nothing, as it begins. */
#include <stdlib.h>

static char *volatile cache;

__attribute__((constructor(101))) static void forget(void)
{
	free(cache);
	cache = NULL;
}

char *library_cache(void)
{
	if (!cache)
		cache = malloc(40);
	return cache;
}
