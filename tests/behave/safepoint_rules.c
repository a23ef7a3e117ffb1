/* SPDX-License-Identifier: Apache-2.0 */
/* One rule of <trapline/safepoint.h> after the other. */
#include "check.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#define SECOND 1000000000u

static tl_safepoint *safepoint;
static bool indirect;
static volatile int phase;
static volatile pid_t stubborn;
static volatile uint64_t polls;

static inline __attribute__((always_inline)) void poll_once(void)
{
	if (indirect)
		TL_SAFEPOINT_POLL_AT(tl_safepoint_place(safepoint));
	else
		TL_SAFEPOINT_POLL(safepoint);
}

static void wait_for(int wanted)
{
	while (phase != wanted)
		usleep(100);
}

/* On a busy machine it may take its time. */
static void goes_on(uint64_t seen)
{
	for (int i = 0; polls == seen; i++) {
		CHECK(i < 20000, "the thread stands still");
		usleep(1000);
	}
}

/* Holds a known value in a register that calls preserve, polls, and says what it finds there. */
static uint64_t poll_with_rbx(uint64_t value)
{
	register uint64_t rbx __asm__("rbx") = value;

	while (phase == 1) {
		__asm__ volatile("" : "+r"(rbx));
		poll_once();
		polls++;
	}
	return rbx;
}

static void *poller(void *argument)
{
	uint64_t result;

	CHECK_OK(tl_safepoint_register(safepoint));
	CHECK_EQUAL(tl_safepoint_register(safepoint), -EALREADY);
	phase = 1;
	result = poll_with_rbx(0x1111222233334444);
	CHECK_OK(tl_safepoint_leave(safepoint));
	CHECK_EQUAL(tl_safepoint_leave(safepoint), -ENOENT);
	*(uint64_t *)argument = result;
	return NULL;
}

static int change_root(const struct tl_safepoint_thread *thread, void *arg)
{
	int *parked = arg;

	if (thread->blocking)
		return 0;
	CHECK(thread->context->uc_mcontext.gregs[REG_RBX] == 0x1111222233334444);
	thread->context->uc_mcontext.gregs[REG_RBX] = 0x5555;
	(*parked)++;
	return 0;
}

/* A moving collector's work: the root in a register is read and changed. */
static void registers_are_read_and_changed(void)
{
	pthread_t thread;
	uint64_t result = 0, before;
	int parked = 0;

	phase = 0;
	CHECK(pthread_create(&thread, NULL, poller, &result) == 0);
	wait_for(1);
	CHECK_OK(tl_safepoint_stop(safepoint, SECOND));
	CHECK_EQUAL(tl_safepoint_stop(safepoint, SECOND), -EDEADLK);
	CHECK_EQUAL(tl_safepoint_register(safepoint), -EDEADLK);
	before = polls;
	CHECK_OK(tl_safepoint_each(safepoint, change_root, &parked));
	usleep(2000);
	CHECK_EQUAL(polls, before);
	CHECK_EQUAL(parked, 1);
	CHECK_EQUAL(tl_safepoint_close(safepoint), -EBUSY);
	phase = 2;
	CHECK_OK(tl_safepoint_resume(safepoint));
	CHECK_EQUAL(tl_safepoint_resume(safepoint), -EPERM);
	CHECK_EQUAL(tl_safepoint_each(safepoint, change_root, &parked), -EPERM);
	pthread_join(thread, NULL);
	CHECK_EQUAL(result, 0x5555);
}

static void *never_polls(void *argument)
{
	stubborn = (pid_t)syscall(SYS_gettid);
	CHECK_OK(tl_safepoint_register(safepoint));
	phase = 1;
	while (phase == 1)
		polls++;
	CHECK_OK(tl_safepoint_leave(safepoint));
	return argument;
}

static void timeout_names_the_thread(void)
{
	pthread_t thread;
	uint64_t before;

	phase = 0;
	CHECK(pthread_create(&thread, NULL, never_polls, NULL) == 0);
	wait_for(1);
	CHECK_EQUAL(tl_safepoint_stop(safepoint, SECOND / 20), -ETIMEDOUT);
	CHECK_EQUAL(tl_safepoint_laggard(safepoint), stubborn);
	CHECK_EQUAL(tl_safepoint_resume(safepoint), -EPERM);
	before = polls;
	goes_on(before);
	phase = 2;
	pthread_join(thread, NULL);
}

static uint64_t block_with_rbx(uint64_t value)
{
	register uint64_t rbx __asm__("rbx") = value;

	__asm__ volatile("" : "+r"(rbx));
	CHECK_OK(tl_safepoint_enter_blocking(safepoint));
	phase = 1;
	__asm__ volatile("" : "+r"(rbx));
	while (phase == 1)
		usleep(100);
	CHECK_OK(tl_safepoint_leave_blocking(safepoint));
	phase = 3;
	return rbx;
}

static void *blocker(void *argument)
{
	CHECK_OK(tl_safepoint_register(safepoint));
	*(uint64_t *)argument = block_with_rbx(0x7777);
	CHECK_OK(tl_safepoint_leave(safepoint));
	return NULL;
}

