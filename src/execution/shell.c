/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system(3) and popen(3). libc's own hand on `environ` from within, where nothing of ours could be
 * added but by changing it for every thread; so they are done here, with an environment made for
 * the one child. What they do is what POSIX.1-2024 and the GNU C Library's manual say: during
 * system() SIGINT and SIGQUIT are ignored and SIGCHLD is blocked, it is a point of cancellation;
 * streams of earlier popen() calls are closed in the child, and fclose() of one is pclose().
 *
 * All of a process's calls are done here, whether its children are watched or not, since libc and
 * this file would not know of each other's streams and callers.
 */
#include "base/lock.h"
#include "base/memory.h"
#include "base/syscall.h"
#include "execution/execute.h"
#include "mask/mask.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <trapline/event.h>
#include <unistd.h>

#define SHELL "/bin/sh"
#define NO_SHELL (127 << 8) /* the status where none could be started (system(3)) */
#define PAGE 4096

int libc_sigaction(int signal, const struct sigaction *action,
		   struct sigaction *old) __asm__("__sigaction");

static struct {
	int (*fclose)(FILE *);
	int (*pclose)(FILE *);
} libc;

#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

__attribute__((constructor)) static void resolve(void)
{
	if (libc.fclose)
		return;
	RESOLVE(pclose);
	RESOLVE(fclose);
}

/* `mask` is the kernel's of this thread, to which belongs what it wishes of SIGTRAP. */
static int spawn_shell(pid_t *pid, const char *command, const posix_spawn_file_actions_t *actions,
		       uint64_t mask, const sigset_t *defaults)
{
	char *const argv[] = {(char *)"sh", (char *)"-c", (char *)command, NULL};
	posix_spawnattr_t attributes;
	sigset_t inherited;
	int err;

	sigemptyset(&inherited);
	memcpy(&inherited, &mask, sizeof(mask));
	if (mask_is_blocked())
		sigaddset(&inherited, SIGTRAP);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &inherited);
	posix_spawnattr_setsigdefault(&attributes, defaults);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	err = agent_spawn(pid, SHELL, actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	return err;
}

static int wait_to_end(pid_t pid, int *status)
{
	long waited;

	do
		waited = raw_syscall6(SYS_wait4, pid, (long)status, 0, 0, 0, 0);
	while (waited == -EINTR);
	if (waited == pid)
		return 0;
	errno = waited < 0 ? (int)-waited : ECHILD;
	return -1;
}

/* ------------------------------------------------------------------------------------------- */
/* system() */

/* Calls under way, of which the first and the last change what the signals do. */
static struct {
	struct owner_lock lock;
	unsigned count;
	struct sigaction interrupt, quit; /* as they were before */
} callers;

static void ignore_signals(void)
{
	uint64_t before = owner_lock(&callers.lock);
	struct sigaction ignore;

	memset(&ignore, 0, sizeof(ignore));
	ignore.sa_handler = SIG_IGN;
	if (callers.count++ == 0) {
		libc_sigaction(SIGINT, &ignore, &callers.interrupt);
		libc_sigaction(SIGQUIT, &ignore, &callers.quit);
	}
	owner_unlock(&callers.lock, before);
}

static void restore_signals(void)
{
	uint64_t before = owner_lock(&callers.lock);

	if (--callers.count == 0) {
		libc_sigaction(SIGINT, &callers.interrupt, NULL);
		libc_sigaction(SIGQUIT, &callers.quit, NULL);
	}
	owner_unlock(&callers.lock, before);
}

/* What the shell does not inherit as ignored. */
static sigset_t not_ignored(void)
{
	sigset_t set;

	sigemptyset(&set);
	if (callers.interrupt.sa_handler != SIG_IGN)
		sigaddset(&set, SIGINT);
	if (callers.quit.sa_handler != SIG_IGN)
		sigaddset(&set, SIGQUIT);
	return set;
}

/* The thread was cancelled. */
static void abandon(void *pid)
{
	int status;

	raw_syscall3(SYS_kill, *(pid_t *)pid, SIGKILL, 0);
	wait_to_end(*(pid_t *)pid, &status);
	restore_signals();
}

static int wait_or_abandon(pid_t pid)
{
	int status = -1;

	pthread_cleanup_push(abandon, &pid);
	for (;;) {
		pid_t waited = waitpid(pid, &status, 0);

		if (waited == pid || (waited < 0 && errno != EINTR)) {
			status = waited == pid ? status : -1;
			break;
		}
	}
	pthread_cleanup_pop(0);
	return status;
}

static int run_shell(const char *command)
{
	const uint64_t child_bit = 1ull << (SIGCHLD - 1);
	sigset_t defaults;
	uint64_t before;
	int status, err;
	pid_t pid;

	ignore_signals();
	raw_sigprocmask(SIG_BLOCK, &child_bit, &before);
	defaults = not_ignored();
	err = spawn_shell(&pid, command, NULL, before, &defaults);
	status = err ? NO_SHELL : wait_or_abandon(pid);
	restore_signals();
	raw_sigprocmask(SIG_SETMASK, &before, NULL);
	if (err)
		errno = err;
	return status;
}

TL_API int system(const char *command)
{
	return command ? run_shell(command) : run_shell("exit 0") == 0;
}

/* ------------------------------------------------------------------------------------------- */
/* popen() */

struct stream {
	FILE *file; /* NULL: free */
	pid_t pid;
	int fd;
};

