/* SPDX-License-Identifier: Apache-2.0 */
/* The command's end of base/patch_request.h. */
#include "cli/command.h"
#include "cli/patch.h"
#include "record/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_SECONDS 30
#define LISTEN_TRIES 25
#define LISTEN_PAUSE 20000 /* us */

static bool read_text(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	file = fopen(path, "re");
	got = file ? fread(text, 1, size - 1, file) : 0;
	if (file)
		fclose(file);
	text[got] = 0;
	return got > 0;
}

/* In its own namespace the process has another id, the last of this line: proc_pid_status(5). */
static pid_t own_id(pid_t pid)
{
	char text[4096], *line, *last;

	if (!read_text(pid, "status", text, sizeof(text)))
		return pid;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return pid;
	line++;
	line[strcspn(line, "\n")] = 0;
	last = strrchr(line, '\t');
	return last ? (pid_t)atoi(last + 1) : pid;
}

/* The name could be anybody's: the kernel says whose it is. */
static bool is_process(int fd, pid_t pid)
{
	struct ucred peer;
	socklen_t length = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) && peer.pid == pid;
}

/* A forked child begins to listen while its fork() returns already. */
static bool connect_patiently(int fd, const struct sockaddr_un *address, socklen_t length)
{
	for (int i = 0; i < LISTEN_TRIES; i++) {
		if (!connect(fd, (const struct sockaddr *)address, length))
			return true;
		if (errno != ECONNREFUSED)
			return false;
		usleep(LISTEN_PAUSE);
	}
	return false;
}

/* A descriptor, or -1: it does not listen. */
static int reach(pid_t pid)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct timeval patience = {PATIENCE_SECONDS, 0};
	struct sockaddr_un address;
	char stat[1024];
	socklen_t length;

	if (fd >= 0 && read_text(pid, "stat", stat, sizeof(stat))) {
		length = patch_address(&address, own_id(pid), patch_start_time(stat));
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		if (connect_patiently(fd, &address, length) && is_process(fd, pid))
			return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

bool patch_listens(pid_t pid)
{
	int fd = reach(pid);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int connect_to(pid_t pid)
{
	int fd = reach(pid);

	if (fd < 0)
		utf8_fprintf(stderr,
			     "trapline: process %d does not listen for patches; start it with "
			     "`trapline run -- PROGRAM` or with --patchable, or let it call "
			     "tl_patch_listen()\n",
			     pid);
	return fd;
}

/* The process may be anybody's: it should not talk to our terminal. */
static void make_printable(struct patch_reply *reply)
{
	char raw[sizeof(reply->text)];

	memcpy(raw, reply->text, sizeof(raw));
	raw[sizeof(raw) - 1] = '\0';
	utf8_escape(reply->text, sizeof(reply->text), raw);
}

static void print(const struct patch_request *request, const struct patch_reply *reply)
{
	static const char *const done[] = {[PATCH_APPLY] = "applied", [PATCH_REVERT] = "reverted"};

	if (!reply->id)
		return;
	if (request->operation == PATCH_LIST)
		printf("%u  %s%s\n", reply->id, reply->text,
		       reply->on_breakpoint ? " (on breakpoints)" : "");
	else
		printf("patch %u %s%s: %s\n", reply->id, done[request->operation],
		       reply->on_breakpoint ? " on breakpoints" : "", reply->text);
}

/* The library speaks to programmers. */
static void print_reason(pid_t pid, const char *reason)
{
	static const char flag[] = "TL_PATCH_BREAKPOINT";
	const char *at = strstr(reason, flag);

	utf8_fprintf(stderr, "trapline: process %d was not patched: ", pid);
	if (at)
		utf8_fprintf(stderr, "%.*s--breakpoint%s\n", (int)(at - reason), reason,
			     at + sizeof(flag) - 1);
	else
		utf8_fprintf(stderr, "%s\n", reason);
}

int patch_send(pid_t pid, const struct patch_request *request)
{
	static struct patch_reply reply;
	int fd = connect_to(pid);

	if (fd < 0)
		return STATUS_FAILED;
	/* One that does not trust us has closed its end by now: then there is nothing to receive.
	 */
	send(fd, request, sizeof(*request), MSG_NOSIGNAL);
	reply.more = 1;
	while (reply.more && !reply.status) {
		if (recv(fd, &reply, sizeof(reply), 0) != sizeof(reply)) {
			close(fd);
			utf8_fprintf(
				stderr,
				"trapline: process %d gave no answer: it runs as another user, or "
				"has ended\n",
				pid);
			return STATUS_FAILED;
		}
		make_printable(&reply);
		if (!reply.status)
			print(request, &reply);
	}
	close(fd);
	if (!reply.status)
		return STATUS_OK;
	print_reason(pid, reply.text[0] ? reply.text : strerror(-reply.status));
	return STATUS_FAILED;
}
