/* SPDX-License-Identifier: Apache-2.0 */
/* A thousand connections, each with a thread that waits for its client; eight are served now and
 * add to one sum without a lock. */
#include "../harness.h"

#define EVERY 125 /* of so many connections one is served */

static int clients[2]; /* a pipe that nobody writes to */
static struct {
	long requests;
	long octets;
} served;

static void wait_for_client(void)
{
	char octet;

	while (read(clients[0], &octet, 1) > 0)
		;
}

static void *connection(void *arg)
{
	long size = 100 + (intptr_t)arg;

	if ((intptr_t)arg % EVERY)
		wait_for_client();
	while (running()) {
		work(20000);
		__atomic_fetch_add(&served.requests, 1, __ATOMIC_RELAXED);
		served.octets += size; /* RACE a */
		nap(2000);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 1000);
	if (pipe(clients)) {
		perror("pipe");
		return 2;
	}
	harness_start(connection, harness_threads);
	harness_sleep();
	__atomic_store_n(&harness_stop, 1, __ATOMIC_RELAXED);
	close(clients[1]);
	return harness_join();
}
