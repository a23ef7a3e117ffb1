/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/duration.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 1e15
#define MOST_SECONDS 1e9

bool duration_parse(const char *text, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	double number;
	char *rest;

	errno = 0;
	number = strtod(text, &rest);
	if (errno || rest == text || !(number > 0))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double product = number * units[i].ns;

		if (strcmp(rest, units[i].name) != 0 || product < 1 || product > LONGEST)
			continue;
		*ns = (uint64_t)product;
		return true;
	}
	return false;
}

bool duration_parse_seconds(const char *text, uint64_t *ns)
{
	double number;
	char *rest;

	errno = 0;
	number = strtod(text, &rest);
	if (errno || rest == text || *rest || !(number >= 0 && number <= MOST_SECONDS))
		return false;
	*ns = (uint64_t)(number * 1e9);
	return true;
}
