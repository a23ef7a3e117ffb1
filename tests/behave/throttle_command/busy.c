/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program to be throttled, that says what it got. usage: busy SECONDS WHAT…
 *
 *	spin [THREADS]	all the time
 *	sleep		5 ms of CPU time, then 5 ms of sleep
 *	block		with every signal blocked
 *	fork		children one after the other, each 15 ms of CPU time
 *	short		children one after the other that run this program again and end at once
 *	raw		a child of raw clone(2), which nobody is told of, uses 0.3 s, then itself
 *	names		two threads, `compress-1` and `front`
 *	alarm		a timer's signal each 10 ms, every third handler left by siglongjmp()
 *	filter		under a system-call filter that allows everything
 *
 * Each 0.3 s a JSON line on stdout: elapsed, cpu (with children that have ended), and how
 *long its threads waited for a processor, which no throttle is to blame for, all in seconds since
 *the last line.
 */
#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define INTERVAL 0.3

static double clock_seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double children_cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Second field of schedstat (Documentation/scheduler/sched-stats.rst), of the threads of this name.
 */
static double waited(const char *wanted)
{
	unsigned long long ran, delay, sum = 0;
	struct dirent *entry;
	DIR *list = opendir("/proc/self/task");
	char name[300];

	while (list && (entry = readdir(list))) {
		FILE *comm, *file;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "/proc/self/task/%s/comm", entry->d_name);
		comm = fopen(name, "r");
		snprintf(name, sizeof(name), "/proc/self/task/%s/schedstat", entry->d_name);
		file = fopen(name, "r");
		if (comm && file && fscanf(comm, "%299s", name) == 1 &&
		    (!wanted || !strcmp(name, wanted)) &&
		    fscanf(file, "%llu %llu", &ran, &delay) == 2)
			sum += delay;
		if (comm)
			fclose(comm);
		if (file)
			fclose(file);
	}
	if (list)
		closedir(list);
	return (double)sum / 1e9;
}

struct reading {
	double elapsed, cpu, waited;
};

static struct reading read_all(void)
{
	return (struct reading){clock_seconds(CLOCK_MONOTONIC),
				clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + children_cpu(),
				waited(NULL)};
}

static double end;

/* Prints when it is time; false when all is over. */
static volatile sig_atomic_t printing; /* no handler may leave that half done */

static int goes_on(void)
{
	static struct reading last;
	struct reading now;

	if (clock_seconds(CLOCK_MONOTONIC) < last.elapsed + INTERVAL)
		return 1;
	now = read_all();
	if (last.elapsed > 0) {
		printing = 1;
		printf("{\"elapsed\":%.6f,\"cpu\":%.6f,\"waited\":%.6f}\n",
		       now.elapsed - last.elapsed, now.cpu - last.cpu, now.waited - last.waited);
		fflush(stdout);
		printing = 0;
	}
	last = now;
	return now.elapsed < end;
}

static void use(double seconds)
{
	double until = clock_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;

	while (clock_seconds(CLOCK_THREAD_CPUTIME_ID) < until)
		for (volatile int i = 0; i < 1000; i++)
			;
}

static void *spin_thread(void *name)
{
	if (name)
		prctl(PR_SET_NAME, name);
	for (;;)
		use(1);
	return NULL;
}

static void start_thread(void *name, pthread_t *thread)
{
	if (pthread_create(thread, NULL, spin_thread, name))
		abort();
}

static double thread_cpu(pthread_t thread)
{
	clockid_t clock;

	return pthread_getcpuclockid(thread, &clock) ? 0 : clock_seconds(clock);
}

static void names(void)
{
	static char compress[] = "compress-1", front[] = "front";
	pthread_t threads[2];
	double begun = clock_seconds(CLOCK_MONOTONIC);

	start_thread(compress, &threads[0]);
	start_thread(front, &threads[1]);
	while (clock_seconds(CLOCK_MONOTONIC) < end)
		usleep(10000);
	printf("{\"elapsed\":%.6f,\"compress\":%.6f,\"front\":%.6f,\"front_waited\":%.6f}\n",
	       clock_seconds(CLOCK_MONOTONIC) - begun, thread_cpu(threads[0]),
	       thread_cpu(threads[1]), waited(front));
	fflush(stdout);
	_exit(0);
}

static void child(char *self)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (self)
			execl(self, self, "0", "nothing", NULL);
		use(0.015);
		exit(0);
	}
	waitpid(pid, NULL, 0);
}

static void raw_child(void)
{
	static int done;
	long pid;

	if (done++)
		return;
	pid = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0) {
		use(0.3);
		syscall(SYS_exit_group, 0);
	}
	waitpid((pid_t)pid, NULL, 0);
}

static sigjmp_buf out;
static volatile sig_atomic_t alarms, jumps;

static void on_alarm(int number)
{
	(void)number;
	if (++alarms % 3 == 0 && !printing) {
		jumps++;
		siglongjmp(out, 1);
	}
}

static int alarms_until_end(void)
{
	struct itimerval timer = {{0, 10000}, {0, 10000}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &timer, NULL);
	sigsetjmp(out, 1);
	while (goes_on())
		use(0.0001);
	timer = (struct itimerval){0};
	setitimer(ITIMER_REAL, &timer, NULL);
	printf("{\"alarms\":%d,\"jumps\":%d}\n", (int)alarms, (int)jumps);
	return 0;
}

static void filter(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &allow};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		abort();
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "spin";
	sigset_t all;
	pthread_t thread;

	end = clock_seconds(CLOCK_MONOTONIC) + (argc > 1 ? atof(argv[1]) : 1);
	sigfillset(&all);
	if (!strcmp(what, "nothing"))
		return 0;
	if (!strcmp(what, "names"))
		names();
	if (!strcmp(what, "alarm"))
		return alarms_until_end();
	if (!strcmp(what, "block"))
		sigprocmask(SIG_SETMASK, &all, NULL);
	if (!strcmp(what, "filter"))
		filter();
	for (int i = 1; argc > 3 && i < atoi(argv[3]); i++)
		start_thread(NULL, &thread);
	while (goes_on()) {
		if (!strcmp(what, "raw"))
			raw_child();
		if (!strcmp(what, "fork"))
			child(NULL);
		else if (!strcmp(what, "short"))
			child(argv[0]);
		else
			use(0.005);
		if (!strcmp(what, "sleep"))
			usleep(5000);
	}
	return 0;
}
