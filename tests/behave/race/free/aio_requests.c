/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers that the C library's own threads read and write for aio_read() and aio_write(), asked
 * for by aio_error() and aio_suspend(). */
#include "../harness.h"
#include <aio.h>
#include <errno.h>

static void wait_for(struct aiocb *request, int how)
{
	const struct aiocb *const list[1] = {request};

	while (aio_error(request) == EINPROGRESS)
		if (how)
			aio_suspend(list, 1, NULL);
		else
			nap(50);
	if (aio_return(request) != (ssize_t)request->aio_nbytes)
		exit(2);
}

static void *worker(void *arg)
{
	char text[] = "/tmp/aio-XXXXXX", buffer[512];
	struct aiocb request = {.aio_buf = buffer, .aio_nbytes = sizeof(buffer)};
	int self = (int)(intptr_t)arg;

	request.aio_fildes = mkstemp(text);
	if (request.aio_fildes < 0)
		exit(2);
	unlink(text);
	for (int turn = 0; running(); turn++) {
		memset(buffer, turn, sizeof(buffer));
		if (aio_write(&request))
			exit(2);
		wait_for(&request, turn % 2);
		memset(buffer, 0, sizeof(buffer));
		if (aio_read(&request))
			exit(2);
		wait_for(&request, self % 2);
		if (buffer[7] != (char)turn)
			exit(1);
		work(3000);
	}
	close(request.aio_fildes);
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(worker, harness_threads);
	return harness_finish();
}
