/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a throttle keeps: the share of CPU time, whichever threads use it, and what it leaves alone:
 * threads of another name, held sections. Bounds are wide where other programs' load matters.
 */
#include "check.h"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

static volatile int stop;

static double clock_seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void spin(double seconds)
{
	double end = clock_seconds(CLOCK_MONOTONIC) + seconds;

	while (clock_seconds(CLOCK_MONOTONIC) < end)
		for (volatile int i = 0; i < 1000; i++)
			;
}

static struct tl_throttle_spec cpu_spec(double share, const char *threads)
{
	return (struct tl_throttle_spec){.size = sizeof(struct tl_throttle_spec),
					 .counter = TL_CPU_TIME,
					 .budget = (uint64_t)(share * 1e9),
					 .scope = TL_PROCESS,
					 .threads = threads};
}

static void *spin_thread(void *arg)
{
	if (arg)
		prctl(PR_SET_NAME, arg);
	while (!stop)
		for (volatile int i = 0; i < 1000; i++)
			;
	return NULL;
}

/* Never more than the budget, over any time; as much as the machine gives, up to it. */
static void check_share(double share, int threads)
{
	struct tl_throttle_spec spec = cpu_spec(share, NULL);
	pthread_t others[4];
	tl_throttle *throttle;
	double wall, cpu;

	stop = 0;
	CHECK_OK(tl_throttle_open(&throttle, &spec));
	wall = clock_seconds(CLOCK_MONOTONIC);
	cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
	for (int i = 0; i < threads; i++)
		CHECK(!pthread_create(&others[i], NULL, spin_thread, NULL), "create");
	usleep(1500000);
	cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = clock_seconds(CLOCK_MONOTONIC) - wall;
	stop = 1;
	for (int i = 0; i < threads; i++)
		pthread_join(others[i], NULL);
	fprintf(stderr, "budget %.0f %%, %d threads: %.1f %%\n", share * 100, threads,
		cpu / wall * 100);
	/* The burst, and what each thread uses until its first look. */
	CHECK(cpu <= share * (wall + 0.05) + 0.01 * (threads + 1), "%f s of %f", cpu, wall);
	CHECK(tl_throttle_paused(throttle) > 0 || cpu < share * wall, "never paused");
	CHECK_OK(tl_throttle_close(throttle));
}

static double thread_cpu(pthread_t thread)
{
	clockid_t clock;

	CHECK(!pthread_getcpuclockid(thread, &clock), "clock");
	return clock_seconds(clock);
}

