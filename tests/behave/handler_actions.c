/* SPDX-License-Identifier: Apache-2.0 */
/* What a handler may do to its thread and to its event. */
#include "check.h"

#include <pthread.h>
#include <setjmp.h>

static volatile long watched, other;
static volatile long hits;

/* ---- where the thread resumes ----------------------------------------------------------- */

static __attribute__((noinline, naked)) long skipped_increment(__attribute__((unused)) long value)
{
	__asm__("lea 1(%rdi), %rax\n"
		".globl to_skip\n"
		"to_skip: add $100, %rax\n"
		"add $10, %rax\n"
		"ret\n"
		".globl elsewhere\n"
		"elsewhere: mov $-7, %rax\n"
		"ret\n");
}

extern char to_skip[], elsewhere[];

static void skip(tl_hit *hit, void *arg)
{
	(void)arg;
	hits++;
	CHECK_EQUAL(tl_hit_pc(hit), (uintptr_t)to_skip);
	CHECK_EQUAL(tl_hit_next_pc(hit), (uintptr_t)to_skip);
	CHECK_EQUAL(tl_hit_access(hit), TL_EXEC);
	CHECK_OK(tl_hit_skip(hit));
}

static void go_elsewhere(tl_hit *hit, void *arg)
{
	(void)arg;
	hits++;
	CHECK_OK(tl_hit_resume_at(hit, (uintptr_t)elsewhere));
}

static void test_resume(void)
{
	tl_event *event = check_open(to_skip, 0, TL_EXEC, TL_PROCESS, skip, NULL);

	hits = 0;
	for (int i = 0; i < 100; i++)
		CHECK_EQUAL(skipped_increment(i), i + 11);
	CHECK_EQUAL(hits, 100);
	CHECK_OK(tl_event_close(event));
	CHECK_EQUAL(skipped_increment(1), 112);
	event = check_open(to_skip, 0, TL_EXEC, TL_PROCESS, go_elsewhere, NULL);
	CHECK_EQUAL(skipped_increment(1), -7);
	CHECK_EQUAL(hits, 101);
	CHECK_OK(tl_event_close(event));
}

/* Resuming at another breakpoint hits it. */
static void test_resume_at_breakpoint(void)
{
	volatile long at_target = 0;
	tl_event *first = check_open(to_skip, 0, TL_EXEC, TL_PROCESS, go_elsewhere, NULL);
	tl_event *second =
		check_open(elsewhere, 0, TL_EXEC, TL_PROCESS, check_count_hit, (void *)&at_target);

	CHECK_EQUAL(skipped_increment(1), -7);
	CHECK_EQUAL(at_target, 1);
	CHECK_OK(tl_event_close(first));
	CHECK_OK(tl_event_close(second));
}

/* ---- its own event ---------------------------------------------------------------------- */

static void disable_self(tl_hit *hit, void *arg)
{
	(void)arg;
	hits++;
	CHECK_OK(tl_event_disable(tl_hit_event(hit)));
}

static void move_self(tl_hit *hit, void *arg)
{
	(void)arg;
	hits++;
	CHECK_OK(tl_event_move(tl_hit_event(hit), (const void *)&other, 8, 0));
}

static void close_self(tl_hit *hit, void *arg)
{
	(void)arg;
	hits++;
	CHECK_OK(tl_event_close(tl_hit_event(hit)));
}

static void rearm_self(tl_hit *hit, void *arg)
{
	(void)arg;
	if (++hits < 5)
		CHECK_OK(tl_event_rearm(tl_hit_event(hit), 1));
}

