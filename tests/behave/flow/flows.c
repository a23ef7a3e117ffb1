/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values on their way to `result`, each case by another road that is known from its functions:
 * `make` is where a value begins, `finish` where it arrives. tests/behave/flow/roads.py says which
 * functions are on which road.
 *
 * usage: flows CASE SECONDS
 */
#include "kinds.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static uint64_t middle, others[8];
static struct record {
	uint64_t first, second, third;
} record, *heap_record;
static char text[64], line[64];
static int numbers;

/* globals */
static APART void carry(void)
{
	middle = made;
}

static APART void finish_middle(void)
{
	result = middle + 1;
}

static void through_globals(void)
{
	carry();
	finish_middle();
}

/* a field of a structure on the heap */
static APART void fill_field(struct record *to)
{
	to->first = decoy;
	to->second = made;
	to->third = decoy + 1;
}

static APART void finish_field(const struct record *from)
{
	result = from->second;
}

static void through_heap(void)
{
	fill_field(heap_record);
	finish_field(heap_record);
}

/* a structure that is copied */
static APART void copy_record(struct record *to, const struct record *from)
{
	*to = *from;
}

static void through_struct(void)
{
	fill_field(&record);
	copy_record(heap_record, &record);
	finish_field(heap_record);
}

/* an argument */
static APART void finish_argument(uint64_t other, uint64_t value)
{
	result = value ^ (other & 0);
}

static APART void pass_argument(void)
{
	finish_argument(decoy, middle);
}

static void through_argument(void)
{
	carry();
	pass_argument();
}

/* what a function returns */
static APART uint64_t fetch(void)
{
	return middle + 7;
}

static APART void finish_return(void)
{
	result = fetch();
}

static void through_return(void)
{
	carry();
	finish_return();
}

/* a pointer to a function */
static uint64_t (*volatile fetcher)(void) = fetch;

static APART void finish_pointer(void)
{
	result = fetcher();
}

static void through_pointer(void)
{
	carry();
	finish_pointer();
}

/* memcpy() of more than a few bytes */
static APART void copy_others(volatile uint64_t *to, const uint64_t *from, size_t length)
{
	memcpy((void *)(uintptr_t)to, from, length);
}

static uint64_t table[64], copied[64];

static APART void put_in_table(void)
{
	table[40] = made;
}

static APART void finish_table(void)
{
	result = copied[40];
}

static volatile size_t copy_length = sizeof(table);

static void through_memcpy(void)
{
	put_in_table();
	copy_others(copied, table, copy_length);
	finish_table();
}

/* a queue between two threads */
static struct {
	uint64_t slot[16];
	unsigned head, tail;
	pthread_mutex_t lock;
	pthread_cond_t changed;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static APART void put(void)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.head - queue.tail == 16)
		pthread_cond_wait(&queue.changed, &queue.lock);
	queue.slot[queue.head % 16] = made;
	queue.head++;
	pthread_cond_signal(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
}

static APART void take(void)
{
	pthread_mutex_lock(&queue.lock);
	while (queue.head == queue.tail)
		pthread_cond_wait(&queue.changed, &queue.lock);
	result = queue.slot[queue.tail % 16];
	queue.tail++;
	pthread_cond_signal(&queue.changed);
	pthread_mutex_unlock(&queue.lock);
}

static void *taker(void *argument)
{
	for (;;)
		take();
	return argument;
}

static void through_queue(void)
{
	static pthread_t thread;

	if (!thread)
		pthread_create(&thread, NULL, taker, NULL);
	put();
}

/* text that is read from a file */
static APART void read_line(void)
{
	if (pread(numbers, line, 8, 0) != 8)
		abort();
}

static APART void finish_parse(void)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value = 10 * value + (uint64_t)(line[i] - '0');
	result = value;
}

static void through_parser(void)
{
	read_line();
	finish_parse();
}

/* a counter */
static APART void count(void)
{
	result++;
}

/* a constant, or another */
static APART void finish_constant(void)
{
	result = seed & 1 ? 42 : 43;
}

/* a hash table */
static struct {
	uint64_t key, value;
} slots[32];

static APART void insert(uint64_t key)
{
	unsigned at = (unsigned)(key * 2654435761u >> 7) % 32;

	slots[at].key = key;
	slots[at].value = made;
}

static APART void finish_lookup(uint64_t key)
{
	unsigned at = (unsigned)(key * 2654435761u >> 7) % 32;

	if (slots[at].key == key)
		result = slots[at].value;
}

static void through_hash(void)
{
	insert(77);
	finish_lookup(77);
}

/* a loop over an array, which compilers make vectors of */
static uint32_t source[64], target[64];

static APART void put_in_source(void)
{
	source[21] = (uint32_t)made;
}

static APART void add_all(uint32_t *restrict to, const uint32_t *restrict from)
{
	for (int i = 0; i < 64; i++)
		to[i] = from[i] + 3;
}

static APART void finish_vector(void)
{
	result = target[21];
}

static void through_vector(void)
{
	put_in_source();
	add_all(target, source);
	finish_vector();
}

/* a string */
static APART void write_text(void)
{
	text[0] = (char)('a' + made % 26);
	text[1] = 0;
}

static APART void copy_text(void)
{
	strcpy(line, text);
}

static APART void finish_text(void)
{
	result = (uint64_t)line[0];
}

static void through_string(void)
{
	write_text();
	copy_text();
	finish_text();
}

/* the largest of many, which compilers choose without a jump */
static uint64_t candidates[16];

static APART void fill_candidates(void)
{
	for (int i = 0; i < 16; i++)
		candidates[i] = i == 9 ? made | 1ull << 63 : decoy >> 1;
}

static APART void finish_most(void)
{
	uint64_t most = 0;

	for (int i = 0; i < 16; i++)
		if (candidates[i] > most)
			most = candidates[i];
	result = most;
}

static void through_most(void)
{
	fill_candidates();
	finish_most();
}

/* a thread-local variable; another thread keeps something else in its own copy */
__thread uint64_t own;
static uint64_t all_decoys;

static APART void keep_decoy(void)
{
	own = decoy;
	all_decoys += own;
}

static APART void keep_own(void)
{
	own = made;
}

static APART void finish_own(void)
{
	result = own;
}

static void *keeper(void *argument)
{
	for (;;) {
		keep_decoy();
		usleep(100);
	}
	return argument;
}

static void through_own(void)
{
	static pthread_t thread;

	if (!thread)
		pthread_create(&thread, NULL, keeper, NULL);
	keep_own();
	finish_own();
}

static const struct road roads[] = {
	{"globals", through_globals},  {"heap", through_heap},
	{"struct", through_struct},    {"argument", through_argument},
	{"return", through_return},    {"pointer", through_pointer},
	{"memcpy", through_memcpy},    {"queue", through_queue},
	{"parser", through_parser},    {"counter", count},
	{"constant", finish_constant}, {"hash", through_hash},
	{"vector", through_vector},    {"string", through_string},
	{"own", through_own},	       {"most", through_most},
};

int main(int argc, char **argv)
{
	heap_record = calloc(1, sizeof(*heap_record));
	numbers = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	if (!heap_record || write(numbers, "12345678", 8) != 8)
		return 2;
	others[0] = middle;
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
