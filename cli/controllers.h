/* SPDX-License-Identifier: Apache-2.0 */
/* The trapline processes of this machine that watch something, as far as this user may see them. */
#ifndef CLI_CONTROLLERS_H
#define CLI_CONTROLLERS_H

#include "record/area.h"

#include <stdbool.h>
#include <time.h>

struct controller {
	pid_t pid;
	/* it runs the program as its child, so signals sent to it are meant for that */
	bool parent;
	time_t since;
	char command[256]; /* the words of its command, separated by blanks */
	pid_t watched[AREA_PROCESSES];
	unsigned count;
};

/* Called for one controller after the other. */
typedef void controller_fn(void *context, const struct controller *controller);
void controllers_each(controller_fn *each, void *context);

#endif
