/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads asleep in a system call while others are stopped: the kernel's own counts show that they
 * did not run, not even for an instant; and those that wake meanwhile come to a stop.
 */
#include "check.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>

#define SLEEPERS 6
#define POLLERS 2
#define ROUNDS 100
#define MINUTE 60000000000u

enum step { STARTING, FALLING_ASLEEP, AWAKE, GOING_ON };

struct sleeper {
	const struct sleep *sleep;
	bool declared; /* it sleeps in a blocking region */
	pthread_t thread;
	pid_t tid;
	volatile enum step step;
	int pipe[2];
	uint32_t word;
};

struct sleep {
	long system_call;
	void (*fall_asleep)(struct sleeper *sleeper);
};

static tl_safepoint *safepoint;
static bool indirect;
static volatile bool ending;
static struct sleeper sleepers[SLEEPERS];
static pthread_t pollers[POLLERS];
static volatile uint64_t polls[POLLERS];

static inline __attribute__((always_inline)) void poll_once(void)
{
	if (indirect)
		TL_SAFEPOINT_POLL_AT(tl_safepoint_place(safepoint));
	else
		TL_SAFEPOINT_POLL(safepoint);
}

static void sleep_in_read(struct sleeper *sleeper)
{
	char byte;

	CHECK_EQUAL(read(sleeper->pipe[0], &byte, 1), 1);
}

static void sleep_in_poll(struct sleeper *sleeper)
{
	struct pollfd wanted = {.fd = sleeper->pipe[0], .events = POLLIN};

	CHECK_EQUAL(poll(&wanted, 1, -1), 1);
}

static void sleep_in_futex(struct sleeper *sleeper)
{
	CHECK_EQUAL(syscall(SYS_futex, &sleeper->word, FUTEX_WAIT, 0, NULL), 0);
}

static const struct sleep sleeps[] = {
	{SYS_read, sleep_in_read},
	{SYS_poll, sleep_in_poll},
	{SYS_futex, sleep_in_futex},
};

static void wake(struct sleeper *sleeper)
{
	if (sleeper->sleep->system_call == SYS_futex)
		CHECK_EQUAL(syscall(SYS_futex, &sleeper->word, FUTEX_WAKE, 1), 1);
	else
		CHECK_EQUAL(write(sleeper->pipe[1], "", 1), 1);
}

static void *sleep_and_wake(void *argument)
{
	struct sleeper *sleeper = argument;

	CHECK_OK(tl_safepoint_register(safepoint));
	sleeper->tid = check_gettid();
	if (sleeper->declared)
		CHECK_OK(tl_safepoint_enter_blocking(safepoint));
	sleeper->step = FALLING_ASLEEP;
	sleeper->sleep->fall_asleep(sleeper);
	sleeper->step = AWAKE;
	if (sleeper->declared)
		CHECK_OK(tl_safepoint_leave_blocking(safepoint));
	poll_once();
	sleeper->step = GOING_ON;
	while (!ending)
		poll_once();
	CHECK_OK(tl_safepoint_leave(safepoint));
	return NULL;
}

static void *keep_polling(void *argument)
{
	volatile uint64_t *count = argument;

	CHECK_OK(tl_safepoint_register(safepoint));
	while (!ending) {
		(*count)++;
		poll_once();
	}
	CHECK_OK(tl_safepoint_leave(safepoint));
	return NULL;
}

static size_t read_file(pid_t tid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t length;
	int file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)tid, name);
	file = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(file >= 0, "%s", path);
	length = read(file, text, size - 1);
	CHECK(length > 0, "%s", path);
	close(file);
	text[length] = 0;
	return (size_t)length;
}

/* The kernel shows the call's number only of a thread that is off its processor and sleeps. */
static void wait_until_asleep(pid_t tid, long system_call)
{
	char text[256];

	for (;;) {
		read_file(tid, "syscall", text, sizeof(text));
		if (strncmp(text, "running", 7) != 0 && strtol(text, NULL, 10) == system_call)
			return;
		usleep(100);
	}
}

/* What grows whenever a thread runs. */
struct activity {
	char schedule[96]; /* ns on a processor, ns waiting for one, times it got one */
	char switches[96]; /* voluntary and not */
};

static struct activity activity_of(pid_t tid)
{
	struct activity activity = {0};
	char status[4096];
	const char *switches;

	read_file(tid, "schedstat", activity.schedule, sizeof(activity.schedule));
	read_file(tid, "status", status, sizeof(status));
	switches = strstr(status, "voluntary_ctxt_switches");
	CHECK(switches && strlen(switches) < sizeof(activity.switches));
	strcpy(activity.switches, switches);
	return activity;
}

static void note_activities(struct activity *activities)
{
	for (int i = 0; i < SLEEPERS; i++)
		activities[i] = activity_of(sleepers[i].tid);
}

static void none_has_run_since(const struct activity *before)
{
	for (int i = 0; i < SLEEPERS; i++) {
		struct activity now = activity_of(sleepers[i].tid);

		CHECK(!strcmp(now.schedule, before[i].schedule), "%d: %s, before %s",
		      sleepers[i].tid, now.schedule, before[i].schedule);
		CHECK(!strcmp(now.switches, before[i].switches), "%d: %s, before %s",
		      sleepers[i].tid, now.switches, before[i].switches);
		CHECK_EQUAL(sleepers[i].step, FALLING_ASLEEP);
	}
}

