/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs do every day, each with a decoy beside it: structures by value, records on the
 * heap, queues, frames of bytes, texts, parsers, tables, callbacks, vectors, variable arguments,
 * bit-fields, jumps, recursion, sums of checking, sorting. More in tasks.c and chores.cc.
 * tests/behave/flow/roads.py says which functions are on which road.
 *
 * usage: chores CASE SECONDS
 */
#include <ctype.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include "kinds.h"

static uint64_t elsewhere;

/* value: structures that are passed and returned by value */
struct pair {
	uint64_t left, right, spare;
};
static APART struct pair value_pair(void)
{
	struct pair pair = {.left = decoy, .right = made, .spare = 7};
	return pair;
}
static APART struct pair value_swap(struct pair pair)
{
	struct pair swapped = {.left = pair.right, .right = pair.left, .spare = pair.spare};
	return swapped;
}
static APART void value_finish(struct pair pair)
{
	result = pair.left + pair.spare;
}
static APART void through_value(void)
{
	value_finish(value_swap(value_pair()));
}

/* record: a record on the heap that owns another */
struct detail {
	uint64_t weight;
	char name[24];
};
struct record {
	struct record *next;
	struct detail *detail;
	uint64_t count;
};
static APART struct record *record_new(uint64_t weight, struct record *next)
{
	struct record *record = malloc(sizeof(*record));
	record->detail = malloc(sizeof(*record->detail));
	record->detail->weight = weight;
	record->count = 1;
	record->next = next;
	return record;
}
static APART void record_finish(const struct record *record)
{
	result = record->next->detail->weight * record->count;
	elsewhere = record->detail->weight;
}
static APART void through_record(void)
{
	struct record *second = record_new(made, NULL), *first = record_new(decoy, second);
	record_finish(first);
	free(second->detail);
	free(second);
	free(first->detail);
	free(first);
}

/* orders: a queue with a lock between two threads, for orders of two kinds */
struct order {
	int kind;
	uint64_t amount;
};
static struct {
	pthread_mutex_t lock;
	pthread_cond_t ready, room;
	struct order order[8];
	unsigned first, count;
} orders = {.lock = PTHREAD_MUTEX_INITIALIZER,
	    .ready = PTHREAD_COND_INITIALIZER,
	    .room = PTHREAD_COND_INITIALIZER};
static APART void orders_put(int kind, uint64_t amount)
{
	pthread_mutex_lock(&orders.lock);
	while (orders.count == 8)
		pthread_cond_wait(&orders.room, &orders.lock);
	orders.order[(orders.first + orders.count) % 8] =
		(struct order){.kind = kind, .amount = amount};
	orders.count++;
	pthread_cond_signal(&orders.ready);
	pthread_mutex_unlock(&orders.lock);
}
static APART struct order orders_get(void)
{
	struct order order;
	pthread_mutex_lock(&orders.lock);
	while (!orders.count)
		pthread_cond_wait(&orders.ready, &orders.lock);
	order = orders.order[orders.first];
	orders.first = (orders.first + 1) % 8;
	orders.count--;
	pthread_cond_signal(&orders.room);
	pthread_mutex_unlock(&orders.lock);
	return order;
}
static APART void orders_finish(const struct order *order)
{
	if (order->kind == 1)
		result = order->amount;
	else
		elsewhere = order->amount;
}
static void *orders_serve(void *unused)
{
	for (;;) {
		struct order order = orders_get();
		orders_finish(&order);
	}
	return unused;
}
static APART void through_orders(void)
{
	static bool begun;
	pthread_t thread;
	if (!begun && !pthread_create(&thread, NULL, orders_serve, NULL))
		pthread_detach(thread);
	begun = true;
	orders_put(0, decoy);
	orders_put(1, made);
}

/* frame: fields put into a frame of bytes and taken out again */
static unsigned char wire[64];
static APART size_t frame_put(size_t at, const void *field, size_t length)
{
	wire[at] = (unsigned char)length;
	memcpy(wire + at + 1, field, length);
	return at + 1 + length;
}
static APART void frame_encode(void)
{
	uint64_t payload = made ^ 0x5555, other = decoy;
	uint32_t kind = 3;
	size_t at = frame_put(0, &kind, sizeof(kind));
	at = frame_put(at, &other, sizeof(other));
	frame_put(at, &payload, sizeof(payload));
}
static APART const unsigned char *frame_next(const unsigned char *at, uint64_t *field)
{
	*field = 0;
	memcpy(field, at + 1, at[0] > 8 ? 8 : at[0]);
	return at + 1 + at[0];
}
static APART void frame_decode(void)
{
	uint64_t kind, other, payload;
	frame_next(frame_next(frame_next(wire, &kind), &other), &payload);
	elsewhere = other + kind;
	result = payload;
}
static APART void through_frame(void)
{
	frame_encode();
	frame_decode();
}

