/* SPDX-License-Identifier: Apache-2.0 */
/* A message is announced through a pipe before its last field is filled in, and used again soon. */
#include "../harness.h"

struct message {
	int kind;
	int length;
};

static struct message messages[16];
static int ends[2];

static void *announce(void *arg)
{
	unsigned next = 0;
	unsigned char index;

	(void)arg;
	while (running()) {
		index = next++ % 16;
		messages[index].kind = 1; /* RACE b */
		if (write(ends[1], &index, 1) != 1)
			exit(2);
		messages[index].length = (int)next; /* RACE a */
		nap(1000);
	}
	index = 255;
	if (write(ends[1], &index, 1) != 1)
		exit(2);
	return NULL;
}

static void *receive(void *arg)
{
	unsigned char index;

	(void)arg;
	while (read(ends[0], &index, 1) == 1 && index < 16) {
		consume(messages[index].kind);	 /* RACE b */
		consume(messages[index].length); /* RACE a */
		messages[index].length = 0;	 /* RACE a */
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	if (pipe(ends))
		return 2;
	harness_start(announce, 1);
	harness_start(receive, 1);
	return harness_finish();
}
