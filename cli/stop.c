/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline stop`: end the watching of programs, which go on. */
#include "base/syscall.h"
#include "cli/command.h"
#include "cli/controllers.h"
#include "record/utf8.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_MS 30000 /* how long a controller may take for what it still has to tell */

struct stopping {
	pid_t pid; /* of a controller or of what it watches; 0: all */
	unsigned found, failed;
};

static bool is_meant(const struct stopping *stopping, const struct controller *controller)
{
	if (!stopping->pid || stopping->pid == controller->pid)
		return true;
	for (unsigned i = 0; i < controller->count; i++)
		if (controller->watched[i] == stopping->pid)
			return true;
	return false;
}

/* Asks a controller to end and waits until it has. 0, or -errno. */
static int end_controller(pid_t pid)
{
	int process = (int)raw_syscall3(SYS_pidfd_open, pid, 0, 0), err = 0;
	struct pollfd ended = {process, POLLIN, 0};

	if (process < 0)
		return process;
	if (raw_syscall6(SYS_pidfd_send_signal, process, SIGTERM, 0, 0, 0, 0))
		err = -EPERM;
	else if (poll(&ended, 1, PATIENCE_MS) != 1)
		err = -ETIMEDOUT;
	close(process);
	return err;
}

static void stop(void *context, const struct controller *controller)
{
	struct stopping *stopping = context;
	int err;

	if (!is_meant(stopping, controller))
		return;
	stopping->found++;
	if (controller->parent) {
		utf8_fprintf(stderr,
			     "trapline: process %d runs its program in the foreground: they end "
			     "together\n",
			     (int)controller->pid);
		stopping->failed++;
		return;
	}
	err = end_controller(controller->pid);
	if (!err || err == -ESRCH)
		return;
	utf8_fprintf(stderr, "trapline: process %d goes on watching: %s\n", (int)controller->pid,
		     strerror(-err));
	stopping->failed++;
}

static int stop_one(const char *text)
{
	struct stopping stopping = {0};
	char *end;
	long pid = strtol(text, &end, 10);

	if (strcmp(text, "all") != 0) {
		if (*end || end == text || pid <= 0 || pid > INT_MAX) {
			utf8_fprintf(stderr, "trapline: '%s' is no process id, nor `all`\n", text);
			return STATUS_USAGE;
		}
		stopping.pid = (pid_t)pid;
	}
	controllers_each(stop, &stopping);
	if (!stopping.found && stopping.pid)
		utf8_fprintf(stderr,
			     "trapline: process %ld neither watches nor is watched, see "
			     "`trapline list`\n",
			     pid);
	return stopping.failed || (!stopping.found && stopping.pid) ? STATUS_FAILED : STATUS_OK;
}

int command_stop(int argc, char **argv)
{
	int status = STATUS_OK;

	if (argc > 1 && asks_for_help(argv[1])) {
		puts("usage: trapline stop PID… | all\n\n"
		     "End the watching of programs that went into the background, or are watched from\n"
		     "beside: what was found is written, and the programs go on. PID is that of the\n"
		     "process that watches, as `trapline list` shows it, or of one that is watched.");
		return STATUS_OK;
	}
	if (argc < 2 || argv[1][0] == '-') {
		utf8_fprintf(stderr, "trapline: %s%s: which? usage: trapline stop PID… | all\n",
			     "stop ", argc > 1 ? argv[1] : "");
		return STATUS_USAGE;
	}
	for (int i = 1; i < argc; i++) {
		int result = stop_one(argv[i]);

		status = result > status ? result : status;
	}
	return status;
}
