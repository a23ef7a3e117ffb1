/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of `trapline throttle`. */
#ifndef CLI_THROTTLE_OPTIONS_H
#define CLI_THROTTLE_OPTIONS_H

#include "cli/statistics.h"
#include "limit/limit.h"

#include <stdbool.h>
#include <sys/types.h>

struct throttle_command {
	struct limit limit[AREA_LIMITS];
	unsigned limits;
	pid_t pid;	   /* of a running program; 0: start one */
	uint64_t duration; /* ns after which a running program is left again; 0: until Ctrl-C */
	bool patchable;
	bool foreground; /* stay until the last process has ended */
	bool follow;
	enum statistics_choice stats;
	char **program;
};

/* 0; 1 when there is nothing left to do (--help); 2 when it is wrong, and said why. A budget of 0
 * ends a limit. */
int throttle_options_parse(struct throttle_command *command, int argc, char **argv);

/* Name of a counter that can be limited; NULL for others. */
const char *throttle_counter_name(unsigned counter);

#endif
