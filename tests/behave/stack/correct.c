/* SPDX-License-Identifier: Apache-2.0 */
/* Correct programs that look like errors of stacks: nothing may be reported. */
#include "cases.h"

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

struct context {
	long value[6];
	struct context *next;
};

static struct context *volatile kept;

static void fill(struct context *context)
{
	for (int i = 0; i < 6; i++)
		context->value[i] = (long)cases_sum + i;
	context->next = NULL;
}

APART static void keep(struct context *context)
{
	kept = context;
}

APART static void use(void)
{
	if (kept)
		cases_sum += (unsigned long)kept->value[3];
}

/* The address is cleared before the frame goes. */
APART static void scope_cleared(void)
{
	struct context context;

	fill(&context);
	keep(&context);
	use();
	keep(NULL);
	work();
}

static void cleared(void)
{
	while (again()) {
		scope_cleared();
		use();
	}
}

/* The address dangles, and is overwritten before anybody uses it. */
APART static void scope_dangling(void)
{
	struct context context;

	fill(&context);
	keep(&context);
	use();
	use();
}

static void dangling_unused(void)
{
	while (again()) {
		scope_dangling();
		work();
	}
}

/* It is loaded and compared, and not used. */
static void dangling_compared(void)
{
	while (again()) {
		scope_dangling();
		if (kept == NULL || (unsigned long)kept == 1)
			work();
		usleep(200);
	}
}

/* A new frame of the same function lies where the last one was. */
static void same_place(void)
{
	while (again()) {
		scope_dangling();
		usleep(100);
		scope_dangling();
	}
}

APART static void pass_down(struct context *context, int depth)
{
	struct context own;

	fill(&own);
	own.next = context;
	context->value[0]++;
	if (depth)
		pass_down(&own, depth - 1);
	cases_sum += (unsigned long)own.value[2];
}

static void passed_down(void)
{
	struct context context;

	fill(&context);
	while (again())
		pass_down(&context, 20);
}

APART static long with_alloca(int size)
{
	char *buffer = (char *)alloca((size_t)size);

	memset(buffer, 1, (size_t)size);
	HIDE(buffer);
	work();
	return buffer[size - 1];
}

static void allocas(void)
{
	for (int i = 0; again(); i++)
		cases_sum += (unsigned long)with_alloca(64 + i % 5000);
}

/* ------------------------------------------------------------------------------------------- */
/* Jumps */

static jmp_buf back;

APART static void jump(int depth)
{
	struct context context;

	fill(&context);
	if (depth)
		jump(depth - 1);
	else
		longjmp(back, 1);
	use();
}

static void jumps(void)
{
	struct context context;

	fill(&context);
	keep(&context);
	while (again()) {
		if (!setjmp(back))
			jump(5);
		use();
	}
}

/* ------------------------------------------------------------------------------------------- */
/* Other stacks */

static void on_signal(int number)
{
	struct context context;

	(void)number;
	fill(&context);
	/* What is interrupted lies below, or on another stack. */
	use();
	pass_down(&context, 2);
}

static void install(int flags)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};

	sigaction(SIGUSR1, &action, NULL);
}

static void signals(void)
{
	struct context context;

	fill(&context);
	keep(&context);
	install(0);
	while (again()) {
		raise(SIGUSR1);
		work();
	}
}

static void alternate_signals(void)
{
	static char area[65536];
	stack_t stack = {.ss_sp = area, .ss_size = sizeof(area)};
	struct context context;

	fill(&context);
	keep(&context);
	sigaltstack(&stack, NULL);
	install(SA_ONSTACK);
	while (again()) {
		raise(SIGUSR1);
		work();
	}
}

/* The alternate stack lies in a frame of the thread: what runs on it is above what it interrupts.
 */
APART static void interrupted(void)
{
	struct context context;

	fill(&context);
	keep(&context);
	for (int i = 0; i < 100; i++)
		raise(SIGUSR1);
	keep(NULL);
}

static void alternate_local(void)
{
	char area[65536];
	stack_t stack = {.ss_sp = area, .ss_size = sizeof(area)};

	sigaltstack(&stack, NULL);
	install(SA_ONSTACK);
	while (again())
		interrupted();
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}

static ucontext_t main_context, routine_context[2];

static void routine(int number)
{
	struct context context;

	fill(&context);
	for (;;) {
		/* The other routine's frame is on another stack, above or below. */
		use();
		keep(&context);
		swapcontext(&routine_context[number], &routine_context[!number]);
		if (number == 0 && !again())
			swapcontext(&routine_context[0], &main_context);
	}
}

static void run_routines(char *first, char *second, size_t size)
{
	char *area[2] = {first, second};

	for (int i = 0; i < 2; i++) {
		getcontext(&routine_context[i]);
		routine_context[i].uc_stack.ss_sp = area[i];
		routine_context[i].uc_stack.ss_size = size;
		makecontext(&routine_context[i], (void (*)(void))routine, 1, i);
	}
	swapcontext(&main_context, &routine_context[0]);
}