#define PAGE_STREAMS ((PAGE - sizeof(void *)) / sizeof(struct stream))

struct stream_page {
	struct stream_page *next;
	struct stream stream[PAGE_STREAMS];
};

_Static_assert(sizeof(struct stream_page) <= PAGE, "one page");

/* Pages are never given back. */
static struct {
	struct owner_lock lock;
	struct stream_page *pages;
	_Atomic unsigned count;
} streams;

/* The entry of a stream, or a free one for NULL; under the lock. */
static struct stream *find_stream(const FILE *file)
{
	for (struct stream_page *page = streams.pages; page; page = page->next)
		for (unsigned i = 0; i < PAGE_STREAMS; i++)
			if (page->stream[i].file == file)
				return &page->stream[i];
	return NULL;
}

static struct stream *new_stream(void)
{
	struct stream *stream = find_stream(NULL);
	struct stream_page *page;

	if (stream)
		return stream;
	page = page_allocate(PAGE);
	if (!page)
		return NULL;
	page->next = streams.pages;
	streams.pages = page;
	return &page->stream[0];
}

/* The process of a stream, which is no longer known afterwards; 0: it is none of popen()'s. */
static pid_t take_stream(const FILE *file)
{
	struct stream *stream;
	uint64_t before;
	pid_t pid = 0;

	if (!file || !atomic_load(&streams.count))
		return 0;
	before = owner_lock(&streams.lock);
	stream = find_stream(file);
	if (stream) {
		pid = stream->pid;
		stream->file = NULL;
		atomic_fetch_sub(&streams.count, 1);
	}
	owner_unlock(&streams.lock, before);
	return pid;
}

struct mode {
	bool read, write, close_on_exec;
};

static bool read_mode(const char *text, struct mode *mode)
{
	*mode = (struct mode){0};
	for (; *text; text++) {
		if (*text == 'r')
			mode->read = true;
		else if (*text == 'w')
			mode->write = true;
		else if (*text == 'e')
			mode->close_on_exec = true;
		else
			return false;
	}
	return mode->read != mode->write;
}

/* The child's end becomes its descriptor `number`, and earlier streams are closed in it. An end
 * that has that number already would keep its close-on-exec flag: it is moved. */
static int prepare_child(posix_spawn_file_actions_t *actions, int *end, int number)
{
	int moved, err;

	if (*end == number) {
		moved = raw_fcntl(*end, F_DUPFD_CLOEXEC, 0);
		if (moved < 0)
			return -moved;
		raw_close(*end);
		*end = moved;
	}
	err = posix_spawn_file_actions_adddup2(actions, *end, number);
	for (struct stream_page *page = streams.pages; page && !err; page = page->next)
		for (unsigned i = 0; i < PAGE_STREAMS && !err; i++)
			if (page->stream[i].file && page->stream[i].fd != number)
				err = posix_spawn_file_actions_addclose(actions,
									page->stream[i].fd);
	return err;
}

/* Under the lock, with every signal blocked, of which `mask` was before. Returns an error number.
 * The stream's descriptor is closed on exec until no other popen() can hand it on by mistake. */
static int start_stream(FILE *file, int *end, const char *command, const struct mode *mode,
			uint64_t mask)
{
	struct stream *stream = new_stream();
	posix_spawn_file_actions_t actions;
	sigset_t none;
	int err;

	if (!stream)
		return ENOMEM;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	err = prepare_child(&actions, end, mode->read ? STDOUT_FILENO : STDIN_FILENO);
	if (!err)
		err = spawn_shell(&stream->pid, command, &actions, mask, &none);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		return ENOMEM; /* whatever it was: glibc's libio/iopopen.c */
	stream->fd = fileno(file);
	stream->file = file;
	atomic_fetch_add(&streams.count, 1);
	if (!mode->close_on_exec)
		raw_fcntl(stream->fd, F_SETFD, 0);
	return 0;
}

TL_API FILE *popen(const char *command, const char *text)
{
	struct mode mode;
	uint64_t before;
	int ends[2], err;
	FILE *file;

	resolve();
	if (!read_mode(text, &mode)) {
		errno = EINVAL;
		return NULL;
	}
	err = (int)-raw_syscall3(SYS_pipe2, (long)ends, O_CLOEXEC, 0);
	if (err) {
		errno = err;
		return NULL;
	}
	file = fdopen(ends[mode.read ? 0 : 1], mode.read ? "r" : "w");
	if (!file) {
		err = errno;
		raw_close(ends[mode.read ? 0 : 1]);
	} else {
		before = owner_lock(&streams.lock);
		err = start_stream(file, &ends[mode.read ? 1 : 0], command, &mode, before);
		owner_unlock(&streams.lock, before);
	}
	raw_close(ends[mode.read ? 1 : 0]);
	if (!err)
		return file;
	if (file)
		libc.fclose(file);
	errno = err;
	return NULL;
}

static int close_stream(FILE *file, pid_t pid)
{
	int closed = libc.fclose(file), status;

	if (wait_to_end(pid, &status))
		return -1;
	return status ? status : closed;
}

TL_API int pclose(FILE *file)
{
	pid_t pid = take_stream(file);

	resolve();
	return pid ? close_stream(file, pid) : libc.pclose(file);
}

TL_API int fclose(FILE *file)
{
	pid_t pid = take_stream(file);

	resolve();
	return pid ? close_stream(file, pid) : libc.fclose(file);
}
