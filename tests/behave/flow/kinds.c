/* SPDX-License-Identifier: Apache-2.0 */
/*
 * More values on their way from `made` to `result`, by roads of other kinds than those of flows.c.
 * Next to each lies another value, made by make_decoy(), that must not be told of.
 * tests/behave/flow/roads.py says which functions are on which road.
 *
 * usage: kinds CASE SECONDS
 */
#include "kinds.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

/* a ring without locks between two threads */
static struct {
	struct {
		uint64_t other, value;
	} slot[64];
	_Atomic unsigned head, tail;
} ring;

static APART void push(void)
{
	unsigned head = atomic_load_explicit(&ring.head, memory_order_relaxed);

	if (head - atomic_load_explicit(&ring.tail, memory_order_acquire) == 64)
		return;
	ring.slot[head % 64].other = decoy;
	ring.slot[head % 64].value = made;
	atomic_store_explicit(&ring.head, head + 1, memory_order_release);
}

static APART void pop(void)
{
	unsigned tail = atomic_load_explicit(&ring.tail, memory_order_relaxed);

	if (atomic_load_explicit(&ring.head, memory_order_acquire) == tail) {
		usleep(50);
		return;
	}
	result = ring.slot[tail % 64].value;
	atomic_store_explicit(&ring.tail, tail + 1, memory_order_release);
}

static void *popper(void *argument)
{
	for (;;)
		pop();
	return argument;
}

static void through_ring(void)
{
	static pthread_t thread;

	if (!thread)
		pthread_create(&thread, NULL, popper, NULL);
	push();
}

/* text that sscanf() reads, or strtoul() */
static char text[64];
static unsigned long long number, other_number;

static APART void write_number(void)
{
	uint64_t rest = made;

	for (int i = 15; i >= 0; i--, rest /= 10)
		text[i] = (char)('0' + rest % 10);
	text[16] = ' ';
	text[17] = (char)('0' + decoy % 10);
}

static APART void scan(void)
{
	if (sscanf(text, "%llu %llu", &number, &other_number) != 2)
		abort();
}

static APART void finish_number(void)
{
	result = number;
}

static void through_scan(void)
{
	write_number();
	scan();
	finish_number();
}

static APART void parse(void)
{
	number = strtoull(text, NULL, 10);
}

static void through_strtoull(void)
{
	write_number();
	parse();
	finish_number();
}

/* one of two fields, by a function that ends by jumping to another */
static char record[32];
static uint64_t fields[2];

static APART void write_row(void)
{
	uint64_t rest = made;

	memcpy(record, "a=1;b=", 6);
	record[2] = (char)('0' + decoy % 10);
	for (int i = 10; i >= 6; i--, rest /= 10)
		record[i] = (char)('0' + rest % 10);
}

static APART uint64_t field(const char *name)
{
	const char *at = strstr(record, name);

	return at ? strtoul(at + 2, NULL, 10) : 0;
}

static APART void parse_row(void)
{
	fields[0] = field("a=");
	fields[1] = field("b=");
}

static APART void finish_row(void)
{
	result = fields[1];
}

static void through_row(void)
{
	write_row();
	parse_row();
	finish_row();
}

/* a table of functions that are called back, with a context */
struct listener {
	void (*call)(void *context, uint64_t value);
	void *context;
};
static struct {
	uint64_t other, value;
} heard[2];

static APART void hear(void *context, uint64_t value)
{
	uint64_t *to = context;

	to[1] = value;
}

static APART void hear_decoy(void *context, uint64_t value)
{
	uint64_t *to = context;

	to[0] = value + decoy;
}

static struct listener listeners[] = {{hear_decoy, &heard[0]}, {hear, &heard[1]}};

static APART void publish(struct listener *all, size_t count, uint64_t value)
{
	for (size_t i = 0; i < count; i++)
		all[i].call(all[i].context, value);
}

static APART void notify(void)
{
	publish(listeners, 2, made);
}

static APART void finish_heard(void)
{
	result = heard[1].value;
}

static void through_callback(void)
{
	notify();
	finish_heard();
}

/* out of a deep call by longjmp() */
static jmp_buf back;
static uint64_t carried, carried_decoy;

static APART void throw_it(void)
{
	carried_decoy = decoy;
	carried = made;
	longjmp(back, 1);
}

static APART void descend(int depth)
{
	if (depth)
		descend(depth - 1);
	else
		throw_it();
}

static APART void catch_it(void)
{
	result = carried;
}

static void through_jump(void)
{
	if (setjmp(back) == 0)
		descend(3);
	else
		catch_it();
}

/* variable arguments */
static uint64_t picked[2];

static APART void pick(int count, ...)
{
	va_list list;

	va_start(list, count);
	for (int i = 0; i < count; i++) {
		uint64_t value = va_arg(list, uint64_t);

		if (i == 1)
			picked[1] = value;
		else if (i == 7)
			picked[0] = value;
	}
	va_end(list);
}

static APART void give(void)
{
	pick(8, decoy, made, decoy, decoy, decoy, decoy, decoy, decoy);
}

static APART void finish_picked(void)
{
	result = picked[1];
}

static void through_varargs(void)
{
	give();
	finish_picked();
}

/* more arguments than there are registers */
static uint64_t ninth;

static APART void many(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
		       uint64_t g, uint64_t h, uint64_t i)
{
	ninth = i;
	picked[0] = a + b + c + d + e + f + g + h;
}

