/* SPDX-License-Identifier: Apache-2.0 */
/* What some thread of a process that was entered is stopped for: a few calls, made for it. */
#ifndef INJECT_STEP_H
#define INJECT_STEP_H

#include "inject/inject.h"
#include "inject/remote.h"

/* The thread stands. What it returns step_in_some_thread() does. */
typedef int step_fn(struct injection *injection, struct remote *remote, void *context);

/* -ESRCH: there is none; -ECANCELED: the caller has died. */
int step_in_some_thread(struct injection *injection, step_fn *step, void *context);

/* A stop of so many ns. */
void step_note_stop(struct injection *injection, uint64_t length);

#endif
