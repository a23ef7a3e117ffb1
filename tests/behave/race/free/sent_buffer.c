/* SPDX-License-Identifier: Apache-2.0 */
/* The message itself gives the buffer that it was sent from to who received it: by a pipe and,
 * back, by a socket. */
#include "../harness.h"

#include <sys/socket.h>

static char buffer[64];
static int forth[2], back[2];
static int broken;

static void *produce(void *arg)
{
	char answer;

	(void)arg;
	for (unsigned char turn = 1; running(); turn = turn % 100 + 1) {
		memset(buffer, turn, sizeof(buffer));
		if (write(forth[1], buffer, sizeof(buffer)) != sizeof(buffer) ||
		    recv(back[0], &answer, 1, 0) != 1)
			exit(2);
		broken |= answer != buffer[8] || buffer[8] != (char)(turn + 100);
		work(3000);
	}
	memset(buffer, 0, sizeof(buffer));
	if (write(forth[1], buffer, sizeof(buffer)) != sizeof(buffer))
		exit(2);
	return NULL;
}

static void *answer(void *arg)
{
	char message[sizeof(buffer)];

	(void)arg;
	while (read(forth[0], message, sizeof(message)) == sizeof(message) && message[0]) {
		for (size_t i = 0; i < sizeof(buffer); i += 8)
			buffer[i] = (char)(message[i] + 100);
		if (send(back[1], buffer + 8, 1, 0) != 1)
			exit(2);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	if (pipe(forth) || socketpair(AF_UNIX, SOCK_STREAM, 0, back))
		return 2;
	harness_start(produce, 1);
	harness_start(answer, 1);
	harness_finish();
	return broken;
}
