/* SPDX-License-Identifier: Apache-2.0 */
/* fork, vfork, posix_spawn, clone, exec, thread exit and cancellation, exit from a handler. */
#include "check.h"

#include <pthread.h>
#include <sched.h>
#include <spawn.h>

extern char **environ;

static volatile long watched;
static volatile long hits;
static tl_event *event;

static void expect_exit(pid_t child, int code)
{
	int status;

	CHECK_EQUAL(waitpid(child, &status, __WALL), child);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == code, "status %#x", status);
}

static void expect_still_watching(void)
{
	long before = hits;

	watched = 1;
	CHECK_EQUAL(hits, before + 1);
}

/* The child of TL_PROCESS is not watched; what it does to its copy of the event reaches only it. */
static void test_fork(void)
{
	pid_t child = fork();

	if (!child) {
		long before = hits;

		watched = 1;
		CHECK_EQUAL(hits, before);
		CHECK_EQUAL(tl_event_disable(event), -EPERM);
		CHECK_EQUAL(tl_event_enable(event), -EPERM);
		CHECK_EQUAL(tl_event_rearm(event, 1), -EPERM);
		CHECK_OK(tl_event_close(event));
		event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, check_count_hit,
				   (void *)&hits);
		watched = 1;
		CHECK_EQUAL(hits, before + 1);
		_exit(3);
	}
	expect_exit(child, 3);
	expect_still_watching();
}

static void test_vfork(void)
{
	pid_t child = vfork();

	if (!child) {
		watched = 1; /* another process, though the same memory */
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	expect_exit(child, 0);
	expect_still_watching();
}

static void test_spawn(void)
{
	char *arguments[] = {"sh", "-c", "exit 4", NULL};
	pid_t child;

	CHECK_EQUAL(posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ), 0);
	expect_exit(child, 4);
	CHECK_EQUAL(WEXITSTATUS(system("exit 5")), 5);
	expect_still_watching();
}

static int cloned(void *arg)
{
	watched = (long)arg;
	return 6;
}

static void test_clone(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	long before = hits;

	expect_exit(clone(cloned, stack + sizeof(stack), SIGCHLD, NULL), 6);
	expect_exit(clone(cloned, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL), 6);
	CHECK_EQUAL(hits, before);
	expect_still_watching();
}

/* TL_TREE covers children that share the memory, too. */
static void test_clone_tree(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	volatile long tree_hits = 0;
	tl_event *tree =
		check_open(&watched, 8, TL_WRITE, TL_TREE, check_count_hit, (void *)&tree_hits);
	pid_t child;

	expect_exit(clone(cloned, stack + sizeof(stack), CLONE_VM | SIGCHLD, NULL), 6);
	CHECK_EQUAL(tree_hits, 1);
	child = vfork();
	if (!child) {
		watched = 1;
		_exit(2);
	}
	expect_exit(child, 2);
	CHECK_EQUAL(tree_hits, 2);
	CHECK_OK(tl_event_close(tree));
}

static void end_thread(tl_hit *hit, void *arg)
{
	(void)hit;
	__atomic_fetch_add((long *)arg, 1, __ATOMIC_RELAXED);
	pthread_exit((void *)11);
}

static void cancel_here(tl_hit *hit, void *arg)
{
	(void)hit;
	__atomic_fetch_add((long *)arg, 1, __ATOMIC_RELAXED);
	pthread_cancel(pthread_self());
	pthread_testcancel();
}

static void *touch(void *arg)
{
	watched = 1;
	return arg;
}

static void end_threads(tl_hit_fn *fn, void *expected)
{
	volatile long ended = 0;
	tl_event *ending = check_open(&watched, 8, TL_WRITE, TL_PROCESS, fn, (void *)&ended);

	for (int i = 0; i < 50; i++) {
		pthread_t thread;
		void *result;

		CHECK(!pthread_create(&thread, NULL, touch, NULL), "create");
		pthread_join(thread, &result);
		CHECK(result == expected, "result %p", result);
	}
	CHECK_EQUAL(ended, 50);
	CHECK_OK(tl_event_close(ending));
}

static void exit_here(tl_hit *hit, void *arg)
{
	(void)hit;
	(void)arg;
	exit(12);
}

static int at_exit_pipe[2];

static void say_exiting(void)
{
	CHECK_EQUAL(write(at_exit_pipe[1], "x", 1), 1);
}

static void test_exit(void)
{
	pid_t child;
	char byte;

	CHECK_OK(pipe(at_exit_pipe));
	child = fork();
	if (!child) {
		pthread_t thread;

		atexit(say_exiting);
		check_open(&watched, 8, TL_WRITE, TL_PROCESS, exit_here, NULL);
		pthread_create(&thread, NULL, touch, NULL);
		pthread_join(thread, NULL);
		_exit(1);
	}
	expect_exit(child, 12);
	CHECK_EQUAL(read(at_exit_pipe[0], &byte, 1), 1);
}

int main(void)
{
	check_hardware();
	event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, check_count_hit, (void *)&hits);
	test_fork();
	test_vfork();
	test_spawn();
	test_clone();
	test_clone_tree();
	CHECK_OK(tl_event_close(event));
	end_threads(end_thread, (void *)11);
	end_threads(cancel_here, PTHREAD_CANCELED);
	test_exit();
	return 0;
}
