/* SPDX-License-Identifier: Apache-2.0 */
/* Plain buffers owned by whoever last received their index through a pipe. */
#include "../harness.h"

struct request {
	int number;
	char text[60];
};

static struct request requests[4];
static int work_pipe[2], done_pipe[2];
static int broken;

static void *client(void *arg)
{
	int number = 0;
	unsigned char index;

	(void)arg;
	for (index = 0; index < 4; index++) {
		if (write(done_pipe[1], &index, 1) != 1)
			exit(2);
	}
	while (running() && read(done_pipe[0], &index, 1) == 1) {
		requests[index].number = ++number;
		snprintf(requests[index].text, sizeof(requests[index].text), "%d", number);
		if (write(work_pipe[1], &index, 1) != 1)
			exit(2);
		nap(300);
	}
	index = 255;
	if (write(work_pipe[1], &index, 1) != 1)
		exit(2);
	return NULL;
}

static void *server(void *arg)
{
	unsigned char index;

	(void)arg;
	while (read(work_pipe[0], &index, 1) == 1 && index < 4) {
		broken |= atoi(requests[index].text) != requests[index].number;
		requests[index].number = 0;
		if (write(done_pipe[1], &index, 1) != 1)
			exit(2);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	if (pipe(work_pipe) || pipe(done_pipe))
		return 2;
	harness_start(client, 1);
	harness_start(server, 1);
	harness_finish();
	return broken;
}
