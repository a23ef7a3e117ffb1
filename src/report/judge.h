/* SPDX-License-Identifier: Apache-2.0 */
/* The class of a data race by what debug information and sources tell that came after it. */
#ifndef REPORT_JUDGE_H
#define REPORT_JUDGE_H

#include "report/symboliser.h"
#include "symbol/variable.h"

/*
 * By the same rules as when it was made (race/rules.h) and by what it keeps of that (race/facts.h):
 * the class rises or falls where more is known of an access now. What is not known now counts as it
 * was. A finding without such facts can only become `likely`. `variable`: what was accessed.
 */
void judge_again(struct symboliser *symboliser, struct finding *finding,
		 const struct symbol_variable *variable);

#endif