static int find_root(const struct tl_safepoint_thread *thread, void *arg)
{
	CHECK(thread->blocking);
	if (thread->context->uc_mcontext.gregs[REG_RBX] == 0x7777)
		(*(int *)arg)++;
	return 0;
}

/* A thread in a blocking region is not waited for, cannot leave while stopped, and shows its
 * registers. */
static void blocking_region_counts_as_stopped(void)
{
	pthread_t thread;
	uint64_t result;
	int found = 0;

	phase = 0;
	CHECK(pthread_create(&thread, NULL, blocker, &result) == 0);
	wait_for(1);
	CHECK_OK(tl_safepoint_stop(safepoint, SECOND));
	CHECK_OK(tl_safepoint_each(safepoint, find_root, &found));
	CHECK_EQUAL(found, 1);
	phase = 2;
	usleep(20000);
	CHECK_EQUAL(phase, 2);
	CHECK_OK(tl_safepoint_resume(safepoint));
	pthread_join(thread, NULL);
	CHECK_EQUAL(phase, 3);
	CHECK_EQUAL(result, 0x7777);
}

struct handshake {
	pid_t asker;
	int by_itself, on_behalf;
};

static void count_handshake(const struct tl_safepoint_thread *thread, void *arg)
{
	struct handshake *handshake = arg;

	if ((pid_t)syscall(SYS_gettid) == thread->tid)
		handshake->by_itself++;
	else
		handshake->on_behalf++;
}

static void handshake_runs_once_in_each(void)
{
	pthread_t polling, blocking;
	struct handshake handshake = {0};
	uint64_t result;

	phase = 0;
	CHECK(pthread_create(&blocking, NULL, blocker, &result) == 0);
	wait_for(1);
	CHECK(pthread_create(&polling, NULL, poller, &result) == 0);
	usleep(50000);
	for (int i = 1; i <= 100; i++) {
		CHECK_OK(tl_safepoint_handshake(safepoint, count_handshake, &handshake, SECOND));
		CHECK_EQUAL(handshake.by_itself, i);
		CHECK_EQUAL(handshake.on_behalf, i);
	}
	phase = 2;
	pthread_join(polling, NULL);
	pthread_join(blocking, NULL);
	phase = 0;
	CHECK(pthread_create(&polling, NULL, never_polls, NULL) == 0);
	wait_for(1);
	CHECK_EQUAL(tl_safepoint_handshake(safepoint, count_handshake, &handshake, SECOND / 50),
		    -ETIMEDOUT);
	CHECK_EQUAL(tl_safepoint_laggard(safepoint), stubborn);
	phase = 2;
	pthread_join(polling, NULL);
}

static volatile int stops;

static void *stop_often(void *argument)
{
	CHECK_OK(tl_safepoint_register(safepoint));
	for (int i = 0; i < 300; i++) {
		poll_once();
		CHECK_OK(tl_safepoint_stop(safepoint, 10ull * SECOND));
		stops++; /* alone: no atomic needed */
		CHECK_OK(tl_safepoint_resume(safepoint));
	}
	return argument; /* ends without leaving */
}

