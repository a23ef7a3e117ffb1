/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program to attach to: `subject WHAT [SECONDS]`. It says "ready" when it runs and at its end
 *what came of its own work, which nobody may change: "ok", or what was wrong.
 *
 *	race	threads add to `racy` without order
 *	work	threads count under a lock, sleep, poll, fork children and wait for them
 *	sleep	the same without children
 *	children	threads fork children that live for 3 ms, one after the other
 *	trap	a handler of its own for SIGTRAP, which it sends itself: each must arrive
 *	ignore	SIGTRAP ignored
 *	block	all threads block SIGTRAP
 *	crowd	200 threads, and all block SIGTRAP
 *	moment	as race, after all signals were blocked, as libc does to fork, while no CPU was free
 *	some	as race, beside a thread that blocks all signals and waits for them
 *	master	a process that blocks all signals, and its children, which race
 *	nursery	a process that forks a child each 10 ms, 100 of them, which live as long as it does
 *	sections	threads on one CPU add to `counted` in restartable sequences
 *		(rseq(2)): no add is lost
 *	server	a process that waits for its child, which computes until SIGUSR1
 *	stacks	as race, but within handlers on alternate stacks of the least size,
 *		and beside them a thread with a large one and one with none
 *	strict	strict seccomp
 *	late	the same after that time
 *	execute	as race, then another program: itself, as `sleep`
 *	orphans	as race, but the first thread ends at once
 *	headless	the same on SIGUSR1
 *	count T N	on SIGUSR1: T threads one after another and beside each other, N writes each
 *to `counted`
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LEAST_STACK 2048 /* the kernel's MINSIGSTKSZ; libc's may be the frame's size */
#define WORKERS 4
#define CHILDREN 100 /* more than are watched at once */
#define TOGETHER 50  /* threads of `count` at a time */
#define SECOND 1000000000ull

static unsigned long long end;
static volatile long racy, counted;
static long guarded, expected, wrong, traps_sent;
static bool forks;
static int queue; /* in which nothing ever comes; there before "ready" is said */
static volatile sig_atomic_t traps_seen, asked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned long long now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (unsigned long long)time.tv_sec * SECOND + (unsigned long long)time.tv_nsec;
}

static void nap(long nanoseconds)
{
	struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};

	/* Nobody sends signals to these threads: what ends early was interrupted by us. `wrong`
	 * tells which by its digits. */
	if (nanosleep(&time, NULL))
		__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static void *race(void *unused)
{
	while (now() < end) {
		for (int i = 0; i < 300; i++)
			racy++;
		nap(1000000);
	}
	return unused;
}

static void *work(void *unused)
{
	struct epoll_event event;

	for (unsigned round = 0; now() < end; round++) {
		for (int i = 0; i < 1000; i++) {
			pthread_mutex_lock(&lock);
			guarded++;
			pthread_mutex_unlock(&lock);
			__atomic_fetch_add(&expected, 1, __ATOMIC_RELAXED);
		}
		nap(200000);
		if (poll(NULL, 0, 1))
			__atomic_fetch_add(&wrong, 1000, __ATOMIC_RELAXED);
		/* A child's end wakes any thread while the one that it is told to is stopped. */
		if (epoll_wait(queue, &event, 1, 1) && !(forks && errno == EINTR))
			__atomic_fetch_add(&wrong, 1000000, __ATOMIC_RELAXED);
	}
	return unused;
}

static void fork_children(void)
{
	while (now() < end) {
		pid_t child = fork();
		int status;

		if (child == 0) {
			guarded++;
			_exit(7);
		}
		if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != 7)
			__atomic_fetch_add(&wrong, 1000000000, __ATOMIC_RELAXED);
		nap(3000000);
	}
}

