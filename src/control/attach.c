/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that started us for itself (src/agent/companion.c): it was running before, perhaps with
 * many threads, and is no child of ours. Its processes still announce themselves in the area, which
 * it made; we end when the last of them has.
 */
#include "control/linger.h"
#include "control/attach.h"
#include "control/state.h"
#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>

#define ANNOUNCE_PATIENCE (20 * SECOND) /* for the first announcement */

bool attach_is_over(struct control *control)
{
	if (!control->program.welcomed && !area_is_closed(control->program.area))
		return clock_now() - control->program.started > ANNOUNCE_PATIENCE ||
		       (kill(control->program.root, 0) && errno == ESRCH);
	return linger_is_over(control);
}
