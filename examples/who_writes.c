/* SPDX-License-Identifier: Apache-2.0 */
/* Who writes this variable? Any thread; `addr2line -e who_writes` turns the places into lines. */
#include <pthread.h>
#include <stdio.h>
#include <trapline/trapline.h>

static volatile long counter;
static uintptr_t places[16];
static pid_t writers[16];
static int count;

static void note(tl_hit *hit, void *arg)
{
	int i = __atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED) % 16;

	places[i] = tl_hit_pc(hit);
	writers[i] = tl_hit_tid(hit);
}

static void *work(void *arg)
{
	counter += (long)arg;
	return NULL;
}

int main(void)
{
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (void *)&counter,
			       .len = sizeof(counter),
			       .access = TL_WRITE,
			       .scope = TL_PROCESS};
	pthread_t threads[3];
	tl_event *event;
	int err = tl_event_open(&event, &spec, note, &count);

	if (err)
		return fprintf(stderr, "who_writes: %s\n", tl_explain(err)), 1;
	for (long i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	tl_event_close(event);
	for (int i = 0; i < count; i++)
		printf("thread %d wrote it at %#lx\n", writers[i], places[i]);
	return 0;
}
