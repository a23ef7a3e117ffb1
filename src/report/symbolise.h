/* SPDX-License-Identifier: Apache-2.0 */
/* Names for frames that a raw recording holds as module and offset. */
#ifndef REPORT_SYMBOLISE_H
#define REPORT_SYMBOLISE_H

#include "record/finding.h"
#include "symbol/module.h"
#include "symbol/session.h"

struct symboliser;

/* Directories and time bound are those of the symbol session, which must outlive this. 0 or -errno.
 */
int symboliser_create(struct symboliser **symboliser, struct symbol_session *session);
void symboliser_destroy(struct symboliser *symboliser); /* NULL is allowed */

/* Debug information or sources were given, which may tell more than there was when a finding was
 * made: judge those, too, whose frames have their names. */
void symboliser_judge_all(struct symboliser *symboliser);

/* The modules, and where in them the frame's code is; NULL: it is in none that is known. */
struct symbol_modules *symboliser_find(struct symboliser *symboliser,
				       const struct finding_frame *frame, uint64_t *pc);

/*
 * Gives each frame that has a module and no function its function, file and line where they can be
 * had, with frames of inlined functions put in before it, and the finding a new id when any frame
 * got a name. A global is named too, and a data race is judged again (report/judge.h). 0 or
 * -ENOMEM; a module that cannot be found leaves its frames as they are.
 */
int symbolise(struct symboliser *symboliser, struct finding *finding);

#endif
