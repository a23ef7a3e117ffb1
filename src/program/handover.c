/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handing the area to programs that cannot open it: the controller's side of src/contact/ask.c.
 *
 * A process that is about to execute such a program notes its own id in the area (struct asker).
 * The executed program, or a child of it, then makes a memory file whose name is the area's secret,
 * which only processes that map the area know. The controller looks for that file. How much it
 * looks at is bounded, and looking takes a twentieth of one CPU's time at most, whatever the
 * program asks for.
 */
#include "program/handover.h"

#include "base/clock.h"
#include "base/syscall.h"
#include "event/lethal.h"
#include "process/children.h"
#include "process/identity.h"
#include "program/program.h"
#include "process/restriction.h"
#include "process/say.h"

#include <dirent.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOOK_INTERVAL MILLISECOND
#define PARTS 8 /* an asker is looked at again after 1/8 of the time since it asked */
/* after a look nobody is looked at for this many times what it took */
#define REST 20
#define PATIENCE (4 * SECOND) /* how long an asker is looked for: longer than it asks */
#define SENTENCES_MAX 5	      /* refusals that are told in a run */
#define DESCRIPTORS 64	      /* looked at in a process, which asks before it has opened many */
#define PROCESSES_MAX 256     /* an asker's children that are looked at */

/* Is this process allowed to look into other users' processes? Root of a container often is not. */
static bool may_look_into_others(void)
{
	unsigned long long capabilities = 0;
	char line[256];
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "CapEff: %llx", &capabilities);
	if (file)
		fclose(file);
	return capabilities >> CAP_SYS_PTRACE & 1;
}

void handover_begin(struct program *program)
{
	uint64_t secret;

	if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
		return;
	program->handover.secret = program->area->secret = secret;
	program->area->user = geteuid();
	program->area->group = getegid();
	if (restriction_lets_ask())
		atomic_store(&program->area->answers,
			     may_look_into_others() ? AREA_ANSWERS_ALL : AREA_ANSWERS_USER);
}

/* Finds the socket by which process `pid` asks; returns its descriptor there, or -errno. */
static int find_socket(const struct program *program, pid_t pid)
{
	static const char start[] = "/memfd:";
	char path[400], target[64];
	int found = -ENOENT, looks = DESCRIPTORS;
	struct dirent *entry;
	DIR *list;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	list = opendir(path);
	if (!list)
		return -errno;
	while (found < 0 && looks-- > 0 && (entry = readdir(list))) {
		ssize_t length = readlinkat(dirfd(list), entry->d_name, target, sizeof(target) - 1);
		int socket;

		target[length < 0 ? 0 : length] = '\0';
		if (strncmp(target, start, sizeof(start) - 1) != 0)
			continue;
		/* Memory files without the secret are the program's own. */
		socket = area_read_sign(target + sizeof(start) - 1, program->handover.secret);
		if (socket >= 0)
			found = socket;
	}
	closedir(list);
	return found;
}

static int send_area(const struct program *program, int socket)
{
	struct iovec data = {(void *)"", 1};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} room = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
			     .cmsg_level = SOL_SOCKET,
			     .cmsg_type = SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &room,
				 .msg_controllen = sizeof(room)};

	memcpy(CMSG_DATA(&room.header), &program->area_fd, sizeof(int));
	return sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

/* Hands the area to process `pid` if it asks. -ENOENT: it does not ask. */
static int answer(const struct program *program, pid_t pid)
{
	int number = find_socket(program, pid), process, socket, err;

	if (number < 0)
		return number;
	process = (int)raw_syscall3(SYS_pidfd_open, pid, 0, 0);
	if (process < 0)
		return process;
	socket = lethal_getfd(process, number);
	close(process);
	if (socket < 0)
		return socket;
	err = send_area(program, socket);
	close(socket);
	return err;
}

/* Of two processes' answers, the one that counts: 0 before a refusal or failure, that before
 * -ENOENT. */
static int better(int a, int b)
{
	return a == 0 || b == -ENOENT ? a : b;
}

static int answer_all_children(const struct program *program, pid_t pid)
{
	struct thread_set children = {0};
	int result = -ENOENT;

	children_list(&children, pid, PROCESSES_MAX);
	for (size_t i = 0; i < children.count && i < PROCESSES_MAX && result; i++)
		result = better(answer(program, children.tids[i]), result);
	thread_set_destroy(&children);
	return result;
}

static bool is_asker(const struct program *program, pid_t pid, pid_t inside)
{
	return process_is_named(pid, inside) &&
	       (process_maps(program->area_fd, pid) || find_socket(program, pid) >= 0);
}

