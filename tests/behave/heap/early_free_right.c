/* SPDX-License-Identifier: Apache-2.0 */
#include "mistakes.h"

char *library_cache(void);

static void of_nothing(void)
{
	char *block = checked(library_cache());

	require(library_cache() == block, "the library's block");
	block[39] = 1;
}

static const struct test_case cases[] = {{"of_nothing", of_nothing}};

CASES_MAIN(cases)
