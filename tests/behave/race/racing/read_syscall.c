/* SPDX-License-Identifier: Apache-2.0 */
/* read(2) fills a buffer that another thread is still parsing: one side is in the kernel. */
#include "../harness.h"
#include <fcntl.h>

static char buffer[64];

static void *fill(void *arg)
{
	int fd = open("/dev/zero", O_RDONLY);

	(void)arg;
	while (running()) {
		if (read(fd, buffer, sizeof(buffer)) < 0) /* RACE a */
			exit(2);
		pace_warm();
	}
	close(fd);
	return NULL;
}

static void *parse(void *arg)
{
	(void)arg;
	while (running()) {
		for (size_t i = 0; i < sizeof(buffer); i += 8)
			consume(buffer[i]); /* RACE a */
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 2);
	harness_start(fill, 1);
	harness_start(parse, harness_threads - 1);
	return harness_finish();
}
