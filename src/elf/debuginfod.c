/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/debuginfod.h"

#include "base/file.h"
#include "session/asker.h"
#include "session/session.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef void *begin_fn(void);
typedef int find_fn(void *client, const unsigned char *id, int length, char **path);

static uint64_t now_milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* In the child: the library's own limits too, in whole seconds, in case the parent dies. */
static void limit_time(unsigned milliseconds)
{
	char seconds[16];

	snprintf(seconds, sizeof(seconds), "%u", milliseconds / 1000 + 1);
	setenv("DEBUGINFOD_TIMEOUT", seconds, 1);
	setenv("DEBUGINFOD_MAXTIME", seconds, 1);
	unsetenv("DEBUGINFOD_PROGRESS");
	unsetenv("LD_PRELOAD");
}

static _Noreturn void fetch_in_child(const struct symbol_build_id *id, int out)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	begin_fn *begin = library ? (begin_fn *)dlsym(library, "debuginfod_begin") : NULL;
	find_fn *find = library ? (find_fn *)dlsym(library, "debuginfod_find_debuginfo") : NULL;
	void *client = begin ? begin() : NULL;
	char *path = NULL;

	if (client && find && find(client, id->bytes, id->length, &path) >= 0 && path &&
	    write(out, path, strlen(path)) == (ssize_t)strlen(path))
		_exit(0);
	_exit(1);
}

static void become_quiet_child(void)
{
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The path the child writes until it closes the pipe. 0, -ETIMEDOUT, or -ENOENT. */
static int read_path(int in, char *path, size_t size, uint64_t deadline)
{
	size_t length = 0;

	for (;;) {
		uint64_t now = now_milliseconds();
		struct pollfd wait = {in, POLLIN, 0};
		ssize_t got;

		if (now >= deadline)
			return -ETIMEDOUT;
		if (poll(&wait, 1, (int)(deadline - now)) <= 0)
			continue;
		got = read(in, path + length, size - 1 - length);
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	path[length] = 0;
	return length ? 0 : -ENOENT;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
}

static int fetch_path(const struct symbol_build_id *id, char *path, size_t size, unsigned left)
{
	uint64_t deadline = now_milliseconds() + left;
	int pipe_fd[2], error;
	pid_t child;

	if (pipe2(pipe_fd, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child == 0) {
		become_quiet_child();
		limit_time(left);
		fetch_in_child(id, pipe_fd[1]);
	}
	error = child < 0 ? -errno : 0;
	close(pipe_fd[1]);
	if (child > 0) {
		error = read_path(pipe_fd[0], path, size, deadline);
		end_child(child);
	}
	close(pipe_fd[0]);
	return error;
}

static enum symbol_statistic outcome(int error)
{
	if (error == 0)
		return SYMBOL_STATISTIC_DOWNLOADS;
	return error == -ETIMEDOUT ? SYMBOL_STATISTIC_DOWNLOADS_ABANDONED
				   : SYMBOL_STATISTIC_DOWNLOADS_FAILED;
}

int symbol_debuginfod_fetch(struct symbol_session *session, const struct symbol_build_id *id,
			    char **path)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	char found[PATH_MAX];
	uint64_t start = now_milliseconds(), spent;
	int error, fd;

	if (session->asker)
		return session->asker->download(id, path);
	if (!urls || !*urls || id->length == 0)
		return -ENOENT;
	if (session->network_left == 0) {
		symbol_count(session, SYMBOL_STATISTIC_DOWNLOADS_ABANDONED);
		return -ETIMEDOUT;
	}
	error = fetch_path(id, found, sizeof(found), session->network_left);
	spent = now_milliseconds() - start;
	session->network_left -= spent < session->network_left ? (unsigned)spent
							       : session->network_left;
	symbol_count(session, outcome(error));
	if (error)
		return error;
	fd = file_open(found);
	if (fd < 0)
		return fd;
	*path = strdup(found);
	return fd;
}