static bool busy_machine(void)
{
	double load = 0;

	getloadavg(&load, 1);
	return load > 4 * (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static void check_names(void)
{
	struct tl_throttle_spec spec = cpu_spec(0.05, "slow*");
	pthread_t slow, fast;
	double begun = clock_seconds(CLOCK_MONOTONIC), wall;
	tl_throttle *throttle;

	stop = 0;
	CHECK_OK(tl_throttle_open(&throttle, &spec));
	CHECK(!pthread_create(&slow, NULL, spin_thread, "slow-1"), "create");
	CHECK(!pthread_create(&fast, NULL, spin_thread, "fast-1"), "create");
	/* Twice what the slow one may have, unless others leave it no more than that. */
	do {
		usleep(500000);
		wall = clock_seconds(CLOCK_MONOTONIC) - begun;
	} while (thread_cpu(fast) < 2 * (0.05 * wall + 0.08) && wall < 25);
	CHECK(thread_cpu(fast) >= 2 * (0.05 * wall + 0.08) || busy_machine(), "%f s of %f",
	      thread_cpu(fast), wall);
	CHECK(thread_cpu(slow) < 0.05 * wall + 0.08, "%f s of %f", thread_cpu(slow), wall);
	CHECK(tl_throttle_paused(throttle) > 0 || thread_cpu(slow) < 0.05 * wall, "never paused");
	stop = 1;
	pthread_join(slow, NULL);
	pthread_join(fast, NULL);
	CHECK_OK(tl_throttle_close(throttle));
}

static void check_hold(void)
{
	struct tl_throttle_spec spec = cpu_spec(0.05, NULL);
	tl_throttle *throttle;
	double cpu;

	CHECK_OK(tl_throttle_open(&throttle, &spec));
	tl_throttle_hold();
	tl_throttle_hold();
	tl_throttle_release();
	spin(0.2);
	CHECK_EQUAL(tl_throttle_paused(throttle), 0);
	tl_throttle_release();
	/* Paid for afterwards. */
	cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
	spin(0.3);
	cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	CHECK(cpu < 0.05, "%f s while paying", cpu);
	/* A larger budget takes effect in a thread that is pausing. */
	CHECK_OK(tl_throttle_set_budget(throttle, 10000000000ull, 0));
	cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
	spin(0.3);
	cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	CHECK(cpu > 0.03, "%f s with ten CPUs", cpu);
	CHECK_OK(tl_throttle_close(throttle));
}

static void use(double seconds)
{
	double end = clock_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (clock_seconds(CLOCK_THREAD_CPUTIME_ID) < end)
		for (volatile int i = 0; i < 1000; i++)
			;
}

/* Of the signals that come meanwhile one is kept, and of those that come at once one, too: the
 * other throttles look some periods later. */
static void use_blocked(tl_throttle *throttle, double seconds)
{
	uint64_t paid = tl_throttle_paused(throttle);
	sigset_t trap;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &trap, NULL);
	use(seconds);
	pthread_sigmask(SIG_UNBLOCK, &trap, NULL);
	for (int i = 0; i < 1000 && tl_throttle_paused(throttle) == paid; i++)
		use(0.001);
}

#define OTHERS 15

/* Looked at late it pays for all of it, however many throttles know the thread by its clock. */
static void *share_thread(void *others)
{
	struct tl_throttle_spec spec = cpu_spec(0.1, others);
	tl_throttle *throttle;
	double wall, cpu;

	prctl(PR_SET_NAME, "shared");
	spec.period = 9000000; /* all of the others look meanwhile */
	CHECK_OK(tl_throttle_open(&throttle, &spec));
	wall = clock_seconds(CLOCK_MONOTONIC);
	cpu = clock_seconds(CLOCK_THREAD_CPUTIME_ID);
	for (int i = 0; i < 3; i++)
		use_blocked(throttle, 0.1);
	cpu = clock_seconds(CLOCK_THREAD_CPUTIME_ID) - cpu;
	wall = clock_seconds(CLOCK_MONOTONIC) - wall;
	fprintf(stderr, "budget 10 %%, one of many: %.1f %%\n", cpu / wall * 100);
	CHECK(cpu <= 0.1 * (wall + 0.05) + 0.04, "%f s of %f", cpu, wall);
	CHECK_OK(tl_throttle_close(throttle));
	return NULL;
}

static void check_many(void)
{
	struct tl_throttle_spec spec = cpu_spec(10, "shared");
	tl_throttle *others[OTHERS], *last, *single, *more;
	pthread_t thread;

	/* Of signals that come at once one is kept as well. */
	for (int i = 0; i < OTHERS; i++) {
		spec.period = 2000000 + (uint64_t)i * 70000;
		CHECK_OK(tl_throttle_open(&others[i], &spec));
	}
	CHECK(!pthread_create(&thread, NULL, share_thread, "shared"), "create");
	pthread_join(thread, NULL);
	CHECK_OK(tl_throttle_open(&last, &spec));
	CHECK_EQUAL(tl_throttle_open(&more, &spec), -ENOSPC);
	CHECK(strstr(tl_explain(-ENOSPC), "16"), "%s", tl_explain(-ENOSPC));
	/* No limit of those for a single thread. */
	spec.scope = TL_THREAD;
	CHECK_OK(tl_throttle_open(&single, &spec));
	CHECK_OK(tl_throttle_close(single));
	CHECK_OK(tl_throttle_close(last));
	for (int i = 0; i < OTHERS; i++)
		CHECK_OK(tl_throttle_close(others[i]));
}

/* Their clocks fire at once, and one signal comes of it: the strictest is kept to all the same. */
static void check_same_period(enum tl_scope scope, int strict)
{
	struct tl_throttle_spec spec = cpu_spec(10, NULL);
	tl_throttle *throttles[3];
	double wall, cpu;

	spec.period = 2000000;
	spec.scope = scope;
	for (int i = 0; i < 3; i++) {
		spec.budget = i == strict ? 100000000 : 10000000000ull;
		spec.threads = i == 1 ? "*" : NULL; /* by the thread's clock, not the process's */
		CHECK_OK(tl_throttle_open(&throttles[i], &spec));
	}
	wall = clock_seconds(CLOCK_MONOTONIC);
	cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
	spin(1);
	cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	wall = clock_seconds(CLOCK_MONOTONIC) - wall;
	fprintf(stderr, "budget 10 %%, number %d of three of one period: %.1f %%\n", strict,
		cpu / wall * 100);
	CHECK(cpu <= 0.1 * (wall + 0.05) + 0.02, "%f s of %f", cpu, wall);
	for (int i = 0; i < 3; i++)
		CHECK_OK(tl_throttle_close(throttles[i]));
}

static void *open_and_close(void *arg)
{
	struct tl_throttle_spec spec = cpu_spec(0.2, NULL);
	tl_throttle *throttle;

	while (!stop) {
		CHECK_OK(tl_throttle_open(&throttle, &spec));
		usleep(1000);
		CHECK_OK(tl_throttle_close(throttle));
	}
	return arg;
}

/* One that is looked at in another's handler is closed: nobody reads it afterwards. */
static void check_closing(void)
{
	struct tl_throttle_spec spec = cpu_spec(1, NULL);
	pthread_t busy[2], closing;
	tl_throttle *throttle;

	stop = 0;
	CHECK_OK(tl_throttle_open(&throttle, &spec));
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&busy[i], NULL, spin_thread, NULL), "create");
	CHECK(!pthread_create(&closing, NULL, open_and_close, NULL), "create");
	usleep(1000000);
	stop = 1;
	pthread_join(closing, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(busy[i], NULL);
	CHECK_OK(tl_throttle_close(throttle));
}

