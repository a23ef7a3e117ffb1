/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small multi-threaded bytecode interpreter with a moving garbage collector, stopped at
 * safepoints: the whole use of <trapline/safepoint.h> in one program.
 *
 * Every thread interprets a program that builds, reverses and sums lists of pairs. Its operand
 * stack holds all its roots. When the heap is full, the thread that noticed stops the others at
 * their polls, copies what is reachable to the other half of the heap (Cheney 1970), fills the old
 * half with rubbish, checks every object, and lets the others go on: they find their operands
 * moved.
 *
 * usage: safepoint_collector [THREADS [ROUNDS]]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/trapline.h>
#include <unistd.h>

#define MAX_THREADS 64
#define STACK_SIZE 16
#define HALF 32768 /* pairs in half a heap */
#define LENGTH 200 /* of each list */

/* A value is a number (odd, shifted by one) or a pair, or NULL for the empty list. */
typedef uintptr_t value;

struct pair {
	uintptr_t forward; /* LIVE, or where the collector copied it to */
	value head;
	value tail;
};

#define LIVE 1u
#define RUBBISH 0xdeaddeaddeaddeadu

enum operation {
	PUSH,	/* operand: a number */
	CONS,	/* head tail -> pair */
	HEAD,	/* pair -> head */
	TAIL,	/* pair -> tail */
	ADD,	/* a b -> a + b */
	DUP,	/* operand: how deep */
	SET,	/* operand: how deep; pops */
	IF_NIL, /* operand: where to; pops */
	JUMP,	/* operand: where to */
	NIL,
	COUNT_DOWN, /* operand: how deep; jumps to the next code's operand while not zero */
	STOP,
};

struct code {
	enum operation operation;
	long operand;
};

struct machine {
	pthread_t thread;
	value stack[STACK_SIZE];
	size_t depth;
	bool active;
	unsigned long instructions;
};

static struct pair halves[2][HALF];
static struct pair *heap = halves[0];
static size_t used;
static struct machine machines[MAX_THREADS];
static size_t machine_count = 4;
static unsigned long rounds = 2000, collections, objects_checked;
static tl_safepoint *safepoint;

static void fail(const char *what)
{
	fprintf(stderr, "safepoint_collector: %s\n", what);
	abort();
}

static void must(int err)
{
	if (err < 0)
		fail(tl_explain(err));
}

static bool is_pair(value v)
{
	return v && !(v & 1);
}

/* list = (1 … LENGTH), reversed; then its sum. Stack: 0 counter, 1 list, 2 reversed, 3 sum. */
static const struct code program[] = {
	{PUSH, LENGTH},
	{NIL, 0},
	{NIL, 0},
	{PUSH, 0},
	/* 4: list = cons(counter, list) */
	{DUP, 0},
	{DUP, 1},
	{CONS, 0},
	{SET, 1},
	{COUNT_DOWN, 0},
	{JUMP, 4},
	/* 10: while list: reversed = cons(head(list), reversed); list = tail(list) */
	{DUP, 1},
	{IF_NIL, 20},
	{DUP, 1},
	{HEAD, 0},
	{DUP, 2},
	{CONS, 0},
	{SET, 2},
	{DUP, 1},
	{TAIL, 0},
	{JUMP, 30},
	/* 20: while reversed: sum += head(reversed); reversed = tail(reversed) */
	{DUP, 2},
	{IF_NIL, 32},
	{DUP, 2},
	{HEAD, 0},
	{DUP, 3},
	{ADD, 0},
	{SET, 3},
	{DUP, 2},
	{TAIL, 0},
	{JUMP, 33},
	/* 30 */
	{SET, 1},
	{JUMP, 10},
	/* 32 */
	{STOP, 0},
	/* 33 */
	{SET, 2},
	{JUMP, 20},
};

/* The collector. */

static value copy(struct pair *to, size_t *count, value v)
{
	struct pair *pair = (struct pair *)v;

	if (!is_pair(v))
		return v;
	if (pair->forward == LIVE) {
		to[*count] = *pair;
		pair->forward = (uintptr_t)&to[(*count)++];
	}
	return pair->forward;
}

static void check_value(value v)
{
	struct pair *pair = (struct pair *)v;

	if (is_pair(v) && (pair < heap || pair >= heap + used || pair->forward != LIVE ||
			   ((uintptr_t)pair - (uintptr_t)heap) % sizeof(*pair)))
		fail("a value points to no live object");
}

static void check_heap(void)
{
	for (size_t i = 0; i < used; i++) {
		if (heap[i].forward != LIVE)
			fail("a dead object in the heap");
		check_value(heap[i].head);
		check_value(heap[i].tail);
	}
	for (size_t i = 0; i < machine_count; i++) {
		for (size_t k = 0; machines[i].active && k < machines[i].depth; k++)
			check_value(machines[i].stack[k]);
	}
	objects_checked += used;
}

