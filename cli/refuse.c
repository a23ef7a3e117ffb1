/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/refuse.h"

#include "cli/detect_options.h"
#include "control/control.h"
#include "record/utf8.h"

#include <signal.h>
#include <stdio.h>

bool refuse_process(struct control *control, pid_t pid, const struct detect_options *options)
{
	if (options->pid) {
		control_stop(control);
		return true;
	}
	if (options->program && control_waits(control, pid)) {
		control_signal(control, pid, 0, SIGKILL);
		return true;
	}
	utf8_fprintf(stderr, "trapline: process %d runs unwatched\n", (int)pid);
	return false;
}
