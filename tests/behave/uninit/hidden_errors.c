/* SPDX-License-Identifier: Apache-2.0 */
/* Each case reads bytes that nobody has written, behind others like them that come to nothing. */
#include "cases.h"

/* The padding before the member comes by the same instruction. */
struct padded {
	char kind;
	long value;
};

static NOINLINE void copied_behind_padding(void)
{
	static struct padded copy;
	struct padded *padded = malloc(sizeof(*padded));
	volatile char *to = (volatile char *)&copy;

	HIDE(padded);
	padded->kind = 1;
	HIDE(padded);
	for (size_t i = 0; i < sizeof(copy); i++)
		to[i] = ((const char *)padded)[i];
	if (copy.value > 17)
		touch();
	free(padded);
}

static const struct row rows[] = {
	{"copied_behind_padding", copied_behind_padding},
};

RUN_CASES(rows)
