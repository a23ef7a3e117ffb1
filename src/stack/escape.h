/* SPDX-License-Identifier: Apache-2.0 */
/* A thread is held where the address of a local leaves its frame: which frame is that? */
#ifndef STACK_ESCAPE_H
#define STACK_ESCAPE_H

#include "stack/context.h"

#include <trapline/tool.h>

/* The frame that task->address is in goes to `task`. False: it is not known, or the address is kept
 * in the frame itself or in one that goes before it does. */
bool escape_note_frame(struct space *space, struct task *task, const struct tl_access *access);

#endif
