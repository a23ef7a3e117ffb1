/* SPDX-License-Identifier: Apache-2.0 */
/* What the controller counts, for --stats: names and meanings stand in process/counts.def. */
#ifndef PROCESS_COUNTS_H
#define PROCESS_COUNTS_H

enum count {
#define COUNT(identifier, name, meaning) COUNT_##identifier,
#include "process/counts.def"
#undef COUNT
	COUNT_COUNT
};

#endif