static void start_sleepers(bool declared)
{
	for (int i = 0; i < SLEEPERS; i++) {
		struct sleeper *sleeper = &sleepers[i];

		*sleeper = (struct sleeper){
			.sleep = &sleeps[i % (sizeof(sleeps) / sizeof(*sleeps))],
			.declared = declared,
		};
		CHECK(pipe(sleeper->pipe) == 0);
		CHECK(pthread_create(&sleeper->thread, NULL, sleep_and_wake, sleeper) == 0);
	}
	for (int i = 0; i < SLEEPERS; i++) {
		while (sleepers[i].step != FALLING_ASLEEP)
			usleep(100);
		wait_until_asleep(sleepers[i].tid, sleepers[i].sleep->system_call);
	}
}

static void end_sleepers(void)
{
	ending = true;
	for (int i = 0; i < SLEEPERS; i++) {
		pthread_join(sleepers[i].thread, NULL);
		close(sleepers[i].pipe[0]);
		close(sleepers[i].pipe[1]);
	}
}

static void start_pollers(void)
{
	ending = false;
	for (int i = 0; i < POLLERS; i++) {
		polls[i] = 0;
		CHECK(pthread_create(&pollers[i], NULL, keep_polling, (void *)&polls[i]) == 0);
	}
	for (int i = 0; i < POLLERS; i++)
		while (!polls[i])
			usleep(100);
}

struct counted {
	int parked, blocking;
};

static int count_thread(const struct tl_safepoint_thread *thread, void *arg)
{
	struct counted *counted = arg;

	counted->parked += !thread->blocking;
	counted->blocking += thread->blocking;
	return 0;
}

static void check_counts(int parked, int blocking)
{
	struct counted counted = {0};

	CHECK_OK(tl_safepoint_each(safepoint, count_thread, &counted));
	CHECK_EQUAL(counted.parked, parked);
	CHECK_EQUAL(counted.blocking, blocking);
}

static void note_handshake(const struct tl_safepoint_thread *thread, void *arg)
{
	CHECK(thread->tid > 0);
	__atomic_fetch_add((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static void stops_do_not_run_sleepers(void)
{
	struct activity before[SLEEPERS];

	note_activities(before);
	for (int round = 0; round < ROUNDS; round++) {
		int handshaken = 0;

		CHECK_OK(tl_safepoint_stop(safepoint, MINUTE));
		check_counts(POLLERS, SLEEPERS);
		none_has_run_since(before);
		CHECK_OK(tl_safepoint_resume(safepoint));
		CHECK_OK(tl_safepoint_handshake(safepoint, note_handshake, &handshaken, MINUTE));
		CHECK_EQUAL(handshaken, POLLERS + SLEEPERS);
		none_has_run_since(before);
	}
}

/* They run inside their region, may not leave it until resume, and then stop at polls. */
static void waking_sleepers_are_kept(void)
{
	struct activity before = activity_of(sleepers[0].tid), after;

	CHECK_OK(tl_safepoint_stop(safepoint, MINUTE));
	for (int i = 0; i < SLEEPERS; i++)
		wake(&sleepers[i]);
	for (int i = 0; i < SLEEPERS; i++) {
		while (sleepers[i].step == FALLING_ASLEEP)
			usleep(100);
		wait_until_asleep(sleepers[i].tid, SYS_futex);
		CHECK_EQUAL(sleepers[i].step, AWAKE);
	}
	after = activity_of(sleepers[0].tid);
	CHECK(strcmp(before.switches, after.switches) != 0, "a wake-up was not counted");
	check_counts(POLLERS, SLEEPERS);
	CHECK_OK(tl_safepoint_resume(safepoint));
	for (int i = 0; i < SLEEPERS; i++)
		while (sleepers[i].step != GOING_ON)
			usleep(100);
	CHECK_OK(tl_safepoint_stop(safepoint, MINUTE));
	check_counts(POLLERS + SLEEPERS, 0);
	CHECK_OK(tl_safepoint_resume(safepoint));
}

static volatile pid_t stopper;

static void *stop_all(void *argument)
{
	stopper = check_gettid();
	CHECK_OK(tl_safepoint_stop(safepoint, MINUTE));
	for (int i = 0; i < SLEEPERS; i++)
		CHECK_EQUAL(sleepers[i].step, AWAKE);
	check_counts(SLEEPERS, 0);
	CHECK_OK(tl_safepoint_resume(safepoint));
	return argument;
}

/* Sleeping outside a blocking region, they are armed where they sleep: that does not run them
 * either, and they stop at the first poll after waking. */
static void undeclared_sleepers_stop_when_they_wake(void)
{
	struct activity before[SLEEPERS];
	pthread_t thread;

	ending = false;
	start_sleepers(false);
	note_activities(before);
	stopper = 0;
	CHECK(pthread_create(&thread, NULL, stop_all, NULL) == 0);
	while (!stopper)
		usleep(100);
	/* All are armed by the time it sleeps to wait for the first. */
	wait_until_asleep(stopper, SYS_futex);
	none_has_run_since(before);
	for (int i = 0; i < SLEEPERS; i++)
		wake(&sleepers[i]);
	pthread_join(thread, NULL);
	end_sleepers();
}

static void all(unsigned flags)
{
	struct tl_safepoint_spec spec = {.size = sizeof(spec), .flags = flags};

	indirect = flags & TL_SAFEPOINT_INDIRECT;
	CHECK_OK(tl_safepoint_open(&safepoint, &spec));
	start_pollers();
	start_sleepers(true);
	stops_do_not_run_sleepers();
	waking_sleepers_are_kept();
	end_sleepers();
	for (int i = 0; i < POLLERS; i++)
		pthread_join(pollers[i], NULL);
	undeclared_sleepers_stop_when_they_wake();
	CHECK_OK(tl_safepoint_close(safepoint));
}

int main(void)
{
	if (access("/proc/self/syscall", R_OK) || access("/proc/self/schedstat", R_OK))
		check_skip("this kernel does not show what threads sleep in, or when they ran");
	all(TL_SAFEPOINT_INDIRECT);
	check_hardware();
	all(0);
	return 0;
}