static void coroutines_mapped(void)
{
	char *area = mmap(NULL, 131072, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	run_routines(area, area + 65536, 65536);
}

static void coroutines_local(void)
{
	char area[131072];

	run_routines(area, area + 65536, 65536);
}

static void coroutines_heap(void)
{
	char *area = malloc(131072);

	run_routines(area + 65536, area, 65536);
}

/* A coroutine uses what lies in a deeper frame of who resumed it. */
static ucontext_t resumed, resumer;

static void resumed_routine(void)
{
	for (;;) {
		use();
		swapcontext(&resumed, &resumer);
	}
}

APART static void resume_deeply(int depth)
{
	struct context context;

	fill(&context);
	if (depth) {
		resume_deeply(depth - 1);
	} else {
		keep(&context);
		swapcontext(&resumer, &resumed);
		keep(NULL);
	}
	cases_sum += (unsigned long)context.value[1];
}

static void coroutine_above(void)
{
	char area[65536];

	getcontext(&resumed);
	resumed.uc_stack.ss_sp = area;
	resumed.uc_stack.ss_size = sizeof(area);
	makecontext(&resumed, resumed_routine, 0);
	while (again())
		resume_deeply(3);
}

/* ------------------------------------------------------------------------------------------- */
/* Threads */

static void *reader(void *given)
{
	struct context *context = given;

	for (int i = 0; i < 20; i++) {
		cases_sum += (unsigned long)((volatile struct context *)context)->value[i % 6];
		usleep(100);
	}
	return NULL;
}

APART static void lend(void)
{
	struct context context;
	pthread_t thread;

	fill(&context);
	pthread_create(&thread, NULL, reader, &context);
	work();
	pthread_join(thread, NULL);
}

static void lent(void)
{
	while (again())
		lend();
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static struct context *queue;
static volatile int served; /* nobody will ask any more */

static void *serve(void *unused)
{
	(void)unused;
	while (!served) {
		pthread_mutex_lock(&lock);
		if (queue) {
			queue->value[5] = 1;
			queue = NULL;
			pthread_cond_broadcast(&answered);
		}
		pthread_mutex_unlock(&lock);
		usleep(200);
	}
	return NULL;
}

APART static void ask(void)
{
	struct context request = {{0}, NULL};

	pthread_mutex_lock(&lock);
	queue = &request;
	while (!request.value[5])
		pthread_cond_wait(&answered, &lock);
	queue = NULL;
	pthread_mutex_unlock(&lock);
}

static void requests(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, serve, NULL);
	while (again())
		ask();
	served = 1;
	pthread_join(thread, NULL);
}

/* Each thread's own: with one for all a thread would use another's frame that is gone. */
static _Thread_local struct context *volatile own;

APART static void keep_own(struct context *context)
{
	own = context;
}

APART static void use_own(void)
{
	cases_sum += (unsigned long)own->value[3];
}

static void *short_thread(void *unused)
{
	struct context context;

	(void)unused;
	fill(&context);
	keep_own(&context);
	use_own();
	return NULL;
}

static void thread_churn(void)
{
	while (again()) {
		pthread_t thread[4];

		for (int i = 0; i < 4; i++)
			pthread_create(&thread[i], NULL, short_thread, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(thread[i], NULL);
	}
}

/* Stacks of threads side by side in one piece of memory. */
static void own_stacks(void)
{
	char *area =
		mmap(NULL, 4 * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	while (again()) {
		/* One after the other: all keep their pointer in one place. */
		for (int i = 0; i < 4; i++) {
			pthread_attr_t attributes;
			pthread_t thread;

			pthread_attr_init(&attributes);
			pthread_attr_setstack(&attributes, area + i * 65536, 65536);
			pthread_create(&thread, &attributes, short_thread, NULL);
			pthread_join(thread, NULL);
		}
	}
}

/* ------------------------------------------------------------------------------------------- */
/* Arrays that are filled to their last byte */

APART static void fill_whole(char *to, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		to[i] = (char)i;
		__asm__ volatile("" : : : "memory");
	}
}

APART static void whole_array(void)
{
	char buffer[32];

	fill_whole(buffer, sizeof(buffer));
	memset(buffer, 1, sizeof(buffer));
	cases_sum += (unsigned long)buffer[cases_sum % 16];
}

static void filled(void)
{
	while (again()) {
		whole_array();
		pass_down(&(struct context){{0}, NULL}, 1);
	}
}

/* Arguments on the stack belong to the function called, which may write them. */
APART static long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	volatile long *last = &h, *other = &g;

	*last += a + b + c + d;
	*other += e + f;
	return *last + *other;
}

static void stack_arguments(void)
{
	while (again())
		for (long i = 0; i < 100; i++)
			cases_sum += (unsigned long)many(i, 1, 2, 3, 4, 5, 6, i);
}

APART static struct context by_value(struct context context)
{
	context.value[1]++;
	return context;
}

static void structures(void)
{
	struct context context;

	fill(&context);
	while (again())
		for (int i = 0; i < 100; i++)
			context = by_value(context);
}

APART static int compare(const void *a, const void *b)
{
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static void sorts(void)
{
	while (again()) {
		int values[256];

		for (int i = 0; i < 256; i++)
			values[i] = (i * 7919) % 257;
		qsort(values, 256, sizeof(values[0]), compare);
		cases_sum += (unsigned long)values[3];
	}
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {{"cleared", cleared},
						{"dangling_unused", dangling_unused},
						{"dangling_compared", dangling_compared},
						{"same_place", same_place},
						{"passed_down", passed_down},
						{"allocas", allocas},
						{"jumps", jumps},
						{"signals", signals},
						{"alternate_signals", alternate_signals},
						{"alternate_local", alternate_local},
						{"coroutines_mapped", coroutines_mapped},
						{"coroutines_local", coroutines_local},
						{"coroutines_heap", coroutines_heap},
						{"coroutine_above", coroutine_above},
						{"lent", lent},
						{"requests", requests},
						{"thread_churn", thread_churn},
						{"own_stacks", own_stacks},
						{"filled", filled},
						{"stack_arguments", stack_arguments},
						{"structures", structures},
						{"sorts", sorts},
						{NULL, NULL}};

	return run_case(cases, argc, argv);
}
