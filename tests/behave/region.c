/* SPDX-License-Identifier: Apache-2.0 */
/* Regions: exact bytes, all threads, any size, system calls, the program's own signals. */
#include "region.h"

volatile unsigned char *memory;
volatile int hits, kernel_hits;
volatile unsigned last_access;
const void *volatile last_address;
volatile size_t last_size;

void count(tl_hit *hit, void *arg)
{
	(void)arg;
	__atomic_fetch_add(&hits, 1, __ATOMIC_RELAXED);
	last_access = tl_hit_access(hit);
	last_address = tl_hit_addr(hit);
	last_size = tl_hit_size(hit);
	if (last_access & TL_KERNEL)
		__atomic_fetch_add(&kernel_hits, 1, __ATOMIC_RELAXED);
}

tl_event *watch_with(const volatile void *at, size_t length, unsigned access, enum tl_scope scope,
		     tl_hit_fn *fn)
{
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (const void *)at,
			       .len = length,
			       .access = access,
			       .scope = scope,
			       .flags = TL_REGION};
	tl_event *event = NULL;

	CHECK_EQUAL(tl_event_open(&event, &spec, fn, NULL), 0);
	hits = kernel_hits = 0;
	return event;
}

tl_event *watch(const volatile void *at, size_t length, unsigned access)
{
	return watch_with(at, length, access, TL_PROCESS, count);
}

static void exact_bytes(void)
{
	tl_event *event = watch(memory + 100, 13, TL_READ | TL_WRITE);

	memory[99] = 1;
	memory[113] = 1;
	CHECK_EQUAL(hits, 0);
	memory[100] = 1;
	CHECK_EQUAL(hits, 1);
	CHECK_EQUAL(last_access, TL_WRITE);
	CHECK(last_address == memory + 100);
	CHECK_EQUAL(last_size, 1);
	(void)memory[112];
	CHECK_EQUAL(hits, 2);
	CHECK_EQUAL(last_access, TL_READ);
	__atomic_fetch_add((volatile int *)(memory + 104), 1, __ATOMIC_SEQ_CST);
	CHECK_EQUAL(hits, 3);
	CHECK_EQUAL(last_access, TL_READ | TL_WRITE | TL_ATOMIC);
	*(volatile uint64_t *)(memory + 94) = 0; /* 94..101 */
	CHECK_EQUAL(hits, 4);
	CHECK(last_address == memory + 94);
	CHECK_EQUAL(tl_event_hits(event), 4);
	CHECK_EQUAL(tl_event_close(event), 0);
	memory[100] = 2;
	CHECK_EQUAL(hits, 4);
}

static void kinds(void)
{
	tl_event *event = watch(memory, 8, TL_READ);

	memory[0] = 1;
	CHECK_EQUAL(hits, 0);
	(void)memory[0];
	CHECK_EQUAL(hits, 1);
	tl_event_close(event);
	event = watch(memory, 8, TL_WRITE);
	(void)memory[0];
	CHECK_EQUAL(hits, 0);
	memory[0] = 1;
	CHECK_EQUAL(hits, 1);
	tl_event_close(event);
}

static void repeated_and_crossing(void)
{
	tl_event *event = watch(memory + PAGE - 4, 8, TL_WRITE);
	void *to = (void *)(memory + PAGE - 32);
	size_t length = 64;

	__asm__ volatile("cld; rep stosb" : "+D"(to), "+c"(length) : "a"(0) : "memory");
	CHECK_EQUAL(hits, 8);
	*(volatile uint64_t *)(memory + PAGE - 4) = 0;
	CHECK_EQUAL(hits, 9);
	*(volatile uint64_t *)(memory + PAGE - 11) = 0;
	CHECK_EQUAL(hits, 10);
	*(volatile uint64_t *)(memory + PAGE - 12) = 0;
	CHECK_EQUAL(hits, 10);
	tl_event_close(event);
}

static void two_in_one_instruction(void)
{
	tl_event *from = watch(memory + 10, 1, TL_READ);
	tl_event *to = watch(memory + 2 * PAGE, 1, TL_WRITE);
	const volatile void *source = memory + 10;
	volatile void *target = memory + 2 * PAGE;

	__asm__ volatile("movsb" : "+S"(source), "+D"(target) : : "memory");
	CHECK_EQUAL(hits, 2);
	CHECK_EQUAL(tl_event_hits(from), 1);
	CHECK_EQUAL(tl_event_hits(to), 1);
	tl_event_close(from);
	tl_event_close(to);
}

/* ---- threads ---------------------------------------------------------------------------- */

#define THREADS 4
#define ROUNDS 1000

static pthread_barrier_t barrier;

