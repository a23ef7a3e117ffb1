/* SPDX-License-Identifier: Apache-2.0 */
#include "program/preload.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VARIABLE "LD_PRELOAD"

int preload_put(struct preload *before, const char *library)
{
	const char *user = getenv(VARIABLE);
	char *all = NULL;
	int err = 0;

	before->user = user ? strdup(user) : NULL;
	if ((user && !before->user) ||
	    asprintf(&all, user && *user ? "%s:%s" : "%s", library, user) < 0 ||
	    setenv(VARIABLE, all, 1)) {
		err = -ENOMEM;
		free(before->user);
		before->user = NULL;
	}
	free(all);
	return err;
}

void preload_restore(struct preload *before)
{
	if (before->user)
		setenv(VARIABLE, before->user, 1);
	else
		unsetenv(VARIABLE);
	free(before->user);
	before->user = NULL;
}
