/* SPDX-License-Identifier: Apache-2.0 */
/* write(2) sends a buffer that another thread is still changing: one side is in the kernel. */
#include "../harness.h"

static char message[64];

static void *compose(void *arg)
{
	char text = 'a';

	(void)arg;
	while (running()) {
		for (size_t i = 0; i < sizeof(message); i += 8)
			message[i] = text; /* RACE a */
		text++;
		pace_warm();
	}
	return NULL;
}

static void *transmit(void *arg)
{
	int ends[2];
	char received[sizeof(message)];

	(void)arg;
	if (pipe(ends))
		exit(2);
	while (running()) {
		if (write(ends[1], message, sizeof(message)) != sizeof(message)) /* RACE a */
			exit(2);
		if (read(ends[0], received, sizeof(received)) < 0)
			exit(2);
		pace_warm();
	}
	close(ends[0]);
	close(ends[1]);
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(compose, 1);
	harness_start(transmit, harness_threads - 1);
	return harness_finish();
}