static void *write_bytes(void *arg)
{
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < ROUNDS; i++) {
		memory[200] = (unsigned char)i;
		memory[264] = (unsigned char)i; /* beside it */
	}
	return arg;
}

static void threads_running_and_new(void)
{
	pthread_t thread[2 * THREADS];
	tl_event *event;

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, write_bytes, NULL);
	pthread_barrier_wait(&barrier);
	event = watch(memory + 200, 64, TL_WRITE);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQUAL(hits, THREADS * ROUNDS);
	hits = 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, write_bytes, NULL);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQUAL(hits, THREADS * ROUNDS);
	tl_event_close(event);
	event = watch_with(memory + 200, 64, TL_WRITE, TL_THREAD, count);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, write_bytes, NULL);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	CHECK_EQUAL(hits, 0);
	memory[200] = 1;
	CHECK_EQUAL(hits, 1);
	tl_event_close(event);
	pthread_barrier_destroy(&barrier);
}

static void *write_with_all_blocked(void *arg)
{
	sigset_t all, seen;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	memory[300] = 1;
	pthread_sigmask(SIG_SETMASK, NULL, &seen);
	CHECK(sigismember(&seen, SIGSEGV) && sigismember(&seen, SIGSYS) &&
	      sigismember(&seen, SIGTRAP));
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	memory[300] = 1;
	return arg;
}

static void thread_that_blocks_everything(void)
{
	pthread_t thread;
	tl_event *event;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, write_with_all_blocked, NULL);
	pthread_barrier_wait(&barrier);
	event = watch(memory + 300, 1, TL_WRITE);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
	CHECK_EQUAL(hits, 2);
	tl_event_close(event);
	pthread_barrier_destroy(&barrier);
}

/* ---- system calls ----------------------------------------------------------------------- */

static void expect_kernel(int expected, unsigned access, const volatile void *address, size_t size)
{
	CHECK_EQUAL(hits, expected);
	CHECK_EQUAL(kernel_hits, expected);
	CHECK_EQUAL(last_access, access | TL_KERNEL);
	CHECK(last_address == address);
	CHECK_EQUAL(last_size, size);
	hits = kernel_hits = 0;
}

static void system_calls(void)
{
	tl_event *event = watch(memory + 1000, 5000, TL_READ | TL_WRITE);
	void *buffer = (void *)(memory + 2000);
	struct iovec vector[2] = {{(void *)memory, 4}, {buffer, 8}};
	struct stat status;
	int pipes[2], sockets[2];

	CHECK_EQUAL(pipe(pipes), 0);
	CHECK_EQUAL(write(pipes[1], "0123456789", 10), 10);
	CHECK_EQUAL(hits, 0);
	CHECK_EQUAL(read(pipes[0], buffer, 100), 10);
	expect_kernel(1, TL_WRITE, buffer, 10);
	CHECK_EQUAL(write(pipes[1], buffer, 10), 10);
	expect_kernel(1, TL_READ, buffer, 10);
	CHECK_EQUAL(read(pipes[0], (void *)(memory + 8), 10), 10);
	CHECK_EQUAL(hits, 0);
	CHECK(memory[8] == '0' && memory[17] == '9');
	hits = 0;
	CHECK_EQUAL(writev(pipes[1], vector, 2), 12);
	expect_kernel(1, TL_READ, buffer, 8);
	CHECK_EQUAL(readv(pipes[0], vector, 2), 12);
	expect_kernel(1, TL_WRITE, buffer, 8);
	CHECK_EQUAL(socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets), 0);
	CHECK_EQUAL(send(sockets[0], buffer, 7, 0), 7);
	expect_kernel(1, TL_READ, buffer, 7);
	CHECK_EQUAL(recv(sockets[1], buffer, 64, 0), 7);
	expect_kernel(1, TL_WRITE, buffer, 7);
	CHECK_EQUAL(fstat(pipes[0], buffer), 0);
	expect_kernel(1, TL_WRITE, buffer, sizeof(status));
	/* Another page of the same region, another region's page: nothing of ours is touched. */
	CHECK_EQUAL(fstat(pipes[0], (void *)(memory + 32)), 0);
	CHECK_EQUAL(hits, 0);
	close(pipes[0]);
	close(pipes[1]);
	close(sockets[0]);
	close(sockets[1]);
	CHECK_EQUAL(hits, 0);
	tl_event_close(event);
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void interrupted_call(void)
{
	tl_event *event = watch(memory, PAGE, TL_READ | TL_WRITE);
	struct sigaction action;
	int pipes[2];

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_alarm;
	sigfillset(&action.sa_mask);
	sigaction(SIGALRM, &action, NULL);
	CHECK_EQUAL(pipe(pipes), 0);
	alarm(1);
	CHECK_EQUAL(read(pipes[0], (void *)memory, 1), -1);
	CHECK_EQUAL(errno, EINTR);
	CHECK_EQUAL(hits, 0);
	close(pipes[0]);
	close(pipes[1]);
	tl_event_close(event);
}

