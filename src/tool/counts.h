/* SPDX-License-Identifier: Apache-2.0 */
/* One tool's counts: those that it declares, shown from zero on, and others that begin when
 * something is first added to them. No call is lost silently: those whose count found no memory
 * are counted in `lost`. */
#ifndef TOOL_COUNTS_H
#define TOOL_COUNTS_H

#include "control/control.h"

#include <stddef.h>
#include <stdint.h>
#include <trapline/tool.h>

struct tool_counts {
	struct tool_count {
		const char *name, *meaning; /* owned by the tool; valid as long as it is loaded */
		uint64_t value;
	} * count;
	size_t used, capacity;
	uint64_t lost; /* calls whose count found no memory */
};

/* `known` ends with a NULL name; NULL: the tool declares none. */
void tool_counts_begin(struct tool_counts *counts, const struct tl_count *known);
void tool_counts_add(struct tool_counts *counts, const char *name, uint64_t amount);
void tool_counts_each(const struct tool_counts *counts, control_count_fn *each, void *context);
void tool_counts_end(struct tool_counts *counts);

#endif
