/* SPDX-License-Identifier: Apache-2.0 */
/* What a session counts, by the names that --stats shows: statistics.def. */
#ifndef SESSION_STATISTICS_H
#define SESSION_STATISTICS_H

#include <stdint.h>

struct symbol_session;

enum symbol_statistic {
#define STATISTIC(identifier, name, meaning) SYMBOL_STATISTIC_##identifier,
#include "session/statistics.def"
#undef STATISTIC
	SYMBOL_STATISTIC_COUNT
};

uint64_t symbol_session_statistic(const struct symbol_session *session,
				  enum symbol_statistic statistic);
const char *symbol_statistic_name(enum symbol_statistic statistic);
const char *symbol_statistic_meaning(enum symbol_statistic statistic);

#endif
