/* SPDX-License-Identifier: Apache-2.0 */
#include "session/statistics.h"

#include "session/session.h"

#include <stddef.h>

static const struct {
	const char *name;
	const char *meaning;
} statistic_table[] = {
#define STATISTIC(identifier, name, meaning) [SYMBOL_STATISTIC_##identifier] = {name, meaning},
#include "session/statistics.def"
#undef STATISTIC
};

_Static_assert(sizeof(statistic_table) / sizeof(statistic_table[0]) == SYMBOL_STATISTIC_COUNT,
	       "every statistic has a name");

uint64_t symbol_session_statistic(const struct symbol_session *session,
				  enum symbol_statistic statistic)
{
	return (unsigned)statistic < SYMBOL_STATISTIC_COUNT ? session->statistic[statistic] : 0;
}

const char *symbol_statistic_name(enum symbol_statistic statistic)
{
	return (unsigned)statistic < SYMBOL_STATISTIC_COUNT ? statistic_table[statistic].name
							    : NULL;
}

const char *symbol_statistic_meaning(enum symbol_statistic statistic)
{
	return (unsigned)statistic < SYMBOL_STATISTIC_COUNT ? statistic_table[statistic].meaning
							    : NULL;
}
