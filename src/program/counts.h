/* SPDX-License-Identifier: Apache-2.0 */
/* What the controller counts, for --stats: names and meanings stand in program/counts.def. */
#ifndef PROGRAM_COUNTS_H
#define PROGRAM_COUNTS_H

enum count {
#define COUNT(identifier, name, meaning) COUNT_##identifier,
#include "program/counts.def"
#undef COUNT
	COUNT_COUNT
};

#endif
