/* SPDX-License-Identifier: Apache-2.0 */
/* A packed header's sequence number straddles a cache line; even its plain store can tear. */
#include "../harness.h"

struct __attribute__((packed)) header {
	char magic[61];
	uint64_t sequence;
};

static struct header header __attribute__((aligned(64)));

static void *send_packets(void *arg)
{
	(void)arg;
	while (running()) {
		header.sequence += 0x100000001; /* RACE a */
		pace_warm();
	}
	return NULL;
}

static void *inspect(void *arg)
{
	(void)arg;
	while (running()) {
		consume(header.sequence); /* RACE a */
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 3);
	harness_start(send_packets, 1);
	harness_start(inspect, harness_threads - 1);
	return harness_finish();
}