static void collect(void)
{
	struct pair *from = heap, *to = heap == halves[0] ? halves[1] : halves[0];
	size_t count = 0;

	for (size_t i = 0; i < machine_count; i++) {
		for (size_t k = 0; machines[i].active && k < machines[i].depth; k++)
			machines[i].stack[k] = copy(to, &count, machines[i].stack[k]);
	}
	for (size_t i = 0; i < count; i++) {
		to[i].head = copy(to, &count, to[i].head);
		to[i].tail = copy(to, &count, to[i].tail);
	}
	heap = to;
	used = count;
	for (size_t i = 0; i < HALF; i++)
		from[i] = (struct pair){RUBBISH, RUBBISH, RUBBISH};
	check_heap();
	collections++;
}

static bool is_full(void)
{
	return __atomic_load_n(&used, __ATOMIC_RELAXED) + MAX_THREADS >= HALF;
}

/* Several may notice at once: the first one collects, the others find room. */
static void make_room(void)
{
	must(tl_safepoint_stop(safepoint, 60000000000));
	if (is_full())
		collect();
	if (is_full())
		fail("the heap is too small for what is alive");
	must(tl_safepoint_resume(safepoint));
}

/* The interpreter. Between polls a thread may hold pairs in variables; across one only on its
 * stack. */

static struct pair *allocate(void)
{
	while (is_full())
		make_room();
	/* No poll from here to the caller's use, so nothing moves; MAX_THREADS pairs are in
	 * reserve for those who passed the test together. */
	return &heap[__atomic_fetch_add(&used, 1, __ATOMIC_RELAXED)];
}

static void push(struct machine *machine, value v)
{
	if (machine->depth == STACK_SIZE)
		fail("operand stack overflow");
	machine->stack[machine->depth++] = v;
}

static value pop(struct machine *machine)
{
	return machine->stack[--machine->depth];
}

static void cons(struct machine *machine)
{
	struct pair *pair = allocate();

	pair->tail = machine->stack[machine->depth - 1];
	pair->head = machine->stack[machine->depth - 2];
	pair->forward = LIVE;
	machine->depth -= 2;
	push(machine, (value)pair);
}

static void interpret(struct machine *machine)
{
	const uint32_t *const volatile *place = tl_safepoint_place(safepoint);

	for (const struct code *code = program;; code++) {
		value v;

		TL_SAFEPOINT_POLL_AT(place);
		machine->instructions++;
		switch (code->operation) {
		case PUSH:
			push(machine, (value)code->operand << 1 | 1);
			break;
		case NIL:
			push(machine, 0);
			break;
		case CONS:
			cons(machine);
			break;
		case HEAD:
			push(machine, ((struct pair *)pop(machine))->head);
			break;
		case TAIL:
			push(machine, ((struct pair *)pop(machine))->tail);
			break;
		case ADD:
			v = pop(machine) >> 1;
			push(machine, ((pop(machine) >> 1) + v) << 1 | 1);
			break;
		case DUP:
			push(machine, machine->stack[code->operand]);
			break;
		case SET:
			v = pop(machine);
			machine->stack[code->operand] = v;
			break;
		case IF_NIL:
			if (!pop(machine))
				code = program + code->operand - 1;
			break;
		case JUMP:
			code = program + code->operand - 1;
			break;
		case COUNT_DOWN:
			machine->stack[code->operand] -= 2;
			if (machine->stack[code->operand] >> 1 == 0)
				code++;
			break;
		case STOP:
			return;
		}
	}
}

static void *run(void *argument)
{
	struct machine *machine = argument;

	must(tl_safepoint_register(safepoint));
	machine->active = true;
	for (unsigned long i = 0; i < rounds; i++) {
		machine->depth = 0;
		interpret(machine);
		if (machine->stack[3] >> 1 != LENGTH * (LENGTH + 1) / 2)
			fail("wrong sum");
		if (i % 64 == 0) { /* what a system call that waits would be */
			tl_safepoint_enter_blocking(safepoint);
			usleep(100);
			tl_safepoint_leave_blocking(safepoint);
		}
	}
	machine->depth = 0;
	must(tl_safepoint_leave(safepoint));
	return NULL;
}

int main(int argc, char **argv)
{
	struct tl_safepoint_spec spec = {.size = sizeof(spec)};
	unsigned long instructions = 0;

	if (argc > 1)
		machine_count = strtoul(argv[1], NULL, 10);
	if (argc > 2)
		rounds = strtoul(argv[2], NULL, 10);
	if (machine_count < 1 || machine_count > MAX_THREADS) {
		fprintf(stderr, "usage: safepoint_collector [THREADS [ROUNDS]], 1 to %d threads\n",
			MAX_THREADS);
		return 2;
	}
	must(tl_safepoint_open(&safepoint, &spec));
	for (size_t i = 0; i < machine_count; i++)
		pthread_create(&machines[i].thread, NULL, run, &machines[i]);
	for (size_t i = 0; i < machine_count; i++) {
		pthread_join(machines[i].thread, NULL);
		instructions += machines[i].instructions;
	}
	must(tl_safepoint_close(safepoint));
	printf("%zu threads, %lu instructions, %lu collections, %lu objects checked\n",
	       machine_count, instructions, collections, objects_checked);
	return 0;
}