static APART void give_many(void)
{
	many(decoy, decoy, decoy, decoy, decoy, decoy, decoy, decoy, made);
}

static APART void finish_ninth(void)
{
	result = ninth;
}

static void through_many(void)
{
	give_many();
	finish_ninth();
}

/* bit-fields */
static struct {
	uint32_t low : 5, middle : 13, high : 14;
	uint32_t other;
} bits;

static APART void fill_bits(void)
{
	bits.middle = (uint32_t)made & 0x1fff;
}

static APART void fill_other(void)
{
	bits.other = (uint32_t)decoy;
}

static APART void finish_bits(void)
{
	result = bits.middle;
}

static void through_bits(void)
{
	fill_bits();
	fill_other();
	finish_bits();
}

/* a union that is written as one type and read as another */
static union {
	double real;
	uint64_t whole;
	uint8_t byte[8];
} pun[2];

static APART void write_real(void)
{
	pun[0].real = (double)decoy;
	pun[1].real = (double)made;
}

static APART void finish_whole(void)
{
	result = pun[1].whole >> 3;
}

static void through_pun(void)
{
	write_real();
	finish_whole();
}

/* memmove() within an array */
static uint64_t row[40];
static volatile size_t moved = 32;

static APART void insert_first(void)
{
	row[0] = made;
}

static APART void shift(void)
{
	memmove(row + 1, row, moved * sizeof(row[0]));
}

static APART void finish_shifted(void)
{
	result = row[1];
}

static void through_shift(void)
{
	insert_first();
	shift();
	finish_shifted();
}

/* a list on the heap whose elements are made anew and freed */
static struct element {
	struct element *next;
	uint64_t other, value;
} * list;

static APART void prepend(void)
{
	struct element *element = malloc(sizeof(*element));

	if (!element)
		abort();
	*element = (struct element){list, decoy, made};
	list = element;
}

static APART void finish_list(void)
{
	struct element *element = list;

	list = element->next;
	result = element->value;
	free(element);
}

static void through_list(void)
{
	prepend();
	finish_list();
}

/* arithmetic on vectors of reals */
static double reals[64], scaled[64];

static APART void put_real(void)
{
	reals[33] = (double)(made >> 20);
	reals[34] = (double)(decoy >> 20);
}

static APART void scale(double *restrict to, const double *restrict from, double by)
{
	for (int i = 0; i < 64; i++)
		to[i] = from[i] * by + 0.5;
}

static APART void finish_scaled(void)
{
	result = (uint64_t)scaled[33];
}

static void through_reals(void)
{
	put_real();
	scale(scaled, reals, 3);
	finish_scaled();
}

/* qsort() */
static struct entry {
	uint64_t key, value;
} entries[8];

static APART void fill_entries(void)
{
	for (uint64_t i = 0; i < 8; i++)
		entries[i] = (struct entry){7 - i, i == 5 ? made : decoy};
}

static int by_key(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static APART void sort(void)
{
	qsort(entries, 8, sizeof(entries[0]), by_key);
}

static APART void finish_sorted(void)
{
	result = entries[2].value;
}

static void through_sort(void)
{
	fill_entries();
	sort();
	finish_sorted();
}

/* a local array that is filled by a callee */
static APART void fill_local(uint64_t *to)
{
	to[0] = decoy;
	to[3] = made;
}

static APART void finish_local(void)
{
	uint64_t local[6];

	fill_local(local);
	result = local[3] ^ 5;
}

/* a pipe between two processes */
static int ends[2];
static uint64_t message[2], received[2];

static APART void fill_message(void)
{
	message[0] = decoy;
	message[1] = made;
}

static APART void send_message(void)
{
	if (write(ends[1], message, sizeof(message)) != (ssize_t)sizeof(message))
		abort();
}

static APART void receive(void)
{
	if (read(ends[0], received, sizeof(received)) != (ssize_t)sizeof(received))
		_exit(0);
}

static APART void finish_received(void)
{
	result = received[1];
}

static void fork_child(void (*serve)(void))
{
	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		serve();
}

static void serve_messages(void)
{
	fill_message();
	send_message();
}

static void through_pipe(void)
{
	static int begun;

	if (!begun++) {
		if (pipe(ends))
			abort();
		make();
		fork_child(serve_messages);
	}
	receive();
	finish_received();
}

/* memory that two processes share */
static struct {
	uint64_t other, value;
} * shared;

static APART void put_shared(void)
{
	shared->other = decoy;
	shared->value = made;
}

static APART void finish_shared(void)
{
	result = shared->value;
}

static void serve_shared(void)
{
	seed++;
	make_decoy();
	make();
	put_shared();
	usleep(100);
}

static void through_shared(void)
{
	if (!shared) {
		shared =
			mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (shared == MAP_FAILED)
			abort();
		fork_child(serve_shared);
	}
	finish_shared();
}

static const struct road roads[] = {
	{"ring", through_ring},		{"scan", through_scan},	 {"strtoull", through_strtoull},
	{"callback", through_callback}, {"jump", through_jump},	 {"varargs", through_varargs},
	{"many", through_many},		{"bits", through_bits},	 {"pun", through_pun},
	{"shift", through_shift},	{"list", through_list},	 {"reals", through_reals},
	{"sort", through_sort},		{"local", finish_local}, {"pipe", through_pipe},
	{"shared", through_shared},	{"row", through_row},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
