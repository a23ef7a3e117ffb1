/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/background.h"

#include "cli/program.h"
#include "record/utf8.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* How long processes may take that end together with the first, which may wait for one of them. */
#define ENDING_TIME 50000000ull /* ns */

static struct control *stopped_control;

static void on_stop(int signal)
{
	(void)signal;
	control_stop(stopped_control);
}

void background_stop_on(int signal)
{
	struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};

	sigaction(signal, &action, NULL);
}

void background_stop_on_signals(struct control *control)
{
	stopped_control = control;
	background_stop_on(SIGINT);
	background_stop_on(SIGTERM);
}

/* A signal that trapline was started with ignored, as by nohup, stays ignored. */
static void stop_on_unless_ignored(int signal)
{
	struct sigaction action;

	if (!sigaction(signal, NULL, &action) && action.sa_handler != SIG_IGN)
		background_stop_on(signal);
}

void background_stop_in_order(struct control *control)
{
	static const int ending[] = {SIGHUP, SIGQUIT, SIGPIPE};

	background_stop_on_signals(control);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++)
		stop_on_unless_ignored(ending[i]);
}

static void settle_signals(struct control *control)
{
	static const int ignored[] = {SIGQUIT, SIGHUP, SIGUSR1, SIGUSR2};

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	background_stop_on_signals(control);
}

/* A pipe that the copy held open would keep its reader waiting for more. */
static bool is_pipe(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

static void settle_descriptors(bool to_file)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	if (to_file && is_pipe(STDERR_FILENO))
		dup2(null, STDERR_FILENO);
	close(null);
}

/* Runs in the copy. A byte in `ready` tells the other process that it may end. */
static void go_on(struct control *control, const struct background *how, int ready)
{
	if (control_take_over(control))
		fputs("trapline: no clock samples any more: only code is sampled\n", stderr);
	setsid();
	settle_signals(control);
	settle_descriptors(how->to_file);
	if (write(ready, "", 1) != 1)
		_exit(1);
	close(ready);
	control_run_on(control);
}

/* Runs in the process that ends. What else would end with it has passed to the copy. */
static void leave(const struct background *how, unsigned others, pid_t copy, int ready, int status)
{
	char byte;

	if (read(ready, &byte, 1) != 1)
		fputs("trapline: the watching ends here, by an error of its own\n", stderr);
	else if (!how->quiet)
		utf8_fprintf(
			stderr,
			"trapline: %s has ended, %u of its processes %s; process %d watches %s: "
			"`trapline stop %d` ends that\n",
			how->program, others, others == 1 ? "goes on" : "go on", (int)copy,
			others == 1 ? "it" : "them", (int)copy);
	program_end_alike(status);
	_exit(status);
}

bool background_go_on(struct control *control, const struct background *how, int status)
{
	unsigned others = control_others(control);
	int ready[2];
	pid_t copy;

	if (others && !how->foreground) {
		control_run_briefly(control, ENDING_TIME);
		others = control_others(control);
	}
	if (!others)
		return false;
	if (how->foreground || pipe2(ready, O_CLOEXEC)) {
		control_run_on(control);
		return false;
	}
	control_prepare_copy(control);
	fflush(NULL);
	copy = fork();
	if (copy == 0) {
		close(ready[0]);
		go_on(control, how, ready[1]);
		return true;
	}
	close(ready[1]);
	if (copy > 0)
		leave(how, others, copy, ready[0], status);
	close(ready[0]);
	control_run_on(control);
	return false;
}