static void test_own_event(void)
{
	tl_event *event;

	hits = 0;
	event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, disable_self, NULL);
	watched = 1;
	watched = 2;
	CHECK_EQUAL(hits, 1);
	CHECK_OK(tl_event_enable(event));
	watched = 3;
	CHECK_EQUAL(hits, 2);
	CHECK_OK(tl_event_close(event));

	hits = 0;
	event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, move_self, NULL);
	watched = 1;
	watched = 2;
	CHECK_EQUAL(hits, 1);
	other = 1;
	CHECK_EQUAL(hits, 2);
	CHECK_OK(tl_event_close(event));

	hits = 0;
	event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, close_self, NULL);
	watched = 1;
	watched = 2;
	CHECK_EQUAL(hits, 1);
	CHECK_EQUAL(tl_event_close(event), -EBADF);

	hits = 0;
	event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, rearm_self, NULL);
	CHECK_OK(tl_event_rearm(event, 1));
	for (int i = 0; i < 100; i++)
		watched = i;
	CHECK_EQUAL(hits, 5);
	CHECK_OK(tl_event_close(event));
}

/* ---- others ----------------------------------------------------------------------------- */

static tl_event *opened_inside;
static volatile long inside_hits;

static void open_other(tl_hit *hit, void *arg)
{
	struct tl_spec spec = check_spec(&other, 8, TL_WRITE, TL_PROCESS);

	(void)hit;
	(void)arg;
	if (!opened_inside)
		CHECK_OK(tl_event_open(&opened_inside, &spec, check_count_hit,
				       (void *)&inside_hits));
}

static void *write_other(void *arg)
{
	other = 1;
	return arg;
}

static void test_open_inside(void)
{
	tl_event *event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, open_other, NULL);
	pthread_t thread;

	watched = 1;
	other = 1;
	CHECK(!pthread_create(&thread, NULL, write_other, NULL), "create");
	pthread_join(thread, NULL);
	CHECK_EQUAL(inside_hits, 2);
	CHECK_OK(tl_event_close(opened_inside));
	CHECK_OK(tl_event_close(event));
}

/* ---- leaving, touching ------------------------------------------------------------------- */

static sigjmp_buf landing;

static void jump_out(tl_hit *hit, void *arg)
{
	(void)hit;
	(void)arg;
	hits++;
	siglongjmp(landing, 1);
}

static void test_longjmp(void)
{
	tl_event *event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, jump_out, NULL);

	hits = 0;
	for (volatile int i = 0; i < 1000; i++)
		if (!sigsetjmp(landing, 1)) {
			watched = i;
			CHECK(0, "the handler did not jump");
		}
	CHECK_EQUAL(hits, 1000);
	CHECK_OK(tl_event_close(event));
	CHECK(check_stat("handlers-abandoned") >= 999, "%llu abandoned",
	      (unsigned long long)check_stat("handlers-abandoned"));
}

static void touch_watched(tl_hit *hit, void *arg)
{
	(void)hit;
	(void)arg;
	hits++;
	for (int i = 0; i < 10; i++)
		watched += i;
}

static void test_touch(void)
{
	tl_event *event =
		check_open(&watched, 8, TL_READ | TL_WRITE, TL_PROCESS, touch_watched, NULL);

	hits = 0;
	for (int i = 0; i < 1000; i++)
		watched = i;
	CHECK_EQUAL(hits, 1000);
	CHECK_EQUAL(watched, 999 + 45);
	CHECK_EQUAL(hits, 1001);
	CHECK_OK(tl_event_close(event));
	CHECK(check_stat("hits-self") >= 1000, "self");
}

/* A SIGTRAP that the program sent itself while a handler ran is not lost with the handler's own. */
static volatile int own_traps;

static void own_handler(int signal)
{
	(void)signal;
	own_traps++;
}

static void touch_and_raise(tl_hit *hit, void *arg)
{
	(void)hit;
	(void)arg;
	hits++;
	syscall(SYS_tgkill, getpid(), check_gettid(), SIGTRAP);
	watched = 5;
}

static void test_raise_inside(void)
{
	tl_event *event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, touch_and_raise, NULL);

	hits = 0;
	signal(SIGTRAP, own_handler);
	watched = 1;
	CHECK_EQUAL(hits, 1);
	CHECK_EQUAL(own_traps, 1);
	signal(SIGTRAP, SIG_DFL);
	CHECK_OK(tl_event_close(event));
}

int main(void)
{
	check_hardware();
	test_resume();
	test_resume_at_breakpoint();
	test_own_event();
	test_open_inside();
	test_longjmp();
	test_touch();
	test_raise_inside();
	return 0;
}
