/* SPDX-License-Identifier: Apache-2.0 */
/* The lock is released one statement too soon. */
#include "../harness.h"

static pthread_spinlock_t lock;
static struct {
	long packets;
	long octets;
} flow;

static void *count(void *arg)
{
	long size = 60 + (intptr_t)arg;

	while (running()) {
		pthread_spin_lock(&lock);
		flow.packets++;
		pthread_spin_unlock(&lock);
		flow.octets += size; /* RACE a */
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 128);
	pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
	harness_start(count, harness_threads);
	return harness_finish();
}
