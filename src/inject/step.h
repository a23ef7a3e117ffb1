/* SPDX-License-Identifier: Apache-2.0 */
/* What some thread of a process that was entered is stopped for: a few calls, made for it. */
#ifndef INJECT_STEP_H
#define INJECT_STEP_H

#include "inject/inject.h"
#include "inject/remote.h"

/* Called while the thread is stopped; step_in_some_thread() returns what it returns. */
typedef int step_fn(struct injection *injection, struct remote *remote, void *context);

/* Stops some thread for it. -ESRCH: there is none; -ECANCELED: the caller has died. */
int step_in_some_thread(struct injection *injection, step_fn *step, void *context);

/* Notes that a thread was stopped for so many ns. */
void step_note_stop(struct injection *injection, uint64_t length);

#endif
