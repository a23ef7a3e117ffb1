/* SPDX-License-Identifier: Apache-2.0 */
/* Names for frames that a raw recording holds as module and offset. */
#ifndef REPORT_SYMBOLISE_H
#define REPORT_SYMBOLISE_H

#include "record/finding.h"
#include "symbol/session.h"

struct symboliser;

/* Directories and time bound are those of the symbol session, which must outlive this. 0 or -errno.
 */
int symboliser_create(struct symboliser **symboliser, struct symbol_session *session);
void symboliser_destroy(struct symboliser *symboliser); /* NULL is allowed */

/*
 * Gives each frame that has a module and no function its function, file and line where they can be
 * had, with frames of inlined functions put in before it, and the finding a new id when any frame
 * got a name. A global is named too, and a data race of class `possible` becomes `likely` where
 * debug information shows a plain access. 0 or -ENOMEM; a module that cannot be found leaves its
 * frames as they are.
 */
int symbolise(struct symboliser *symboliser, struct finding *finding);

#endif
