/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/handed.h"

#include "libc/c_function.h"

#include <string.h>
#include <trapline/event.h>

/* By a part of the name, since there are many variants of each (__memmove_avx_unaligned). */
static const struct {
	const char *part;
	struct handed handed;
} families[] = {
	{"cpy", {{TL_WRITE, TL_READ}}},	    {"memmove", {{TL_WRITE, TL_READ}}},
	{"strcat", {{TL_WRITE, TL_READ}}},  {"strncat", {{TL_WRITE, TL_READ}}},
	{"memset", {{TL_WRITE, 0}}},	    {"snprintf", {{TL_WRITE, 0}}},
	{"sprintf", {{TL_WRITE, TL_READ}}},
};

struct handed handed_to(struct space *space, uint64_t function)
{
	const char *name = space_function_name(space, function);

	for (size_t i = 0; name && i < sizeof(families) / sizeof(families[0]); i++)
		if (strstr(name, families[i].part))
			return families[i].handed;
	if (name && c_function_find(name))
		return (struct handed){{TL_READ, TL_READ}};
	return (struct handed){{0, 0}};
}
