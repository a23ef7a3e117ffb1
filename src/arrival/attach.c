/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that started us for itself (src/life/companion.c): it was running before, perhaps with
 * many threads, and is no child of ours. Its processes still announce themselves in the area, which
 * it made; we end when the last of them has.
 */
#include "arrival/linger.h"
#include "arrival/attach.h"
#include "base/clock.h"
#include "process/identity.h"

#include <stdatomic.h>

#define ANNOUNCE_PATIENCE (20 * SECOND) /* for the first announcement */

bool attach_is_over(struct linger *linger, struct program *program)
{
	if (!program->welcomed && !area_is_closed(program->area))
		return clock_now() - program->started > ANNOUNCE_PATIENCE ||
		       process_has_ended(program->root);
	return linger_is_over(linger, program);
}
