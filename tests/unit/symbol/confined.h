/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that read files themselves, or through the reader that the environment names: what they
 * find is to be the same. */
#ifndef TESTS_UNIT_SYMBOL_CONFINED_H
#define TESTS_UNIT_SYMBOL_CONFINED_H

#include "reader/open.h"

#include <stdlib.h>

static inline const struct symbol_options *test_options(void)
{
	static struct symbol_options options = {.size = sizeof(options)};

	options.reader = getenv("SYMBOL_TEST_READER");
	return &options;
}

#endif
