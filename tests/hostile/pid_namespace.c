/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With threads running, makes a namespace of process ids for its children: the first one that it
 * executes is process 1 there, and no other process has been.
 */
#include "hostile.h"

#include <sched.h>
#include <spawn.h>

extern char **environ;

int main(void)
{
	char *argv[] = {"sh", "-c", "echo process $$", NULL};
	int status = -1, err;
	pid_t child = -1;

	if (geteuid() != 0)
		return SKIP;
	noise_start();
	nap(300000);
	if (unshare(CLONE_NEWPID))
		return SKIP;
	err = posix_spawn(&child, "/bin/sh", NULL, NULL, argv, environ);
	if (!err)
		waitpid(child, &status, 0);
	say("spawned: %d, status %#x", err, (unsigned)status);
	noise_stop();
	return 0;
}
