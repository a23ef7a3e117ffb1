/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/turn.h"

#include "base/clock.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* Whoever has the turn waits for the process in many steps of some seconds at most; if the process
 * gets no CPU they take so long together. */
#define PATIENCE (20 * SECOND)
#define LOOK_NS 2000000

/* In the kernel's own space of names, which begin with a zero. */
static socklen_t name_of(pid_t pid, struct sockaddr_un *name)
{
	int length;

	*name = (struct sockaddr_un){.sun_family = AF_UNIX};
	length = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1, "trapline-enter-%d",
			  (int)pid);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

int turn_begin(pid_t pid)
{
	const struct timespec pause = {0, LOOK_NS};
	const uint64_t until = clock_now() + PATIENCE;
	int turn = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un name;
	socklen_t length = name_of(pid, &name);

	while (turn >= 0 && bind(turn, (const struct sockaddr *)&name, length) &&
	       errno == EADDRINUSE && clock_now() < until)
		nanosleep(&pause, NULL);
	return turn;
}

void turn_end(int turn)
{
	if (turn >= 0)
		close(turn);
}
