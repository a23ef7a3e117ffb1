/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program for patched.py, started bare: threads call what is replaced all the time. It answers
 * each line of its input.
 *
 *	threads N	begins so many more threads
 *	count		how many calls of value() and second() since the last time led to the old
 *			one, the new one and neither, and in how many threads to the first two
 *	text		what text() of the program or of the fix says
 *	stack		handles SIGUSR1 on an alternate stack from now on
 *	fork		the same as `text`, in a forked child
 *	placed		what placed() and counted() say, which begin with operands that count from
 *the pc block		begins a thread that blocks SIGTRAP and calls nothing
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS_MOST 64
/* Nothing is known of it where it is called. */
#ifdef __clang__
#define CALLED __attribute__((noinline, optnone, used))
#else
#define CALLED __attribute__((noipa, used))
#endif
#define EXPORTED __attribute__((visibility("default")))

EXPORTED int exported = 40; /* as the fix finds it */

CALLED int value(int x)
{
	return x + 1;
}

CALLED static int second(int x)
{
	return x + 2;
}

CALLED int text(char *to, size_t size, const char *from)
{
	return snprintf(to, size, "old %s", from);
}

CALLED int loops(int x);
__asm__(".text\n.globl loops\n.type loops,@function\nloops:\n.cfi_startproc\n"
	"dec %edi\n jns loops\n mov $7,%eax\n ret\n.cfi_endproc\n.size loops,.-loops\n");

/* lea and mov of operands that count from the pc. */
CALLED int placed(void);
CALLED int counted(void);
__asm__(".text\n.globl placed\n.type placed,@function\nplaced:\n.cfi_startproc\n"
	"lea place(%rip),%r11\n mov (%r11),%eax\n ret\n.cfi_endproc\n.size placed,.-placed\n"
	".globl counted\n.type counted,@function\ncounted:\n.cfi_startproc\n"
	"mov place(%rip),%eax\n ret\n.cfi_endproc\n.size counted,.-counted\n"
	"place: .long 50\n");

/* A call is noted in the turn in which it began, however late its thread comes to that: `count`
 * ends a turn. */
#define TURNS 64

static _Atomic unsigned turn;
static struct caller {
	_Atomic unsigned long old[TURNS], new[TURNS], neither[TURNS];
} caller[THREADS_MOST];
static unsigned callers;

static void note(struct caller *own, unsigned began, int result, int old, int new)
{
	if (result == old)
		atomic_fetch_add(&own->old[began], 1);
	else if (result == new)
		atomic_fetch_add(&own->new[began], 1);
	else
		atomic_fetch_add(&own->neither[began], 1);
}

static void *call(void *arg)
{
	struct caller *own = arg;

	for (int x = 0;; x = (x + 1) & 0xff) {
		unsigned began = atomic_load(&turn) % TURNS;

		note(own, began, value(x), x + 1, x + 1001);
		began = atomic_load(&turn) % TURNS;
		note(own, began, second(x), x + 2, x + 1002);
		if (!(x & 15))
			usleep(200);
	}
	return NULL;
}

static void begin(int count)
{
	pthread_t thread;

	for (int i = 0; i < count && callers < THREADS_MOST; i++)
		if (pthread_create(&thread, NULL, call, &caller[callers++]))
			abort();
	printf("threads %u\n", callers);
}

static void tell(void)
{
	unsigned long old = 0, new = 0, neither = 0, with_old = 0, with_new = 0;
	unsigned ended = atomic_load(&turn) % TURNS, next = (ended + 1) % TURNS;

	for (unsigned i = 0; i < THREADS_MOST; i++) {
		atomic_store(&caller[i].old[next], 0);
		atomic_store(&caller[i].new[next], 0);
		atomic_store(&caller[i].neither[next], 0);
	}
	atomic_fetch_add(&turn, 1);

	for (unsigned i = 0; i < callers; i++) {
		unsigned long o = atomic_load(&caller[i].old[ended]),
			      n = atomic_load(&caller[i].new[ended]);

		old += o;
		new += n;
		with_old += o > 0;
		with_new += n > 0;
		neither += atomic_load(&caller[i].neither[ended]);
	}
	printf("%lu %lu %lu %lu %lu\n", old, new, neither, with_old, with_new);
}

static void say(const char *from)
{
	char to[128];
	int length = text(to, sizeof(to), from);

	printf("%s %d\n", to, length);
}

static void say_in_child(void)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		say("child");
		fflush(stdout);
		_exit(0);
	}
	waitpid(child, &status, 0);
	if (status)
		printf("child %d\n", status);
}

static void *wait_for_ever(void *blocked)
{
	for (;;)
		pause();
	return blocked;
}

static void block(void)
{
	sigset_t trap;
	pthread_t thread;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	pthread_sigmask(SIG_BLOCK, &trap, NULL);
	printf("block %d\n", pthread_create(&thread, NULL, wait_for_ever, NULL));
	pthread_sigmask(SIG_UNBLOCK, &trap, NULL);
}

static void handle(int number)
{
	(void)number;
}

static void take_stack(void)
{
	static char memory[65536];
	const stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};

	printf("stack %d\n", sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &action, NULL));
}

int main(void)
{
	char line[64];

	printf("pid %d loops %d\n", getpid(), loops(3));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strncmp(line, "threads ", 8))
			begin(atoi(line + 8));
		else if (!strcmp(line, "count\n"))
			tell();
		else if (!strcmp(line, "text\n"))
			say("text");
		else if (!strcmp(line, "stack\n"))
			take_stack();
		else if (!strcmp(line, "placed\n"))
			printf("%d %d\n", placed(), counted());
		else if (!strcmp(line, "block\n"))
			block();
		else if (!strcmp(line, "fork\n"))
			say_in_child();
		fflush(stdout);
	}
	return 0;
}
