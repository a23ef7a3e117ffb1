/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that `trapline patch -p PID` talks to. It takes a table of descriptors of its own,
 * empty but for its sockets, so the program sees no descriptor of ours and may close all of its
 * own. It answers processes of the same user, and root's; others are counted and hung up on.
 */
#include "patch/listen.h"

#include "base/counters.h"
#include "base/syscall.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <trapline/patch.h>
#include <unistd.h>

#define VARIABLE "TRAPLINE_PATCH_LISTEN" /* set by `trapline run` */
#define RETRY_NS 100000000

/* Between tl_patch_listen() and the thread that it makes: `err` is written before `done` is posted.
 */
struct start {
	sem_t done;
	int err; /* 0 or -errno of what the thread has to do before it can be spoken to */
};

/* Written under `lock`. A forked child reads it without, where it has only one thread. */
static bool listening;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned long long own_start_time(void)
{
	FILE *file = fopen("/proc/self/stat", "re");
	char text[1024];
	size_t got = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	if (file)
		fclose(file);
	text[got] = 0;
	return patch_start_time(text);
}

static int open_socket(void)
{
	struct sockaddr_un address;
	socklen_t length = patch_address(&address, raw_getpid(), own_start_time());
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&address, length) && !listen(fd, 4))
		return fd;
	length = (socklen_t)errno;
	close(fd);
	return -(int)length;
}

static bool is_trusted(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) &&
	       (peer.uid == 0 || peer.uid == geteuid());
}

static void answer(int fd)
{
	static struct patch_request request; /* used by the listening thread alone */
	struct timeval patience = {1, 0};
	ssize_t got;

	if (!is_trusted(fd)) {
		counter_increment(COUNTER_PATCH_STRANGERS);
		return;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	memset(&request, 0, sizeof(request));
	got = recv(fd, &request, sizeof(request), 0);
	if (got > 0)
		patch_serve(fd, &request, (size_t)got);
}

static void *run(void *arg)
{
	struct start *start = arg;
	int fd, err = 0;

	prctl(PR_SET_NAME, "trapline-patch");
	if (raw_syscall3(SYS_close_range, 0, ~0u, CLOSE_RANGE_UNSHARE))
		err = -ENOSYS;
	fd = err ? err : open_socket();
	if (start) {
		start->err = fd < 0 ? fd : 0;
		sem_post(&start->done);
	}
	if (fd < 0)
		return NULL;
	for (;;) {
		int connection = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (connection >= 0) {
			answer(connection);
			close(connection);
		} else if (errno != EINTR) {
			raw_nanosleep(RETRY_NS);
		}
	}
}

/* The thread blocks all signals, so that those of the program go to its own threads, but for those
 * that faults and traps of the thread itself raise. `start` is NULL in a forked child. */
static int start_thread(struct start *start)
{
	static const int open_signals[] = {SIGTRAP, SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGSYS};
	sigset_t all, before;
	pthread_attr_t attributes;
	pthread_t thread;
	int err;

	sigfillset(&all);
	for (size_t i = 0; i < sizeof(open_signals) / sizeof(open_signals[0]); i++)
		sigdelset(&all, open_signals[i]);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&thread, &attributes, run, start);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return -err;
}

static void in_forked_child(void)
{
	if (listening)
		start_thread(NULL);
}

int tl_patch_listen(void)
{
	struct start start = {.err = 0};
	int err = 0;

	pthread_mutex_lock(&lock);
	if (!listening) {
		sem_init(&start.done, 0, 0);
		err = start_thread(&start);
		while (!err && sem_wait(&start.done))
			;
		err = err ? err : start.err;
		if (!err)
			pthread_atfork(NULL, NULL, in_forked_child);
		listening = !err;
		sem_destroy(&start.done);
	}
	pthread_mutex_unlock(&lock);
	return err;
}

__attribute__((constructor)) static void listen_if_asked(void)
{
	if (!getauxval(AT_SECURE) && getenv(VARIABLE))
		tl_patch_listen();
}