static void *have_children(void *unused)
{
	while (now() < end) {
		pid_t child = fork();

		if (child == 0) {
			nap(3000000);
			_exit(0);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
	return unused;
}

static void run_nursery(void)
{
	pid_t child[CHILDREN];
	int status;

	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < CHILDREN; i++) {
		child[i] = fork();
		while (child[i] == 0 && now() < end)
			nap(20000000);
		if (child[i] == 0)
			_exit(wrong != 0);
		nap(10000000);
	}
	for (int i = 0; i < CHILDREN; i++)
		if (waitpid(child[i], &status, 0) != child[i] || status)
			wrong++;
}

static void on_trap(int number)
{
	(void)number;
	traps_seen++;
}

static void *trap(void *unused)
{
	while (now() < end) {
		syscall(SYS_tgkill, getpid(), (int)syscall(SYS_gettid), SIGTRAP);
		traps_sent++;
		for (int i = 0; i < 300; i++)
			racy++;
		nap(1000000);
	}
	return unused;
}

/* Another process has the only CPU to itself for so long, and before others where that is
 * permitted. */
#define CROWDED (700 * (SECOND / 1000))

static void wait_for_cpu_with_all_blocked(void)
{
	const struct sched_param first = {.sched_priority = 1}, last = {0};
	unsigned long long all = ~0ull, before, until = now() + CROWDED;
	cpu_set_t one, every;

	sched_getaffinity(0, sizeof(every), &every);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	if (fork() == 0) {
		sched_setscheduler(0, SCHED_FIFO, &first);
		syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
		while (now() < until)
			;
		_exit(0);
	}
	sched_setscheduler(0, SCHED_IDLE, &last);
	sched_yield();
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
	sched_setscheduler(0, SCHED_OTHER, &last);
	sched_setaffinity(0, sizeof(every), &every);
	wait(NULL);
}

/* Whatever comes is none of its business. */
static void *block(void *unused)
{
	const struct timespec slice = {0, 20000000};
	sigset_t set;

	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	while (now() < end) {
		racy++;
		if (sigtimedwait(&set, NULL, &slice) > 0)
			__atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
	}
	return unused;
}

static void on_signal(int number)
{
	(void)number;
	for (int i = 0; i < 300; i++)
		racy++;
}

/* Stacks of all sizes: `size` bytes; 0: none. */
static void *handle(void *size)
{
	stack_t stack = {.ss_size = (size_t)size};

	if (stack.ss_size) {
		stack.ss_sp = malloc(stack.ss_size);
		if (!stack.ss_sp || sigaltstack(&stack, NULL))
			wrong++;
	}
	while (now() < end) {
		raise(SIGUSR2);
		nap(1000000);
	}
	return size;
}

static void run_with_stacks(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	/* sigaltstack(2) refuses less than either. */
	const size_t frame = getauxval(AT_MINSIGSTKSZ);
	const size_t least = frame > LEAST_STACK ? frame : LEAST_STACK;
	const size_t size[WORKERS] = {0, 65536, least, least};
	pthread_t thread[WORKERS];

	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < WORKERS; i++)
		pthread_create(&thread[i], NULL, handle, (void *)size[i]);
	nap(100000000);
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(thread[i], NULL);
}

static void on_ask(int number)
{
	(void)number;
	asked = 1;
}

static void *count(void *writes)
{
	for (long i = 0; i < (long)writes; i++)
		counted = i;
	return NULL;
}

static void count_all(long threads, long writes)
{
	pthread_t thread[TOGETHER];

	while (!asked && now() < end)
		poll(NULL, 0, 10);
	for (long begun = 0; begun < threads;) {
		int together = 0;

		for (; together < TOGETHER && begun < threads; together++, begun++)
			pthread_create(&thread[together], NULL, count, (void *)writes);
		while (together)
			pthread_join(thread[--together], NULL);
	}
	printf("counted\n");
	fflush(stdout);
	while (asked < 2 && now() < end)
		poll(NULL, 0, 10);
}

static void *idle(void *unused)
{
	while (now() < end)
		nap(50000000);
	return unused;
}

static void run_crowd(void)
{
	pthread_t thread;
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	for (int i = 0; i < 200; i++)
		pthread_create(&thread, NULL, idle, NULL);
	printf("ready\n");
	fflush(stdout);
	idle(NULL);
}