/* The id in our namespace of the process that calls itself `inside`, perhaps in a namespace of its
 * own; 0: not found. */
static pid_t find_asker(const struct program *program, pid_t inside)
{
	pid_t found = is_asker(program, inside, inside) ? inside : 0;
	DIR *list = found ? NULL : opendir("/proc");
	struct dirent *entry;

	while (list && !found && (entry = readdir(list))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (pid > 0 && is_asker(program, pid, inside))
			found = pid;
	}
	if (list)
		closedir(list);
	return found;
}

/* The place of the same asker, or else of the one that has waited longest. */
static struct asker *choose_place(struct program *program, pid_t inside)
{
	struct asker *oldest = &program->handover.asker[0];

	for (unsigned i = 0; i < AREA_ASKERS; i++)
		if (program->handover.asker[i].inside == inside)
			return &program->handover.asker[i];
	for (unsigned i = 1; i < AREA_ASKERS; i++)
		if (program->handover.asker[i].until < oldest->until)
			oldest = &program->handover.asker[i];
	return oldest;
}

static void remember(struct program *program, pid_t pid, pid_t inside)
{
	uint64_t now = clock_now();

	*choose_place(program, inside) = (struct asker){
		.pid = pid, .inside = inside, .since = now, .next = now, .until = now + PATIENCE};
}

void handover_expect(struct program *program, pid_t pid)
{
	remember(program, pid, pid);
}

static void take_notes(struct program *program)
{
	for (unsigned i = 0; i < AREA_ASKERS; i++) {
		pid_t pid = atomic_exchange(&program->area->asker[i], 0);

		if (pid > 0)
			remember(program, 0, pid);
	}
}

/* With any other error the process has ended meanwhile, or asks no more. */
static bool is_refusal(int err)
{
	return err == -EACCES || err == -EPERM;
}

static void refuse(struct program *program, pid_t pid)
{
	char name[PROCESS_NAME];

	count_one(program, COUNT_AREAS_REFUSED);
	/* A program can ask, and be refused, as often as it likes. */
	if (program->count[COUNT_AREAS_REFUSED] > SENTENCES_MAX)
		return;
	process_name(pid, name);
	say("%s (%d) is another user's, or not to be looked into, and is not watched: run "
	    "trapline as root, with CAP_SYS_PTRACE",
	    name, (int)pid);
}

/* The asker may have several children that each ask, so all of them are answered. */
static void look_for_children(struct program *program, struct asker *asker, uint64_t now)
{
	int result = answer_all_children(program, asker->pid);

	if (result == 0)
		count_one(program, COUNT_AREAS_HANDED);
	else if (is_refusal(result) && now >= asker->until)
		refuse(program, asker->pid);
}

static void look(struct program *program, struct asker *asker, uint64_t now)
{
	int result = -ENOENT;

	if (!asker->pid)
		asker->pid = find_asker(program, asker->inside);
	if (asker->pid)
		result = answer(program, asker->pid);
	if (result == 0)
		count_one(program, COUNT_AREAS_HANDED);
	else if (is_refusal(result))
		refuse(program, asker->pid);
	else if (asker->pid)
		look_for_children(program, asker, now);
	if (now >= asker->until || (result != -ENOENT && result != -EAGAIN))
		asker->until = 0;
	asker->next = now + LOOK_INTERVAL + (now - asker->since) / PARTS;
}

static void note_unreadable(struct program *program)
{
	uint64_t seen = atomic_load(&program->area->unreadable);

	if (seen && !program->count[COUNT_PROGRAMS_UNREADABLE])
		say("a program is not watched, since the user who executes it, or its "
		    "root directory, cannot read the library it needs: install trapline "
		    "where all can read it");
	program->count[COUNT_PROGRAMS_UNREADABLE] = seen;
}

void handover_run(struct program *program)
{
	uint64_t now = clock_now(), after;
	bool looked = false;

	note_unreadable(program);
	take_notes(program);
	if (now < program->handover.next)
		return;
	for (unsigned i = 0; i < AREA_ASKERS; i++) {
		if (!program->handover.asker[i].until || now < program->handover.asker[i].next)
			continue;
		look(program, &program->handover.asker[i], now);
		looked = true;
	}
	after = clock_now();
	if (looked)
		program->handover.next = after + REST * (after - now);
}

uint64_t handover_next(const struct program *program)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < AREA_ASKERS; i++)
		if (program->handover.asker[i].until && program->handover.asker[i].next < next)
			next = program->handover.asker[i].next;
	return next < program->handover.next ? program->handover.next : next;
}
