/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters that kill for one call each which a program has little use for: it sets them in a child,
 * looks at and changes its signals there, maps memory where a block was before, limits itself,
 * forks, executes what there is not, and ends by exit().
 */
#include "filter.h"

#define LARGE (1 << 20)
#define PAGE 4096

static const struct {
	const char *name;
	long number;
} calls[] = {
	{"getpid", SYS_getpid},
	{"gettid", SYS_gettid},
	{"tgkill", SYS_tgkill},
	{"kill", SYS_kill},
	{"sched_yield", SYS_sched_yield},
	{"nanosleep", SYS_nanosleep},
	{"process_vm_readv", SYS_process_vm_readv},
	{"rt_tgsigqueueinfo", SYS_rt_tgsigqueueinfo},
	{"rt_sigqueueinfo", SYS_rt_sigqueueinfo},
	{"rt_sigtimedwait", SYS_rt_sigtimedwait},
	{"getppid", SYS_getppid},
	{"madvise", SYS_madvise},
	{"futex", SYS_futex},
	{"faccessat", SYS_faccessat},
	{"openat", SYS_openat},
	{"fgetxattr", SYS_fgetxattr},
	{"getuid", SYS_getuid},
	{"clone", SYS_clone},
	{"newfstatat", SYS_newfstatat},
	{"readlink", SYS_readlink},
	{"userfaultfd", SYS_userfaultfd},
};

static void on_trap(int number)
{
	(void)number;
}

static void use_signals(void)
{
	struct sigaction action = {.sa_handler = on_trap}, old;
	sigset_t trap, pending;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	expect(sigaction(SIGTRAP, &action, &old) == 0);
	expect(sigprocmask(SIG_BLOCK, &trap, NULL) == 0);
	expect(sigpending(&pending) == 0 && !sigismember(&pending, SIGTRAP));
	expect(sigaction(SIGTRAP, &old, NULL) == 0);
	expect(sigprocmask(SIG_UNBLOCK, &trap, NULL) == 0);
}

static char *allocate_large(void)
{
	char *volatile block = malloc(LARGE);

	expect(block);
	block[0] = 1;
	return block;
}

/* Bare, a large block is unmapped as it is freed. Returns a page of it. */
static char *free_large(char *block)
{
	uintptr_t address = (uintptr_t)block;

	free(block);
	return (char *)((address + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
}

static void map_over(char *page)
{
	expect(mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) == page);
	expect(page[0] == 0 && munmap(page, PAGE) == 0);
}

static void use_memory(char *freed, char *block)
{
	const struct rlimit plenty = {1ull << 46, RLIM_INFINITY};

	map_over(freed);
	map_over(free_large(block));
	/* Whether it may raise what it has is not the question. */
	setrlimit(RLIMIT_AS, &plenty);
}

/* Where making a process is forbidden it would end here. */
static void use_fork(void)
{
	pid_t child = fork();
	int status = 1;

	if (child == 0)
		exit(0);
	expect(waitpid(child, &status, 0) == child && status == 0);
}

static void be_child(long number)
{
	struct sock_filter filter[] = {FILTER_LOAD, FILTER_DENY((unsigned)number), FILTER_ALLOW};
	char *const arguments[] = {(char *)"x", NULL};
	char *block = allocate_large(), *freed = free_large(allocate_large());

	filter_install(filter, sizeof(filter) / sizeof(filter[0]));
	for (int i = 0; i < 3; i++)
		noise_mark();
	use_signals();
	use_memory(freed, block);
	if (number != SYS_clone)
		use_fork();
	expect(execv("/nowhere/at/all", arguments) == -1 && errno == ENOENT);
	exit(3);
}

int main(void)
{
	noise_start();
	nap(200000);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		pid_t child = fork();

		if (child == 0)
			be_child(calls[i].number);
		say_end(calls[i].name, child);
	}
	nap(800000);
	noise_stop();
	return 0;
}
