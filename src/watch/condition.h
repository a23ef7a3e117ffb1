/* SPDX-License-Identifier: Apache-2.0 */
/* From the text of --if to the steps that evaluate it. */
#ifndef WATCH_CONDITION_H
#define WATCH_CONDITION_H

#include "record/condition.h"

/* C's operators and precedences over `old`, `new` and integers, without assignments, ?: and calls.
 * 0, or -EINVAL with what was wrong in *reason (static text). */
int condition_parse(const char *text, struct condition *condition, const char **reason);

#endif