static void run(void *(*function)(void *), int threads)
{
	pthread_t thread[WORKERS];

	queue = epoll_create1(EPOLL_CLOEXEC);
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, function, NULL);
	printf("ready\n");
	fflush(stdout);
	if (forks)
		fork_children();
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

#if defined(__x86_64__) && __has_include(<sys/rseq.h>)
#include <sys/rseq.h>

static long added;

/* Long enough that a thread which runs is in the sequence nearly all the time; 7 bytes before the
 * address where it is aborted the kernel looks for the signature. */
static bool add_in_sequence(void)
{
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
	long rounds = 20000;

	__asm__ goto(".pushsection __rseq_sections, \"aw\"\n"
		     ".balign 32\n"
		     "3: .long 0, 0\n"
		     ".quad 1f, 2f - 1f, 4f\n"
		     ".popsection\n"
		     "leaq 3b(%%rip), %%rax\n"
		     "movq %%rax, 8(%[area])\n"
		     "1: movq (%[counter]), %%rax\n"
		     "movq %[rounds], %%rcx\n"
		     "5: decq %%rcx\n"
		     "jnz 5b\n"
		     "incq %%rax\n"
		     "movq %%rax, (%[counter])\n"
		     "2:\n"
		     ".pushsection .text.rseq_aborted, \"ax\"\n"
		     ".byte 0x0f, 0xb9, 0x3d\n"
		     ".long 0x53053053\n"
		     "4: jmp %l[aborted]\n"
		     ".popsection\n"
		     :
		     : [area] "r"(area), [counter] "r"(&counted), [rounds] "r"(rounds)
		     : "rax", "rcx", "memory", "cc"
		     : aborted);
	return true;
aborted:
	return false;
}

static void *add(void *unused)
{
	cpu_set_t cpus, first;
	int cpu = 0;

	sched_getaffinity(0, sizeof(cpus), &cpus);
	while (!CPU_ISSET(cpu, &cpus))
		cpu++;
	CPU_ZERO(&first);
	CPU_SET(cpu, &first);
	pthread_setaffinity_np(pthread_self(), sizeof(first), &first);
	while (now() < end && __rseq_size)
		if (add_in_sequence())
			__atomic_fetch_add(&added, 1, __ATOMIC_RELAXED);
	return unused;
}

static void run_sections(void)
{
	run(add, WORKERS);
	wrong += added - counted;
}
#else
static void run_sections(void)
{
	run(work, 1);
}
#endif

/* Registers alone: no hit comes. */
static void spin(unsigned long long rounds)
{
	for (unsigned long long i = 0; i < rounds; i++)
		__asm__ volatile("");
}

/* For two seconds of its CPU time at least, counted before, since no clock may be read. */
static void run_strictly(void)
{
	const unsigned long long some = 100000000;
	const unsigned long long began = now();
	unsigned long long begin = began, took;

	spin(some);
	took = now() - begin;
	for (int i = 0; i < 3; i++) {
		begin = now();
		spin(some);
		if (now() - begin < took)
			took = now() - begin;
	}
	end += now() - began;
	printf("ready\n");
	fflush(stdout);
	while (now() < end)
		nap(10000000);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
	spin(2 * SECOND / took * some);
	if (write(1, "ok\n", 3) == 3)
		syscall(SYS_exit, 0);
	syscall(SYS_exit, 1);
}

/* One that nobody can enter, as servers have: it waits for its workers alone. */
static void run_master(void)
{
	sigset_t all;
	int status;

	sigfillset(&all);
	for (int i = 0; i < 2; i++) {
		if (fork() == 0) {
			run(race, 2);
			_exit(wrong != 0);
		}
	}
	sigprocmask(SIG_BLOCK, &all, NULL);
	while (wait(&status) > 0)
		wrong += status != 0;
}

static void *compute(void *unused)
{
	while (now() < end && !asked)
		spin(1000000);
	return unused;
}

static void run_server(void)
{
	int status;

	if (fork() == 0) {
		run(compute, 1);
		_exit(0);
	}
	wait(&status);
	wrong += status != 0;
}