static void stoppers_do_not_deadlock(void)
{
	pthread_t threads[4];

	stops = 0;
	for (int i = 0; i < 4; i++)
		CHECK(pthread_create(&threads[i], NULL, stop_often, NULL) == 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQUAL(stops, 1200);
}

static sigjmp_buf out;

static void on_fault(int number)
{
	siglongjmp(out, number);
}

/* The program's own faults stay the program's; and its own poll may be another instruction. */
static void *poll_by_hand(void *argument)
{
	const uint32_t *const volatile *place;
	volatile uintptr_t nowhere = 16;

	CHECK_OK(tl_safepoint_register(safepoint));
	place = tl_safepoint_place(safepoint);
	phase = 1;
	while (phase == 1) {
		__asm__ volatile("testl %%eax, 0(%0)" : : "r"(*place) : "cc", "memory");
		polls++;
	}
	signal(SIGSEGV, on_fault);
	if (sigsetjmp(out, 1) == 0) {
		*(volatile int *)nowhere = 1;
		CHECK(0, "a fault went by");
	}
	signal(SIGSEGV, SIG_DFL);
	return argument;
}

/* Where the fault cannot be taken a thread keeps its watchpoint, or cannot take part. */
static void check_blocked_signal(bool watchpoints)
{
	CHECK_EQUAL(tl_safepoint_register(safepoint), watchpoints ? 0 : -EINVAL);
	if (watchpoints) {
		CHECK(tl_safepoint_place(safepoint), "no place");
		CHECK_OK(tl_safepoint_leave(safepoint));
	}
}

static void faults_are_told_apart(bool watchpoints)
{
	sigset_t segv, before;
	pthread_t thread;
	uint64_t seen;

	CHECK(tl_safepoint_place(safepoint) == NULL);
	sigemptyset(&segv);
	sigaddset(&segv, SIGSEGV);
	pthread_sigmask(SIG_BLOCK, &segv, &before);
	check_blocked_signal(watchpoints);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	phase = 0;
	CHECK(pthread_create(&thread, NULL, poll_by_hand, NULL) == 0);
	wait_for(1);
	CHECK_OK(tl_safepoint_stop(safepoint, SECOND));
	seen = polls;
	usleep(2000);
	CHECK_EQUAL(polls, seen);
	CHECK_OK(tl_safepoint_resume(safepoint));
	goes_on(seen);
	phase = 2;
	pthread_join(thread, NULL);
}

/* Enters the region while it is armed, so that the region's polls fault. */
static void *poll_while_blocking(void *argument)
{
	const uint32_t *const volatile *place;
	const uint32_t *unarmed;

	CHECK_OK(tl_safepoint_register(safepoint));
	place = tl_safepoint_place(safepoint);
	unarmed = *place;
	phase = 1;
	while (*place == unarmed)
		;
	CHECK_OK(tl_safepoint_enter_blocking(safepoint));
	TL_SAFEPOINT_POLL_AT(place);
	phase = 2;
	wait_for(3);
	CHECK_OK(tl_safepoint_leave_blocking(safepoint));
	CHECK_OK(tl_safepoint_leave(safepoint));
	return argument;
}

/* The thread counts as stopped there already: a poll neither stops it nor makes it running. */
static void polls_of_blocking_region_are_nothing(void)
{
	pthread_t thread;

	phase = 0;
	CHECK(pthread_create(&thread, NULL, poll_while_blocking, NULL) == 0);
	wait_for(1);
	CHECK_OK(tl_safepoint_stop(safepoint, 10ull * SECOND));
	for (int i = 0; phase != 2; i++) {
		CHECK(i < 10000, "the poll stops the thread");
		usleep(1000);
	}
	CHECK_OK(tl_safepoint_resume(safepoint));
	CHECK_OK(tl_safepoint_stop(safepoint, SECOND));
	CHECK_OK(tl_safepoint_resume(safepoint));
	phase = 3;
	pthread_join(thread, NULL);
}

static void *ask_for_slots(void *argument)
{
	static long words[4];
	tl_event *events[4];

	CHECK_OK(tl_safepoint_register(safepoint));
	CHECK(tl_safepoint_place(safepoint), "no place");
	for (int i = 0; i < 4; i++)
		events[i] = check_open(&words[i], 8, TL_WRITE, TL_THREAD, check_count_hit, NULL);
	for (int i = 0; i < 4; i++)
		CHECK_OK(tl_event_close(events[i]));
	CHECK_OK(tl_safepoint_leave(safepoint));
	return argument;
}

/* A thread that polls at its place has no watchpoint. */
static void slots_are_given_back(void)
{
	pthread_t thread;

	CHECK(!pthread_create(&thread, NULL, ask_for_slots, NULL), "create");
	pthread_join(thread, NULL);
}

/* By flags, and by how threads poll. */
static void all_rules(unsigned flags, bool place)
{
	struct tl_safepoint_spec spec = {.size = sizeof(spec), .flags = flags};

	indirect = place;
	CHECK_OK(tl_safepoint_open(&safepoint, &spec));
	CHECK_EQUAL(tl_safepoint_enter_blocking(safepoint), -ENOENT);
	CHECK_OK(tl_safepoint_stop(safepoint, SECOND));
	CHECK_OK(tl_safepoint_resume(safepoint));
	registers_are_read_and_changed();
	timeout_names_the_thread();
	blocking_region_counts_as_stopped();
	handshake_runs_once_in_each();
	stoppers_do_not_deadlock();
	if (indirect && flags != TL_SAFEPOINT_WATCHPOINT) {
		faults_are_told_apart(!flags);
		slots_are_given_back();
		polls_of_blocking_region_are_nothing();
	}
	CHECK_OK(tl_safepoint_close(safepoint));
}

static void open_many(void)
{
	struct tl_safepoint_spec spec = {.size = sizeof(spec), .flags = TL_SAFEPOINT_INDIRECT};
	tl_safepoint *many[65];

	for (int i = 0; i < 64; i++)
		CHECK_OK(tl_safepoint_open(&many[i], &spec));
	CHECK_EQUAL(tl_safepoint_open(&many[64], &spec), -ENOSPC);
	for (int i = 0; i < 64; i++)
		CHECK_OK(tl_safepoint_close(many[i]));
}

int main(void)
{
	struct tl_safepoint_spec spec = {.size = sizeof(spec), .flags = 4};

	CHECK_EQUAL(tl_safepoint_open(&safepoint, &spec), -EINVAL);
	spec.flags = TL_SAFEPOINT_INDIRECT | TL_SAFEPOINT_WATCHPOINT;
	CHECK_EQUAL(tl_safepoint_open(&safepoint, &spec), -EINVAL);
	all_rules(0, false);
	all_rules(0, true);
	all_rules(TL_SAFEPOINT_INDIRECT, true);
	all_rules(TL_SAFEPOINT_WATCHPOINT, false);
	all_rules(TL_SAFEPOINT_WATCHPOINT, true);
	open_many();
	return 0;
}
