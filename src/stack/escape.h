/* SPDX-License-Identifier: Apache-2.0 */
/* In which frame does the local lie whose address a held thread is about to hand out? */
#ifndef STACK_ESCAPE_H
#define STACK_ESCAPE_H

#include "stack/context.h"

#include <trapline/tool.h>

/* Notes in `task` the frame that task->address lies in. False: that is not known, or the address is
 * only stored in that frame itself or in a frame that ends before it. */
bool escape_note_frame(struct space *space, struct task *task, const struct tl_access *access);

#endif
