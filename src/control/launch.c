/* SPDX-License-Identifier: Apache-2.0 */
/* Starting the program with the preload library, its environment otherwise untouched. */
#include "control/private.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int set_environment(const struct control *control, const char *library)
{
	const char *user = getenv("LD_PRELOAD");
	char locator[32], *preload;
	int err;

	snprintf(locator, sizeof(locator), "%d:%d", (int)getpid(), control->area_fd);
	if (asprintf(&preload, user && *user ? "%s:%s" : "%s", library, user) < 0)
		return -ENOMEM;
	locator[sizeof(locator) - 1] = '\0';
	err = setenv("LD_PRELOAD", preload, 1) || setenv(AREA_VARIABLE, locator, 1) ? -errno : 0;
	free(preload);
	return err;
}

static void restore_environment(char *user)
{
	unsetenv(AREA_VARIABLE);
	if (user)
		setenv("LD_PRELOAD", user, 1);
	else
		unsetenv("LD_PRELOAD");
	free(user);
}

/* The child waits for the sampling events to be opened on it, then becomes the program. */
static void become(char *const argv[], int ready, int failed, const sigset_t *mask)
{
	char go;
	int err;

	if (read(ready, &go, 1) != 1)
		_exit(127);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	err = errno;
	if (write(failed, &err, sizeof(err)) != sizeof(err))
		_exit(127);
	_exit(127);
}

static int wait_for_exec(int failed)
{
	int err = 0;

	if (read(failed, &err, sizeof(err)) == (ssize_t)sizeof(err))
		return -err;
	return 0;
}

static pid_t fork_child(struct control *control, char *const argv[], int ready[2], int failed[2])
{
	sigset_t all, mask;
	pid_t pid;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	pid = fork();
	if (pid == 0) {
		/* Handlers of ours must not run here, and what we ignore is ours alone. */
		signal(SIGCHLD, SIG_DFL);
		become(argv, ready[0], failed[1], &mask);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	(void)control;
	return pid;
}

pid_t launch(struct control *control, char *const argv[], const char *library)
{
	char *user = getenv("LD_PRELOAD");
	int ready[2], failed[2], err;
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC))
		return -errno;
	if (pipe2(failed, O_CLOEXEC)) {
		err = -errno;
		close(ready[0]);
		close(ready[1]);
		return err;
	}
	user = library && user ? strdup(user) : NULL;
	err = library ? set_environment(control, library) : 0;
	pid = err ? err : fork_child(control, argv, ready, failed);
	if (library)
		restore_environment(user);
	close(ready[0]);
	close(failed[1]);
	if (pid > 0) {
		control->child = pid;
		limits_launch(control, pid);
		if (library && !control->options.lasting &&
		    samples_open(&control->samples, pid, SAMPLE_PERIOD, false))
			control->samples = NULL;
		err = write(ready[1], "", 1) == 1 ? wait_for_exec(failed[0]) : -EPIPE;
		if (err)
			pid = err;
	}
	close(ready[1]);
	close(failed[0]);
	return pid;
}
