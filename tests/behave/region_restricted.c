/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that restrict their system calls while a region is watched, each in a child: seccomp
 * filters that kill for what regions call, and calls that are dispatched to the program itself.
 */
#include "check.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trapline/trapline.h>
#include <unistd.h>

#define PAGE 4096ul
#define DENIED_MOST 8
#define STRANGE 0xe000l /* no call of the kernel's */

static volatile unsigned char *memory;
static __thread volatile int hits; /* of this thread */
static volatile int over;

static void count(tl_hit *hit, void *arg)
{
	(void)hit, (void)arg;
	hits++;
}

static tl_event *watch_page(void)
{
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (const void *)memory,
			       .len = PAGE,
			       .access = TL_READ | TL_WRITE,
			       .scope = TL_PROCESS};
	tl_event *event = NULL;

	CHECK_EQUAL(tl_event_open(&event, &spec, count, NULL), 0);
	return event;
}

static void expect_no_opening(void)
{
	struct tl_spec spec = {.size = sizeof(spec),
			       .addr = (const void *)(memory + PAGE),
			       .len = PAGE,
			       .access = TL_WRITE,
			       .scope = TL_PROCESS};
	tl_event *event;

	CHECK_EQUAL(tl_event_open(&event, &spec, count, NULL), -EPERM);
}

/* Death for each of `numbers`, in all threads. */
static void forbid(const int *numbers, int count_of)
{
	struct sock_filter filter[2 * DENIED_MOST + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	struct sock_fprog program = {1, filter};

	for (int i = 0; i < count_of; i++) {
		filter[program.len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
								     (unsigned)numbers[i], 0, 1);
		filter[program.len++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	}
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	CHECK_EQUAL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	CHECK_EQUAL(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			    &program),
		    0);
}

#define FORBID(...)                                                           \
	do {                                                                  \
		const int numbers[] = {__VA_ARGS__};                          \
                                                                              \
		forbid(numbers, (int)(sizeof(numbers) / sizeof(numbers[0]))); \
	} while (0)

static void touch(int expected)
{
	int before = hits;

	memory[5] = memory[4];
	CHECK_EQUAL(hits - before, expected);
}

/* Calls that the kernel reads and writes watched memory by, and one that must fail. */
static void call(int expected)
{
	int pair[2], before;
	sigset_t *set = (sigset_t *)(memory + 64);

	CHECK_EQUAL(pipe(pair), 0);
	before = hits;
	CHECK_EQUAL(write(pair[1], (const void *)memory, 8), 8);
	CHECK_EQUAL(read(pair[0], (void *)(memory + 16), 8), 8);
	CHECK_EQUAL(hits - before, expected);
	CHECK_EQUAL(syscall(SYS_rt_sigprocmask, SIG_BLOCK, NULL, set, 8L), 0);
	CHECK_EQUAL(syscall(SYS_rt_sigprocmask, SIG_BLOCK, (void *)8, NULL, 8L), -1);
	CHECK_EQUAL(errno, EFAULT);
	close(pair[0]);
	close(pair[1]);
}

static void *make_calls(void *argument)
{
	while (!over) {
		getppid();
		memory[100]++;
	}
	return argument;
}

/* ---- filters ---------------------------------------------------------------------------- */

/* Copying is done without the kernel then. */
static void copying_is_forbidden(void)
{
	watch_page();
	FORBID(SYS_process_vm_readv, SYS_process_vm_writev, SYS_getpid, SYS_gettid);
	touch(2);
	call(2);
}

/* What is closed stays closed to its pages, and has no hits. */
static void opening_is_forbidden(void)
{
	tl_event *event = watch_page();

	FORBID(SYS_openat, SYS_pkey_mprotect);
	CHECK_EQUAL(check_stat("regions-frozen"), 1);
	touch(2);
	call(2);
	expect_no_opening();
	tl_event_close(event);
	touch(0);
	call(0);
}

static void *do_nothing(void *argument)
{
	return argument;
}

/* New tasks could not be covered: nothing is watched any more, and nobody dies. */
static void covering_is_forbidden(void)
{
	pthread_t busy, other;
	int status;

	watch_page();
	CHECK_EQUAL(pthread_create(&busy, NULL, make_calls, NULL), 0);
	FORBID(SYS_prctl, SYS_openat, SYS_process_vm_readv, SYS_rt_tgsigqueueinfo);
	CHECK_EQUAL(check_stat("regions-ended"), 1);
	touch(0);
	call(0);
	expect_no_opening();
	CHECK_EQUAL(pthread_create(&other, NULL, do_nothing, NULL), 0);
	pthread_join(other, NULL);
	if (fork() == 0)
		_exit(memory[0]);
	CHECK(wait(&status) > 0 && WIFEXITED(status));
	over = 1;
	pthread_join(busy, NULL);
}

/* As libraries ask whether there are filters. */
static void there_is_no_filter(void)
{
	watch_page();
	CHECK_EQUAL(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0), -1);
	CHECK_EQUAL(errno, EFAULT);
	touch(2);
	call(2);
}

/* Its own affair: its parent goes on being watched. */
static void borrower_restricts(void)
{
	int status;
	pid_t child;

	watch_page();
	child = vfork();
	if (child == 0) {
		FORBID(SYS_prctl, SYS_process_vm_readv, SYS_openat);
		_exit(0);
	}
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK_EQUAL(status, 0);
	touch(2);
	call(2);
}

/* ---- dispatching ------------------------------------------------------------------------ */

static volatile char selector; /* 1: calls are dispatched */
static volatile int dispatched;

static void on_call(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	selector = 0;
	dispatched += info->si_syscall == STRANGE;
}

static long strange(void)
{
	long result;

	__asm__ volatile("syscall" : "=a"(result) : "0"(STRANGE) : "rcx", "r11", "memory");
	return result;
}

static void program_dispatches(void)
{
	struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
	pthread_t busy;

	watch_page();
	CHECK_EQUAL(pthread_create(&busy, NULL, make_calls, NULL), 0);
	CHECK_EQUAL(sigaction(SIGSYS, &action, NULL), 0);
	CHECK_EQUAL(prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, 0, 0, &selector), 0);
	for (int i = 0; i < 100; i++) {
		selector = 1;
		CHECK_EQUAL(strange(), STRANGE);
		touch(0);
	}
	CHECK_EQUAL(dispatched, 100);
	CHECK_EQUAL(check_stat("regions-ended"), 1);
	over = 1;
	pthread_join(busy, NULL);
}

static void in_child(const char *name, void (*test)(void))
{
	int status = 0;
	pid_t child;

	fprintf(stderr, "%s\n", name);
	child = fork();
	if (child == 0) {
		test();
		_exit(0);
	}
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	CHECK_EQUAL(status, 0);
}

#define RUN(test) in_child(#test, test)

int main(void)
{
	int key = pkey_alloc(0, 0);

	if (key < 0)
		check_skip("this machine has no protection keys");
	pkey_free(key);
	memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(memory != MAP_FAILED);
	RUN(copying_is_forbidden);
	RUN(opening_is_forbidden);
	for (int i = 0; i < 20; i++)
		RUN(covering_is_forbidden);
	RUN(there_is_no_filter);
	RUN(borrower_restricts);
	for (int i = 0; i < 20; i++)
		RUN(program_dispatches);
	return 0;
}
