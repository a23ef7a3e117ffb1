/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request handler gets a limit while requests keep coming: the new function refuses what is too
 * large and leaves the rest to the old one. Taken back, the limit is gone.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <trapline/trapline.h>
#include <unistd.h>

#define THREADS 4
#define TOO_LARGE 1000

static volatile int stop;
static long served, refused, lost;

__attribute__((noinline)) static int handle_request(int size)
{
	__asm__ volatile(""); /* stays a function of its own */
	return size * 2;
}

static int (*handle_any_size)(int size);

static int handle_small_requests(int size)
{
	return size > TOO_LARGE ? -1 : handle_any_size(size);
}

static void *serve(void *arg)
{
	(void)arg;
	for (int size = 0; !stop; size = (size + 7) % 2000) {
		int answer = handle_request(size);

		if (answer == size * 2)
			__atomic_fetch_add(&served, 1, __ATOMIC_RELAXED);
		else if (answer == -1 && size > TOO_LARGE)
			__atomic_fetch_add(&refused, 1, __ATOMIC_RELAXED);
		else
			__atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

int main(void)
{
	struct tl_patch_change change = {(void *)handle_request, (void *)handle_small_requests,
					 (void **)&handle_any_size};
	pthread_t threads[THREADS];
	tl_patch *patch;
	int err;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, serve, NULL);
	usleep(50000);
	err = tl_patch_apply_all(&patch, &change, 1, 0);
	if (err) {
		fprintf(stderr, "tl_patch_apply_all: %s\n", tl_explain(err));
		return 1;
	}
	usleep(50000);
	err = tl_patch_revert(patch);
	stop = 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%ld served, %ld refused while patched, %ld lost\n", served, refused, lost);
	return err || !served || !refused || lost;
}
