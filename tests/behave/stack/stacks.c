/* SPDX-License-Identifier: Apache-2.0 */
/* Correct programs whose stacks are one mapping with other memory: nothing may be reported. */
#include "cases.h"

#include <linux/sched.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

struct context {
	long value[6];
};

static void fill(struct context *context)
{
	for (int i = 0; i < 6; i++)
		context->value[i] = (long)cases_sum + i;
}

/* Two threads whose stacks are one mapping: the upper one uses what the lower one lends it. */
static struct context *volatile from_below;

static void *lending_thread(void *unused)
{
	struct context context;

	fill(&context);
	from_below = &context;
	while (again())
		usleep(1000);
	return unused;
}

APART static void use_lent(struct context *context)
{
	for (int i = 0; i < 600; i++)
		cases_sum += (unsigned long)((volatile struct context *)context)->value[i % 6];
	usleep(100);
}

static void *borrowing_thread(void *unused)
{
	while (!from_below)
		usleep(1000);
	while (again())
		use_lent(from_below);
	return unused;
}

static void neighbours(void *lower, void *upper, size_t size)
{
	void *(*const run[])(void *) = {lending_thread, borrowing_thread};
	void *const stack[] = {lower, upper};
	pthread_t thread[2];

	for (int i = 0; i < 2; i++) {
		pthread_attr_t attributes;

		pthread_attr_init(&attributes);
		pthread_attr_setstack(&attributes, stack[i], size);
		pthread_create(&thread[i], &attributes, run[i], NULL);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

static void stacks_mapped(void)
{
	char *area =
		mmap(NULL, 4 * 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	neighbours(area, area + 3l * 65536, 65536);
}

static void stacks_heap(void)
{
	char *area = malloc(4l * 32768); /* less than malloc() maps by itself */

	neighbours(area, area + 3l * 32768, 32768);
	free(area);
}

/* Memory of the stack of a thread that has ended is used for something else. */
#define OWN_STACK 65536
#define USED_STACK 8192		/* of it at its end */
#define LARGE_STACK (64l << 20) /* more than the C library keeps for a next thread */

static struct context *volatile shown;

APART static void show(struct context *context)
{
	shown = context;
}

APART static void show_for_a_while(void)
{
	struct context context;

	fill(&context);
	show(&context);
	work();
	show(NULL);
}

static void *showing_thread(void *unused)
{
	show_for_a_while();
	return unused;
}

static void run_on(void *stack, size_t size)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	if (stack)
		pthread_attr_setstack(&attributes, stack, size);
	else
		pthread_attr_setstacksize(&attributes, size);
	pthread_create(&thread, &attributes, showing_thread, NULL);
	pthread_join(thread, NULL);
}

/* Each word of the memory's end, where the frames were. */
static void use_anew(long *memory, size_t size)
{
	for (int i = 0; i < 20; i++)
		for (volatile long *word = memory + (size - USED_STACK) / sizeof(*memory);
		     word < memory + size / sizeof(*memory); word++)
			*word += i;
}

static void reused_heap(void)
{
	while (again()) {
		void *memory = aligned_alloc(16, OWN_STACK);

		run_on(memory, OWN_STACK);
		free(memory);
		memory = aligned_alloc(16, OWN_STACK);
		use_anew(memory, OWN_STACK);
		free(memory);
	}
}

static void reused_map(void)
{
	while (again()) {
		void *memory;

		run_on(NULL, LARGE_STACK);
		memory = mmap(NULL, LARGE_STACK, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		use_anew(memory, LARGE_STACK);
		munmap(memory, LARGE_STACK);
	}
}

/* A thread that sleeps in the topmost coroutine of a slab with one guard below, with an empty
 * circular list above it: what points to itself there is no thread's own data. */
#define SLAB_STACK 65536

struct slab {
	struct context used[64];
	_Alignas(4096) char stack[SLAB_STACK];
	struct list {
		struct list *next, *previous;
	} list;
};

static struct slab *slab;
static ucontext_t thread_context, coroutine_context;

static void coroutine(void)
{
	while (again()) {
		for (int i = 0; i < 2000; i++)
			work();
		usleep(5000);
	}
	swapcontext(&coroutine_context, &thread_context);
}

static void *run_coroutine(void *unused)
{
	getcontext(&coroutine_context);
	coroutine_context.uc_stack.ss_sp = slab->stack;
	coroutine_context.uc_stack.ss_size = sizeof(slab->stack);
	makecontext(&coroutine_context, coroutine, 0);
	swapcontext(&thread_context, &coroutine_context);
	return unused;
}

APART static void use_slab(struct context *context)
{
	for (int i = 0; i < 60; i++)
		context->value[i % 6] += i;
}

static void slab_asleep(void)
{
	const size_t page = 4096, size = (sizeof(*slab) + page - 1) / page * page;
	char *area = mmap(NULL, size + 2 * page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	mprotect(area, page, PROT_NONE);
	mprotect(area + page + size, page, PROT_NONE); /* so that it is no part of another */
	slab = (struct slab *)(area + page);
	slab->list.next = slab->list.previous = &slab->list;
	pthread_create(&thread, NULL, run_coroutine, NULL);
	while (again())
		for (int i = 0; i < 64; i++)
			use_slab(&slab->used[i]);
	pthread_join(thread, NULL);
}

/* A runtime with threads and stacks of its own, as Go's: what it keeps for a thread lies in its
 * heap, with stacks just below and other memory in use below these. */
#define RUNTIME_HEAP 262144
#define RUNTIME_STACK 32768
static struct {
	_Alignas(4096) char others[RUNTIME_HEAP];
	char stack[RUNTIME_STACK];
	long thread_data[64];
} runtime;

long begin_thread(unsigned long flags, void *stack, void *unused, void *unused_too, void *data);
__asm__(".text\n"
	"begin_thread:\n"
	".cfi_startproc\n"
	"mov $56, %eax\n" /* clone(2) */
	"mov %rcx, %r10\n"
	"syscall\n"
	"test %eax, %eax\n"
	"jz 1f\n"
	"ret\n"
	"1: .cfi_undefined rip\n"
	"xor %ebp, %ebp\n"
	"call run_in_runtime\n"
	"hlt\n"
	".cfi_endproc\n");

/* Its own way to sleep: the C library's needs the C library's thread. */
APART static void sleep_alone(long nanoseconds)
{
	const struct timespec time = {0, nanoseconds};
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(35L), "D"(&time), "S"(0L) /* nanosleep(2) */
			 : "rcx", "r11", "memory");
}

APART static void use_others(struct context *context)
{
	for (int i = 0; i < 600; i++)
		context->value[i % 6] += i;
	sleep_alone(100000);
}

__attribute__((used, noreturn)) void run_in_runtime(void)
{
	for (;;)
		use_others((struct context *)(runtime.others + 4096));
}

static void runtime_stacks(void)
{
	begin_thread(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			     CLONE_SYSVSEM | CLONE_SETTLS,
		     runtime.stack + RUNTIME_STACK, NULL, NULL, runtime.thread_data + 1);
	while (again())
		usleep(10000);
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {{"stacks_mapped", stacks_mapped},
						{"stacks_heap", stacks_heap},
						{"reused_heap", reused_heap},
						{"reused_map", reused_map},
						{"slab_asleep", slab_asleep},
						{"runtime_stacks", runtime_stacks},
						{NULL, NULL}};

	return run_case(cases, argc, argv);
}
