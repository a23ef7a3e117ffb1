/* SPDX-License-Identifier: Apache-2.0 */
/* Correct programs whose handlers run on alternate stacks: nothing may be reported. */
#include "cases.h"

#include <pthread.h>
#include <signal.h>

/* An alternate stack below the thread's own, in one piece of memory with what the handler works on.
 */
static volatile long *table_below;

static void work_below(int number)
{
	double end = cases_now() + 0.003;

	(void)number;
	while (cases_now() < end) {
		for (int i = 0; i < 64; i++)
			table_below[i]++;
		work();
	}
}

#define TABLE_BELOW (64 * sizeof(long))
#define AREA_ABOVE 32768

static void *signals_above(void *memory)
{
	struct sigaction action = {.sa_handler = work_below, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = (char *)memory + TABLE_BELOW, .ss_size = AREA_ABOVE};

	table_below = memory;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	while (again())
		raise(SIGUSR1);
	return NULL;
}

static void alternate_static(void)
{
	static char memory[TABLE_BELOW + AREA_ABOVE] __attribute__((aligned(16)));

	signals_above(memory);
}

static void alternate_heap(void)
{
	signals_above(calloc(1, TABLE_BELOW + AREA_ABOVE));
}

static void *signals_in_thread(void *unused)
{
	(void)unused;
	return signals_above(calloc(1, TABLE_BELOW + AREA_ABOVE));
}

static void alternate_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, signals_in_thread, NULL);
	pthread_join(thread, NULL);
}

/* A handler puts an object of the heap, which lies above its stack there, where others put locals.
 */
struct node {
	struct node *next;
	long value[5];
};

static struct node *volatile head;
static struct node *node_above;

APART static void put(struct node *node)
{
	node->next = NULL;
	head = node;
}

APART static void put_local(void)
{
	struct node node = {.value = {0}};

	put(&node);
	work();
	head = NULL;
}

static void put_node(int number)
{
	(void)number;
	put(node_above);
}

APART static void use_head(void)
{
	struct node *node = head;

	if (node)
		for (int i = 0; i < 5; i++)
			node->value[i]++;
}

static void alternate_below_node(void)
{
	struct sigaction action = {.sa_handler = put_node, .sa_flags = SA_ONSTACK};
	stack_t stack = {.ss_sp = malloc(AREA_ABOVE), .ss_size = AREA_ABOVE};

	node_above = malloc(sizeof(*node_above));
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	while (again()) {
		put_local();
		usleep(500);
		raise(SIGUSR1);
		for (int i = 0; i < 20; i++)
			use_head();
	}
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {{"alternate_static", alternate_static},
						{"alternate_heap", alternate_heap},
						{"alternate_thread", alternate_thread},
						{"alternate_below_node", alternate_below_node},
						{NULL, NULL}};

	return run_case(cases, argc, argv);
}
