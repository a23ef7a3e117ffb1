/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server that tells more than it was asked. A reply has room for 24 letters; a shorter text is
 * sent with what stood in the block before: a piece of somebody else's password, perhaps. And only
 * warnings set whether a reply is urgent: any other is, or is not, as it happens.
 *
 *	trapline uninit --all -- build/examples/uninit_reply
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct reply {
	int status;
	int urgent;
	char text[24];
};

static int urgent_replies;

static int answer(int client, int status, const char *text)
{
	struct reply *reply = malloc(sizeof(*reply));
	ssize_t sent;

	if (!reply)
		return -1;
	reply->status = status;
	strcpy(reply->text, text);
	if (status >= 400)
		reply->urgent = 1;
	if (reply->urgent)
		urgent_replies++;
	sent = write(client, reply, sizeof(*reply));
	free(reply);
	return sent == sizeof(*reply) ? 0 : -1;
}

int main(void)
{
	struct reply received;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		return 1;
	for (int i = 0; i < 20; i++) {
		if (answer(ends[0], 200, "all is well"))
			return 1;
		if (read(ends[1], &received, sizeof(received)) != sizeof(received))
			return 1;
	}
	printf("%d %s, %d urgent\n", received.status, received.text, urgent_replies);
	return 0;
}
