/* SPDX-License-Identifier: Apache-2.0 */
/* pthread_once() and pthread_key_create(): initialised once, read by all for ever. */
#include "../harness.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static int table[256];

static void build(void)
{
	pthread_key_create(&key, free);
	for (int i = 0; i < 256; i++)
		table[i] = i * i;
}

static void *use(void *arg)
{
	unsigned turn = (unsigned)(uintptr_t)arg;

	while (running()) {
		int *own;

		pthread_once(&once, build);
		own = pthread_getspecific(key);
		if (!own) {
			own = calloc(1, sizeof(*own));
			pthread_setspecific(key, own);
		}
		*own += table[turn++ & 255];
		pace_hot();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	harness_init(argc, argv, 8);
	harness_start(use, harness_threads);
	return harness_finish();
}
