/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/handed.h"

#include "libc/c_function.h"

#include <string.h>
#include <trapline/event.h>

/* By a part of the name, since there are many variants of each (__memmove_avx_unaligned); the first
 * that fits. */
static const struct {
	const char *part;
	struct handed handed;
} families[] = {
	{"memcpy", {{TL_WRITE, TL_READ}, 2}},
	{"memmove", {{TL_WRITE, TL_READ}, 2}},
	{"mempcpy", {{TL_WRITE, TL_READ}, 2}},
	{"memset", {{TL_WRITE}, 2}},
	{"cpy", {{TL_WRITE, TL_READ}, 0}},
	{"strcat", {{TL_WRITE, TL_READ}, 0}},
	{"strncat", {{TL_WRITE, TL_READ}, 0}},
	{"snprintf", {{TL_WRITE, 0, TL_READ, TL_READ}, 0}},
	{"sprintf", {{TL_WRITE, TL_READ, TL_READ, TL_READ}, 0}},
	{"fprintf", {{0, TL_READ, TL_READ, TL_READ}, 0}},
	{"printf", {{TL_READ, TL_READ, TL_READ, TL_READ}, 0}},
	{"sscanf", {{TL_READ, TL_READ, TL_WRITE, TL_WRITE}, 0}},
	{"strtok", {{TL_WRITE, TL_READ}, 0}},
	{"fgets", {{TL_WRITE}, 0}},
	{"fread", {{TL_WRITE}, 0}},
	{"fwrite", {{TL_READ}, 0}},
	{"puts", {{TL_READ}, 0}},
	{"strdup", {{TL_READ}, 0}},
	{"strndup", {{TL_READ}, 0}},
	{"qsort", {{TL_WRITE}, 0}},
};

struct handed handed_to(struct space *space, uint64_t function)
{
	const char *name = space_function_name(space, function);

	for (size_t i = 0; name && i < sizeof(families) / sizeof(families[0]); i++)
		if (strstr(name, families[i].part))
			return families[i].handed;
	if (name && c_function_find(name))
		return (struct handed){{TL_READ, TL_READ}, 0};
	return (struct handed){{0}, 0};
}