/* As a service that needs no socket may be confined. */
static void kill_for_sockets(void)
{
	struct sock_filter instruction[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socketpair, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(instruction) / sizeof(instruction[0]), instruction};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#ifdef LIKE_GO
/* As Go's runtime does it: the section by which its programs are known, and all actions set by
 * system calls of its own before anything else is done. */
__attribute__((section(".go.buildinfo"), used)) static const char build_information[32] = "";

__attribute__((constructor)) static void set_actions(void)
{
	for (int number = 1; number < SIGSYS; number++) {
		struct sigaction action;

		if (number == SIGKILL || number == SIGSTOP || number == SIGUSR1 ||
		    sigaction(number, NULL, &action))
			continue;
		action.sa_handler = on_trap;
		sigfillset(&action.sa_mask);
		action.sa_flags |= SA_ONSTACK | SA_RESTART;
		sigaction(number, &action, NULL);
	}
}
#endif

int main(int argc, char **argv)
{
	pthread_t waiter;
	const char *what = argc > 1 ? argv[1] : "";

	end = now() + (argc > 2 ? strtoul(argv[2], NULL, 10) : 10) * SECOND;
	signal(SIGUSR1, on_ask);
	if (strcmp(what, "race") == 0) {
		run(race, WORKERS);
	} else if (strcmp(what, "work") == 0) {
		forks = true;
		run(work, WORKERS);
	} else if (strcmp(what, "sleep") == 0) {
		run(work, WORKERS);
	} else if (strcmp(what, "children") == 0) {
		run(have_children, WORKERS);
	} else if (strcmp(what, "trap") == 0) {
		signal(SIGTRAP, on_trap);
		run(trap, 1);
		wrong = traps_seen - traps_sent;
	} else if (strcmp(what, "ignore") == 0) {
		signal(SIGTRAP, SIG_IGN);
		run(race, 2);
	} else if (strcmp(what, "block") == 0) {
		sigset_t set;

		sigfillset(&set);
		sigprocmask(SIG_BLOCK, &set, NULL);
		run(race, 1);
	} else if (strcmp(what, "crowd") == 0) {
		run_crowd();
	} else if (strcmp(what, "moment") == 0) {
		printf("ready\n");
		fflush(stdout);
		wait_for_cpu_with_all_blocked();
		run(race, 2);
	} else if (strcmp(what, "some") == 0) {
		pthread_create(&waiter, NULL, block, NULL);
		run(race, WORKERS);
		pthread_join(waiter, NULL);
	} else if (strcmp(what, "master") == 0) {
		run_master();
	} else if (strcmp(what, "nursery") == 0) {
		run_nursery();
	} else if (strcmp(what, "sections") == 0) {
		run_sections();
	} else if (strcmp(what, "server") == 0) {
		run_server();
	} else if (strcmp(what, "execute") == 0) {
		run(race, WORKERS);
		execl("/proc/self/exe", argv[0], "sleep", "2", NULL);
	} else if (strcmp(what, "orphans") == 0 || strcmp(what, "headless") == 0) {
		for (int i = 0; i < WORKERS; i++)
			pthread_create(&waiter, NULL, race, NULL);
		printf("ready\n");
		fflush(stdout);
		while (strcmp(what, "headless") == 0 && !asked && now() < end)
			poll(NULL, 0, 10);
		pthread_exit(NULL);
	} else if (strcmp(what, "late") == 0) {
		run_strictly();
	} else if (strcmp(what, "stacks") == 0) {
		run_with_stacks();
	} else if (strcmp(what, "filter") == 0) {
		kill_for_sockets();
		run(race, 2);
	} else if (strcmp(what, "strict") == 0) {
		printf("ready\n");
		fflush(stdout);
		prctl(PR_SET_SECCOMP, 1);
		for (volatile long i = 0; i < 2000000000; i++)
			;
		syscall(SYS_exit, 0);
	} else if (strcmp(what, "count") == 0 && argc > 4) {
		printf("ready\n");
		fflush(stdout);
		count_all(atol(argv[3]), atol(argv[4]));
	}
	printf(wrong || guarded != expected ? "wrong %ld %ld %ld\n" : "ok\n", wrong, guarded,
	       expected);
	return wrong != 0;
}