/* path: texts that are joined and cut */
static char part[16], joined[64];
static APART void path_part(void)
{
	uint64_t number = made >> 20;
	for (int i = 0; i < 8; i++)
		part[i] = (char)('a' + (number >> 4 * i) % 16);
	part[8] = 0;
}
static APART void path_join(const char *directory, const char *name)
{
	strcpy(joined, directory);
	strcat(joined, "/");
	strcat(joined, name);
}
static APART void path_finish(void)
{
	const char *name = strrchr(joined, '/') + 1;
	uint64_t sum = 0;
	for (int i = 0; i < 8; i++)
		sum = sum * 16 + (uint64_t)(name[i] - 'a');
	result = sum;
}
static APART void through_path(void)
{
	path_part();
	path_join("/var/spool", part);
	path_finish();
}

/* status: a line like those of /proc, read by sscanf() */
static char status_line[64];
static APART void status_write(void)
{
	uint64_t number = made >> 40;
	memcpy(status_line, "Size: 11 used 000000 kB", 24);
	for (int i = 19; i >= 14; i--, number /= 10)
		status_line[i] = (char)('0' + number % 10);
}
static APART void status_finish(void)
{
	unsigned size, used;
	if (sscanf(status_line, "Size: %u used %u", &size, &used) == 2) {
		result = used;
		elsewhere = size;
	}
}
static APART void through_status(void)
{
	status_write();
	status_finish();
}

/* sums: a parser of sums and products, by recursive descent */
static char sums_text[32];
static const char *sums_at;
static uint64_t sums_expression(void);
static APART void sums_write(void)
{
	memcpy(sums_text, "3*(2+0)+1", 10);
	sums_text[5] = (char)('1' + (made >> 30) % 9);
}
static APART uint64_t sums_primary(void)
{
	uint64_t value;
	if (*sums_at == '(') {
		sums_at++;
		value = sums_expression();
		sums_at++;
		return value;
	}
	return (uint64_t)(*sums_at++ - '0');
}
static APART uint64_t sums_term(void)
{
	uint64_t value = sums_primary();
	while (*sums_at == '*') {
		sums_at++;
		value *= sums_primary();
	}
	return value;
}
static APART uint64_t sums_expression(void)
{
	uint64_t value = sums_term();
	while (*sums_at == '+') {
		sums_at++;
		value += sums_term();
	}
	return value;
}
static APART void sums_finish(void)
{
	sums_at = sums_text;
	result = sums_expression();
}
static APART void through_sums(void)
{
	sums_write();
	sums_finish();
}

/* words: a hash table with open addressing and texts as keys */
static struct word {
	char key[8];
	uint64_t value;
	bool used;
} words[16];
static APART unsigned words_hash(const char *key)
{
	unsigned hash = 5381;
	while (*key)
		hash = hash * 33 + (unsigned char)*key++;
	return hash;
}
static APART struct word *words_find(const char *key)
{
	unsigned at = words_hash(key) % 16;
	while (words[at].used && strcmp(words[at].key, key) != 0)
		at = (at + 1) % 16;
	return &words[at];
}
static APART void words_set(const char *key, uint64_t value)
{
	struct word *word = words_find(key);
	strcpy(word->key, key);
	word->used = true;
	word->value = value;
}
static APART void words_finish(void)
{
	result = words_find("beta")->value;
	elsewhere = words_find("alpha")->value;
}
static APART void through_words(void)
{
	words_set("alpha", decoy);
	words_set("beta", made);
	words_finish();
}

/* events: a loop of events with handlers and what they were registered with */
struct watcher {
	void (*call)(struct watcher *watcher, uint64_t number);
	uint64_t last;
	struct watcher *next;
};
static struct watcher *watchers;
static uint64_t events[4];
static APART void events_keep(struct watcher *watcher, uint64_t number)
{
	watcher->last = number;
}
static APART void events_forget(struct watcher *watcher, uint64_t number)
{
	watcher->last = number & 1;
}
static APART void events_post(void)
{
	events[0] = decoy;
	events[1] = made;
}
static APART void events_dispatch(void)
{
	unsigned i = 0;
	for (struct watcher *watcher = watchers; watcher; watcher = watcher->next)
		watcher->call(watcher, events[i++]);
}
static APART void events_finish(void)
{
	result = watchers->next->last;
}
static APART void through_events(void)
{
	static struct watcher keep = {.call = events_keep},
			      forget = {.call = events_forget, .next = &keep};
	watchers = &forget;
	events_post();
	events_dispatch();
	events_finish();
}

/* scale: an array of real numbers that is scaled */
static float samples[64], scaled[64];
static APART void scale_fill(void)
{
	for (int i = 0; i < 64; i++)
		samples[i] = (float)(made >> 40) + (float)i;
}
static APART void scale_all(float by)
{
	for (int i = 0; i < 64; i++)
		scaled[i] = samples[i] * by + 1.0f;
}
static APART void scale_finish(void)
{
	result = (uint64_t)scaled[21];
}
static APART void through_scale(void)
{
	scale_fill();
	scale_all(3.0f);
	scale_finish();
}