#define CHILDREN 3

static double tree_cpu(const pid_t *children)
{
	double cpu = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
	clockid_t clock;

	for (int i = 0; i < CHILDREN; i++) {
		CHECK(!clock_getcpuclockid(children[i], &clock), "clock");
		cpu += clock_seconds(clock);
	}
	return cpu;
}

static void keeps_to(double share, const pid_t *children)
{
	double wall = clock_seconds(CLOCK_MONOTONIC), cpu = tree_cpu(children);

	spin(2);
	cpu = tree_cpu(children) - cpu;
	wall = clock_seconds(CLOCK_MONOTONIC) - wall;
	fprintf(stderr, "budget %.0f %%, a tree of four: %.1f %%\n", share * 100, cpu / wall * 100);
	CHECK(cpu <= share * (wall + 0.05) + 0.02 * (CHILDREN + 1), "%f s of %f", cpu, wall);
}

/* One budget for the process and what it forks, also when it is changed. */
static void check_tree(void)
{
	struct tl_throttle_spec spec = cpu_spec(0.25, NULL);
	pid_t children[CHILDREN];
	tl_throttle *throttle;

	spec.scope = TL_TREE;
	CHECK_OK(tl_throttle_open(&throttle, &spec));
	for (int i = 0; i < CHILDREN; i++) {
		children[i] = fork();
		if (!children[i]) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			spin(60);
			_exit(1);
		}
	}
	keeps_to(0.25, children);
	CHECK_OK(tl_throttle_set_budget(throttle, 50000000, 0));
	keeps_to(0.05, children);
	for (int i = 0; i < CHILDREN; i++) {
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	CHECK_OK(tl_throttle_close(throttle));
}

static void check_faults(void)
{
	struct tl_throttle_spec spec = {.size = sizeof(spec),
					.counter = TL_PAGE_FAULTS,
					.budget = 500,
					.burst = 20,
					.scope = TL_PROCESS};
	char *memory =
		mmap(NULL, 200 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	tl_throttle *throttle;
	double start = clock_seconds(CLOCK_MONOTONIC);

	madvise(memory, 200 * 4096, MADV_NOHUGEPAGE);
	CHECK_OK(tl_throttle_open(&throttle, &spec));
	for (int i = 0; i < 200; i++)
		((volatile char *)memory)[i * 4096] = 1;
	CHECK(clock_seconds(CLOCK_MONOTONIC) - start > 0.34, "200 faults in %f s",
	      clock_seconds(CLOCK_MONOTONIC) - start);
	CHECK_OK(tl_throttle_close(throttle));
}

static void check_refusals(void)
{
	struct tl_throttle_spec spec = cpu_spec(0.5, NULL);
	tl_throttle *throttle;

	spec.budget = 0;
	CHECK_EQUAL(tl_throttle_open(&throttle, &spec), -EINVAL);
	CHECK(strstr(tl_explain(-EINVAL), "budget"), "%s", tl_explain(-EINVAL));
	spec = cpu_spec(0.5, NULL);
	spec.counter = TL_CONTEXT_SWITCHES;
	CHECK_EQUAL(tl_throttle_open(&throttle, &spec), -EINVAL);
	spec = cpu_spec(0.5, NULL);
	spec.size = 4;
	CHECK_EQUAL(tl_throttle_open(&throttle, &spec), -EINVAL);
	CHECK_EQUAL(tl_throttle_close(NULL), -EINVAL);
}

int main(void)
{
	check_hardware();
	check_share(0.05, 1);
	check_share(0.15, 4);
	check_share(0.25, 2);
	check_names();
	check_hold();
	check_tree();
	check_many();
	for (int strict = 0; strict < 3; strict++) {
		check_same_period(TL_THREAD, strict);
		check_same_period(TL_PROCESS, strict);
	}
	check_closing();
	check_faults();
	check_refusals();
	return 0;
}
