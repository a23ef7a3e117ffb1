/* SPDX-License-Identifier: Apache-2.0 */
/* The trapline processes of this machine that watch something, as far as this user may see them. */
#ifndef CLI_CONTROLLERS_H
#define CLI_CONTROLLERS_H

#include "record/area.h"

#include <stdbool.h>
#include <time.h>

struct controller {
	pid_t pid;
	bool parent; /* it runs the program as its child: signals sent to it are for that */
	time_t since;
	char command[256]; /* words, separated by blanks */
	pid_t watched[AREA_PROCESSES];
	unsigned count;
};

/* One after the other. */
typedef void controller_fn(void *context, const struct controller *controller);
void controllers_each(controller_fn *each, void *context);

#endif
