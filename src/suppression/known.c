/* SPDX-License-Identifier: Apache-2.0 */
#include "suppression/known.h"

#include "suppression/known_rules.h"

struct suppressions *known_create(void)
{
	struct suppressions *known = suppressions_create();
	struct report_error error;

	if (known && suppressions_parse(known, "known", known_rules, known_rules_size, &error)) {
		suppressions_destroy(known);
		return NULL;
	}
	return known;
}
