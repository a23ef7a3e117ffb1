/* SPDX-License-Identifier: Apache-2.0 */
/* What the watched processes and the controller have used, gathered for src/cost to judge. */
#ifndef CONTROL_ACCOUNT_H
#define CONTROL_ACCOUNT_H

#include "target/target.h"

void account_begin(struct control *control);
void account_open(struct target *target);
void account_collect(struct target *target); /* also at its end */
void account_settle(struct control *control);
/* What came since the last settlement, at the end of a run. */
void account_close(struct control *control);
/* Between two rounds of work: sleeps as long as it must. */
void account_pause(struct control *control);

#endif
