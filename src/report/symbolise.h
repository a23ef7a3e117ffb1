/* SPDX-License-Identifier: Apache-2.0 */
/* Names for frames that a raw recording holds as module and offset. */
#ifndef REPORT_SYMBOLISE_H
#define REPORT_SYMBOLISE_H

#include "report/symboliser.h"

/*
 * Gives each frame that has a module and no function its function, file and line where they can be
 * had, with frames of inlined functions put in before it, and the finding a new id when any frame
 * got a name. A global is named too, and a data race is judged again (report/judge.h). 0 or
 * -ENOMEM; a module that cannot be found leaves its frames as they are.
 */
int symbolise(struct symboliser *symboliser, struct finding *finding);

#endif