/* message: variable arguments by a text that says what they are */
static struct {
	uint64_t number;
	int level;
	const char *text;
} message;
static APART void message_keep(const char *kinds, ...)
{
	va_list list;
	va_start(list, kinds);
	for (; *kinds; kinds++)
		switch (*kinds) {
		case 'd':
			message.level = va_arg(list, int);
			break;
		case 's':
			message.text = va_arg(list, const char *);
			break;
		case 'n':
			message.number = va_arg(list, uint64_t);
			break;
		}
	va_end(list);
}
static APART void message_send(void)
{
	message_keep("dsn", 4, "text", made);
}
static APART void message_finish(void)
{
	result = message.number;
}
static APART void through_message(void)
{
	message_send();
	message_finish();
}

/* flags: bit-fields of one word */
static struct {
	unsigned kind : 3, size : 21, state : 8;
} flags;
static APART void flags_fill(void)
{
	flags.kind = decoy & 7;
	flags.size = made >> 40 & 0x1fffff;
	flags.state = 9;
}
static APART void flags_finish(void)
{
	result = flags.size;
}
static APART void through_flags(void)
{
	flags_fill();
	flags_finish();
}

/* failure: a jump out of depth, with what went wrong in a structure */
static struct {
	jmp_buf jump;
	uint64_t code;
	int line;
} failing;
static APART void failure_throw(uint64_t code)
{
	failing.code = code;
	if (code)
		longjmp(failing.jump, 1);
}
static APART uint64_t failure_deep(unsigned depth, uint64_t code)
{
	if (!depth) {
		failure_throw(code + 1);
		return 0;
	}
	return failure_deep(depth - 1, code) + depth;
}
static APART void failure_finish(void)
{
	result = failing.code;
}
static APART void through_failure(void)
{
	if (setjmp(failing.jump) == 0)
		failure_deep(3, made);
	failure_finish();
}

/* copy: a list that is copied by recursion */
struct link {
	struct link *next;
	uint64_t value;
};
static struct link pool[8];
static unsigned pool_used;
static APART struct link *copy_link(const struct link *link)
{
	struct link *copied = link ? &pool[pool_used++ % 8] : NULL;
	if (!link)
		return NULL;
	copied->value = link->value;
	copied->next = copy_link(link->next);
	return copied;
}
static APART void copy_fill(struct link *link)
{
	link[0].value = decoy;
	link[0].next = &link[1];
	link[1].value = decoy + 1;
	link[1].next = &link[2];
	link[2].value = made;
	link[2].next = NULL;
}
static APART void copy_finish(const struct link *link)
{
	while (link->next)
		link = link->next;
	result = link->value;
}
static APART void through_copy(void)
{
	static struct link original[3];
	pool_used = 0;
	copy_fill(original);
	copy_finish(copy_link(original));
}

/* check: a check sum with a table, over bytes */
static uint32_t check_table[256];
static unsigned char check_bytes[16];
static APART void check_begin(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;
		for (int j = 0; j < 8; j++)
			c = c & 1 ? 0xedb88320u ^ c >> 1 : c >> 1;
		check_table[i] = c;
	}
}
static APART void check_fill(void)
{
	uint64_t value = made;
	for (int i = 0; i < 8; i++)
		check_bytes[i] = (unsigned char)(value >> 8 * i);
}
static APART uint32_t check_sum(const unsigned char *bytes, unsigned length)
{
	uint32_t c = ~0u;
	while (length--)
		c = check_table[(c ^ *bytes++) & 255] ^ c >> 8;
	return ~c;
}
static APART void check_finish(void)
{
	result = check_sum(check_bytes, 8);
}
static APART void through_check(void)
{
	if (!check_table[1])
		check_begin();
	check_fill();
	check_finish();
}

/* mix: arithmetic in registers alone between two places */
static uint64_t mixed;
static APART void mix_in(void)
{
	uint64_t a = made, b = a >> 33;
	a ^= b;
	a *= 0xff51afd7ed558ccdu;
	a = a << 13 | a >> 51;
	a -= b / 3;
	mixed = a + (a >> 7);
}
static APART void mix_finish(void)
{
	uint32_t low = (uint32_t)mixed, high = (uint32_t)(mixed >> 32);
	result = (uint64_t)low * high;
}
static APART void through_mix(void)
{
	mix_in();
	mix_finish();
}

static const struct road roads[] = {
	{"value", through_value},     {"record", through_record},   {"orders", through_orders},
	{"frame", through_frame},     {"path", through_path},	    {"status", through_status},
	{"sums", through_sums},	      {"words", through_words},	    {"events", through_events},
	{"scale", through_scale},     {"message", through_message}, {"flags", through_flags},
	{"failure", through_failure}, {"copy", through_copy},	    {"check", through_check},
	{"mix", through_mix},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
