/* SPDX-License-Identifier: Apache-2.0 */
/* Regions are opened and closed while threads are created, end, block every signal, touch the page,
 * have calls fill it, and open regions themselves: none dies, no call fails, no opening is refused.
 */
#include "check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>

#define ROUNDS 100
#define WORKERS 2
#define LIBC_SIGNAL 33 /* SIGSETXID */

/* On one page with all else that is static here, and the linkage table. */
static struct {
	pthread_attr_t attributes;
	volatile long touched;
	char filled[64];
} shared;

static volatile int stop;

static void *nothing(void *argument)
{
	return argument;
}

/* The call reads its attributes, in part with every signal blocked. */
static void *create(void *argument)
{
	while (!stop) {
		pthread_t thread;

		CHECK(!pthread_create(&thread, &shared.attributes, nothing, NULL), "create");
		pthread_join(thread, NULL);
	}
	return argument;
}

static void *touch(void *argument)
{
	while (!stop)
		__atomic_fetch_add(&shared.touched, 1, __ATOMIC_RELAXED);
	return argument;
}

static void *touch_blocking(void *argument)
{
	while (!stop) {
		sigset_t all, before;

		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &before);
		for (int i = 0; i < 100; i++)
			__atomic_fetch_add(&shared.touched, 1, __ATOMIC_RELAXED);
		pthread_sigmask(SIG_SETMASK, &before, NULL);
	}
	return argument;
}

static void *fill(void *argument)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (!stop)
		CHECK_EQUAL(read(fd, shared.filled, sizeof(shared.filled)), sizeof(shared.filled));
	close(fd);
	return argument;
}

static void open_and_close(const volatile void *address, size_t length)
{
	struct tl_spec spec = check_spec(address, length, TL_READ | TL_WRITE, TL_PROCESS);

	spec.limit = 1;
	for (int i = 0; i < ROUNDS; i++) {
		tl_event *event;

		CHECK_OK(tl_event_open(&event, &spec, check_count_hit, NULL));
		CHECK_OK(tl_event_close(event));
	}
}

static void while_others(void *(*work)(void *), const volatile void *address, size_t length)
{
	pthread_t worker[WORKERS];

	stop = 0;
	for (int i = 0; i < WORKERS; i++)
		CHECK(!pthread_create(&worker[i], NULL, work, NULL), "create");
	open_and_close(address, length);
	stop = 1;
	for (int i = 0; i < WORKERS; i++)
		pthread_join(worker[i], NULL);
}

static void *open_own(void *argument)
{
	open_and_close(argument, 16);
	return NULL;
}

/* Each finds that no region is open, and wants an answer of the other. */
static void two_open_at_once(void)
{
	pthread_t opener[2];

	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&opener[i], NULL, open_own, shared.filled + 16 * i),
		      "create");
	for (int i = 0; i < 2; i++)
		pthread_join(opener[i], NULL);
}

static void set_deaf(bool deaf)
{
	uint64_t signals = 1ull << (LIBC_SIGNAL - 1);

	syscall(SYS_rt_sigprocmask, deaf ? SIG_BLOCK : SIG_UNBLOCK, &signals, NULL,
		sizeof(signals));
}

static volatile int deaf_step;

static void *be_deaf(void *argument)
{
	set_deaf(true);
	deaf_step = 1;
	while (deaf_step == 1)
		usleep(1000);
	set_deaf(false);
	deaf_step = 3;
	while (deaf_step == 3)
		usleep(1000);
	return argument;
}

/* What was never answered leaves libc's signal as it was for whoever else needs it. */
static void refused_twice(void)
{
	struct tl_spec spec = check_spec(shared.filled, 16, TL_WRITE, TL_PROCESS);
	pthread_t thread;
	tl_event *event;

	CHECK(!pthread_create(&thread, NULL, be_deaf, NULL), "create");
	while (deaf_step != 1)
		usleep(1000);
	for (int i = 0; i < 2; i++)
		CHECK_EQUAL(tl_event_open(&event, &spec, check_count_hit, NULL), -EBUSY);
	deaf_step = 2;
	while (deaf_step != 3)
		usleep(1000);
	CHECK_OK(tl_event_open(&event, &spec, check_count_hit, NULL));
	CHECK_OK(tl_event_close(event));
	CHECK_EQUAL(setgid(getgid()), 0);
	deaf_step = 4;
	pthread_join(thread, NULL);
}

static void *watch_alone(void *argument)
{
	volatile long hits = 0;
	struct tl_spec spec = check_spec(shared.filled, 16, TL_WRITE, TL_PROCESS);
	tl_event *event;

	pthread_join(*(pthread_t *)argument, NULL);
	CHECK_OK(tl_event_open(&event, &spec, check_count_hit, (void *)&hits));
	shared.filled[3] = 1;
	CHECK_OK(tl_event_close(event));
	_exit(hits == 1 ? 0 : 2);
}

/* The thread that main() was called in stays among the threads after its end, and answers nobody.
 */
static void main_thread_ended(void)
{
	int status;
	pid_t child = fork();

	if (!child) {
		static pthread_t first;
		pthread_t thread;

		first = pthread_self();
		CHECK(!pthread_create(&thread, NULL, watch_alone, &first), "create");
		syscall(SYS_exit, 0); /* pthread_exit() loads a library first */
	}
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK_EQUAL(status, 0);
}

int main(void)
{
	struct tl_spec spec = check_spec(shared.filled, 16, TL_READ | TL_WRITE, TL_PROCESS);
	tl_event *event;

	if (tl_event_open(&event, &spec, check_count_hit, NULL) == -ENOTSUP)
		check_skip("no protection keys on this machine");
	CHECK_OK(tl_event_close(event));
	main_thread_ended();
	pthread_attr_init(&shared.attributes);
	while_others(create, &shared.attributes, 16);
	while_others(create, &shared.attributes, 32);
	printf("created: %llu more passes over the threads\n",
	       (unsigned long long)check_stat("coverage-retries"));
	while_others(touch, shared.filled, 16);
	printf("touched %ld times: %llu outran the kernel\n", shared.touched,
	       (unsigned long long)check_stat("faults-outrun"));
	while_others(touch_blocking, shared.filled, 16);
	while_others(fill, shared.filled, 16);
	two_open_at_once();
	refused_twice();
	return 0;
}