/* ---- the program's own signals ---------------------------------------------------------- */

volatile int own_faults;
static volatile char *volatile nowhere = (volatile char *)8;
sigjmp_buf escape;

static void on_own_fault(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	(void)context;
	own_faults++;
	siglongjmp(escape, 1);
}

static void own_fault_handler(void)
{
	tl_event *event = watch(memory, PAGE, TL_READ | TL_WRITE);
	struct sigaction action, seen;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_own_fault;
	action.sa_flags = SA_SIGINFO;
	CHECK_EQUAL(sigaction(SIGSEGV, &action, NULL), 0);
	sigaction(SIGSEGV, NULL, &seen);
	CHECK(seen.sa_sigaction == on_own_fault);
	for (int i = 0; i < 3; i++) {
		if (!sigsetjmp(escape, 1))
			*nowhere = 1;
		memory[i] = 1;
		/* A read of the region that also writes nowhere. */
		if (!sigsetjmp(escape, 1)) {
			const volatile void *from = memory;
			volatile void *to = nowhere;

			__asm__ volatile("movsb" : "+S"(from), "+D"(to) : : "memory");
		}
	}
	CHECK_EQUAL(own_faults, 6);
	CHECK_EQUAL(hits, 3);
	tl_event_close(event);
	if (!sigsetjmp(escape, 1))
		*nowhere = 1;
	CHECK_EQUAL(own_faults, 7);
}

static void on_usr1(int signal)
{
	(void)signal;
	memory[5]++;
}

static void signal_handler_touches(void)
{
	tl_event *event = watch(memory, PAGE, TL_READ | TL_WRITE);
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_usr1;
	sigfillset(&action.sa_mask);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
	CHECK(hits == 1 || hits == 2); /* one incb, or a load and a store */
	tl_event_close(event);
}

/* ---- callbacks -------------------------------------------------------------------------- */

static volatile int callback_calls;

static void touch_in_callback(tl_hit *hit, void *arg)
{
	char copy[4];
	int pipes[2];

	(void)hit;
	(void)arg;
	callback_calls++;
	memory[7]++;
	CHECK_EQUAL(pipe(pipes), 0);
	CHECK_EQUAL(write(pipes[1], (const void *)memory, 4), 4);
	CHECK_EQUAL(read(pipes[0], copy, 4), 4);
	close(pipes[0]);
	close(pipes[1]);
}

static void jump_out(tl_hit *hit, void *arg)
{
	(void)hit;
	(void)arg;
	callback_calls++;
	siglongjmp(escape, 1);
}

static tl_event *closing;

static void close_itself(tl_hit *hit, void *arg)
{
	(void)arg;
	callback_calls++;
	CHECK(tl_hit_event(hit) == closing);
	CHECK_EQUAL(tl_event_close(closing), 0);
}

static void callbacks(void)
{
	tl_event *event = watch_with(memory, 16, TL_READ | TL_WRITE, TL_PROCESS, touch_in_callback);

	for (int i = 0; i < 10; i++)
		memory[0] = 1;
	CHECK_EQUAL(callback_calls, 10);
	tl_event_close(event);
	callback_calls = 0;
	event = watch_with(memory, 16, TL_WRITE, TL_PROCESS, jump_out);
	for (volatile int i = 0; i < 10; i++)
		if (!sigsetjmp(escape, 1))
			memory[0] = 1;
	CHECK_EQUAL(callback_calls, 10);
	tl_event_close(event);
	callback_calls = 0;
	closing = watch_with(memory, 16, TL_WRITE, TL_PROCESS, close_itself);
	memory[0] = 1;
	memory[0] = 1;
	CHECK_EQUAL(callback_calls, 1);
}

static bool has_protection_keys(void)
{
	int key = pkey_alloc(0, 0);

	if (key >= 0)
		pkey_free(key);
	return key >= 0;
}

int main(void)
{
	if (!has_protection_keys()) {
		fprintf(stderr, "this machine has no protection keys\n");
		return 77;
	}
	memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	RUN(exact_bytes);
	RUN(kinds);
	RUN(repeated_and_crossing);
	RUN(two_in_one_instruction);
	RUN(threads_running_and_new);
	RUN(thread_that_blocks_everything);
	RUN(system_calls);
	RUN(interrupted_call);
	RUN(own_fault_handler);
	RUN(signal_handler_touches);
	RUN(callbacks);
	region_life();
	return 0;
}
