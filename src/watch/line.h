/* SPDX-License-Identifier: Apache-2.0 */
/* A hit as the line that a person reads. */
#ifndef WATCH_LINE_H
#define WATCH_LINE_H

#include "record/finding.h"
#include "watch/wanted.h"

struct watch;

void value_text(const struct wanted *wanted, bool known, uint64_t value, char *text, size_t size);
void line_print(const struct watch *watch, const struct finding *finding,
		const struct wanted *wanted, uint64_t time);

#endif
