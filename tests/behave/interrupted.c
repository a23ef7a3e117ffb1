/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a waiting system call accesses is watched: a signal of the program's ends the call,
 * or lets it go on, as it does unwatched. */
#include "check.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sys/time.h>
#include <sys/uio.h>

#define WRITES 10000

static unsigned word;
static struct iovec vectors[2];
static char bytes[8];
static int feed, signals_of_process;
static volatile sig_atomic_t handled;
static volatile long hits;
static pid_t waiter;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

/* First the signals; and what the call waits for only if those have not ended it. */
static void *disturb(void *argument)
{
	const int *number = argument;

	usleep(50000);
	for (; *number; number++)
		CHECK_OK(signals_of_process ? kill(getpid(), *number)
					    : (int)syscall(SYS_tgkill, getpid(), waiter, *number));
	usleep(50000);
	__atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	CHECK(write(feed, "fed", 3) == 3, "write");
	return argument;
}

static long wait_for_word(int from)
{
	(void)from;
	return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static long wait_for_bytes(int from)
{
	return readv(from, vectors, 2);
}

static void try(const char *what, long (*wait)(int), const int *numbers, bool ends)
{
	sigset_t all, before;
	pthread_t thread;
	int pipes[2], err;
	long result, seen = hits;

	CHECK_OK(pipe(pipes));
	feed = pipes[1];
	word = 0;
	sigfillset(&all);
	sigdelset(&all, SIGTRAP);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	CHECK(!pthread_create(&thread, NULL, disturb, (void *)numbers), "create");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = 0;
	result = wait(pipes[0]);
	err = errno;
	pthread_join(thread, NULL);
	if (ends)
		CHECK(result == -1 && err == EINTR, "%s: %ld, %s", what, result, strerror(err));
	else
		CHECK(result >= 0, "%s: %ld, %s", what, result, strerror(err));
	CHECK(hits > seen, "%s: no hit", what);
	close(pipes[0]);
	close(pipes[1]);
}

static void set_action(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

	CHECK_OK(sigaction(number, &action, NULL));
}

static void try_all(long (*wait)(int))
{
	static const int one[] = {SIGUSR1, 0}, ignored_first[] = {SIGHUP, SIGUSR1, 0},
			 restarts_first[] = {SIGINT, SIGUSR1, 0}, ignored[] = {SIGHUP, 0},
			 by_default[] = {SIGWINCH, 0};

	set_action(SIGHUP, SIG_IGN, 0);
	set_action(SIGINT, on_signal, SA_RESTART);
	set_action(SIGUSR1, on_signal, 0);
	try("a handler without SA_RESTART", wait, one, true);
	try("an ignored signal before it", wait, ignored_first, true);
	try("one with SA_RESTART before it", wait, restarts_first, false);
	try("an ignored signal", wait, ignored, false);
	try("an ignored one by default", wait, by_default, false);
	set_action(SIGUSR1, on_signal, SA_RESTART);
	try("a handler with SA_RESTART", wait, one, false);
}

static void try_watched(const void *at, size_t length, long (*wait)(int))
{
	struct tl_spec spec = check_spec(at, length, TL_READ | TL_WRITE, TL_PROCESS);
	tl_event *event;
	int err;

	spec.flags = TL_INCLUDE_KERNEL;
	err = tl_event_open(&event, &spec, check_count_hit, (void *)&hits);
	if (err == -EACCES || err == -EPERM)
		check_skip("the kernel's accesses may not be watched");
	CHECK_OK(err);
	for (signals_of_process = 0; signals_of_process < 2; signals_of_process++)
		try_all(wait);
	CHECK_OK(tl_event_close(event));
}

/* A loop that comes to its instruction with rcx and the flags as the last call left them. */
__asm__(".text\n"
	"write_often:\n"
	"	push %rbx\n"
	"	mov %rcx, %rbx\n"
	"1:	xor %eax, %eax\n"
	"	mov $1, %eax\n"
	"write_often_call:\n"
	"	syscall\n"
	"	test %rax, %rax\n"
	"	js 2f\n"
	"	dec %rbx\n"
	"	jnz 1b\n"
	"2:	pop %rbx\n"
	"	ret\n");
long write_often(int to, const void *from, size_t length, long times);
extern const char write_often_call[];

/* A breakpoint on the instruction itself: that call has not been made, and no signal ends it. */
static void try_executed(void)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
	tl_event *event;
	FILE *file = tmpfile();
	long before = hits;

	CHECK(file, "tmpfile");
	set_action(SIGALRM, on_signal, 0);
	event = check_open(write_often_call, 0, TL_EXEC, TL_PROCESS, check_count_hit,
			   (void *)&hits);
	CHECK_OK(setitimer(ITIMER_REAL, &often, NULL));
	CHECK_EQUAL(write_often(fileno(file), bytes, sizeof(bytes), WRITES), sizeof(bytes));
	CHECK_OK(setitimer(ITIMER_REAL, &never, NULL));
	CHECK_OK(tl_event_close(event));
	CHECK_EQUAL(hits - before, WRITES);
	set_action(SIGALRM, SIG_DFL, 0);
	fclose(file);
}

int main(void)
{
	check_hardware();
	try_executed();
	alarm(100);
	waiter = (pid_t)syscall(SYS_gettid);
	vectors[0] = (struct iovec){bytes, 1};
	vectors[1] = (struct iovec){bytes + 1, 4};
	try_watched(&word, sizeof(word), wait_for_word);
	try_watched(&vectors[0], 8, wait_for_bytes);
	printf("%d signals handled\n", (int)handled);
	return 0;
}
