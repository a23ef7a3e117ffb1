/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of `trapline patch` share: the names of a request become addresses, which go to
 * the thread that listens in the program. */
#ifndef CLI_PATCH_H
#define CLI_PATCH_H

#include "base/patch_request.h"
#include "cli/statistics.h"

#include <stdbool.h>
#include <sys/types.h>

/* Fill in file, text and changes from FIX.so and OLD=NEW… 0, or an exit status after saying why. */
int patch_resolve(pid_t pid, const char *fix, char **changes, int count, bool anyway,
		  struct patch_request *request);

/* Does the process listen for patches? */
bool patch_listens(pid_t pid);

struct patch_manner {
	uint64_t duration; /* ns; 0: no bound */
	bool anyway; /* also where threads that are made later call the old ones for a moment */
	enum statistics_choice stats;
};

/* Applies the request to a process that does not listen: enters it, and patches it until this
 * command is ended or for the duration. Returns an exit status. */
int patch_enter(pid_t pid, const struct patch_request *request, const struct patch_manner *manner);

/* Send the request to process `pid` and print the replies. Returns an exit status. */
int patch_send(pid_t pid, const struct patch_request *request);

#endif
