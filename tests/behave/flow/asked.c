/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people ask about: a ring between threads, a parser with a table of functions, a hash table
 * that grows, texts that are formatted and scanned, a comparator, recursion, a memory of what was
 * computed, a union of fields, vectors, a way out by longjmp(). None of it suggested anything in
 * src/. tests/behave/flow/roads.py says which functions are on which road; what comes from `decoy`
 * goes beside it to `elsewhere`.
 *
 * usage: asked CASE SECONDS
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>

#include "kinds.h"

static uint64_t elsewhere;

/* messages in a ring, which another thread takes */
struct message {
	uint64_t number, urgent, payload;
};

static struct message messages[8];
static _Atomic unsigned sent, received;

static APART void post(uint64_t urgent, uint64_t payload)
{
	struct message message = {sent, urgent, payload};

	messages[sent % 8] = message;
	atomic_fetch_add(&sent, 1);
}

static APART void post_all(void)
{
	post(0, decoy);
	post(1, made);
	post(0, decoy + 1);
}

static APART void finish_message(const struct message *message)
{
	result = message->payload + 1;
}

static APART void finish_other_message(const struct message *message)
{
	elsewhere = message->payload + 1;
}

static void *consume(void *unused)
{
	for (;;) {
		struct message message;

		while (received == sent)
			sched_yield();
		message = messages[received % 8];
		if (message.urgent)
			finish_message(&message);
		else
			finish_other_message(&message);
		atomic_fetch_add(&received, 1);
	}
	return unused;
}

static void through_messages(void)
{
	static pthread_t consumer;

	if (!consumer && pthread_create(&consumer, NULL, consume, NULL) != 0)
		abort();
	post_all();
	while (received != sent)
		sched_yield();
}

/* a parser with a function for each kind of character */
struct reader {
	const char *at;
	uint64_t values[4];
	int count;
};

static char document[64];

static APART void write_document(void)
{
	unsigned other = (unsigned)(decoy >> 20) % 9 + 1, digit = (unsigned)(made >> 20) % 9 + 1;

	memcpy(document, "[00, 00, {00}]", 15);
	document[1] = (char)('0' + other);
	document[5] = (char)('0' + digit);
	document[10] = (char)('0' + other);
}

static APART void read_number(struct reader *reader)
{
	uint64_t value = 0;

	while (*reader->at >= '0' && *reader->at <= '9')
		value = value * 10 + (uint64_t)(*reader->at++ - '0');
	reader->values[reader->count++] = value;
}

static APART void skip_one(struct reader *reader)
{
	reader->at++;
}

static void (*by_character[128])(struct reader *);

static APART void read_document(struct reader *reader)
{
	reader->at = document;
	reader->count = 0;
	while (*reader->at)
		by_character[(unsigned char)*reader->at & 127](reader);
}

static APART void finish_document(const struct reader *reader)
{
	result = reader->values[1];
}

static APART void finish_other_document(const struct reader *reader)
{
	elsewhere = reader->values[0] + reader->values[2];
}

static void through_document(void)
{
	struct reader reader;

	for (int i = 0; i < 128; i++)
		by_character[i] = i >= '0' && i <= '9' ? read_number : skip_one;
	write_document();
	read_document(&reader);
	finish_document(&reader);
	finish_other_document(&reader);
}

/* a hash table with chains, which grows */
struct item {
	struct item *next;
	char name[16];
	uint64_t value;
};

static struct item **buckets;
static size_t bucket_count;

static APART size_t hash_of(const char *name)
{
	size_t hash = 5381;

	while (*name)
		hash = hash * 33 + (unsigned char)*name++;
	return hash;
}

static APART void add_item(const char *name, uint64_t value)
{
	struct item *item = malloc(sizeof(*item)),
		    **bucket = &buckets[hash_of(name) % bucket_count];

	if (!item)
		abort();
	strcpy(item->name, name);
	item->value = value;
	item->next = *bucket;
	*bucket = item;
}

static APART void grow_table(void)
{
	size_t count = bucket_count * 2;
	struct item **grown = calloc(count, sizeof(struct item *));

	if (!grown)
		abort();
	for (size_t i = 0; i < bucket_count; i++)
		for (struct item *item = buckets[i], *next; item; item = next) {
			struct item **bucket = &grown[hash_of(item->name) % count];

			next = item->next;
			item->next = *bucket;
			*bucket = item;
		}
	free(buckets);
	buckets = grown;
	bucket_count = count;
}

static APART uint64_t *find_item(const char *name)
{
	struct item *item = buckets[hash_of(name) % bucket_count];

	while (item && strcmp(item->name, name) != 0)
		item = item->next;
	return item ? &item->value : NULL;
}

static APART void add_items(void)
{
	add_item("apple", decoy);
	add_item("cherry", made);
	add_item("plum", decoy + 1);
}

static APART void finish_item(void)
{
	result = *find_item("cherry");
}

static APART void finish_other_item(void)
{
	elsewhere = *find_item("apple") + *find_item("plum");
}

static APART void clear_table(void)
{
	for (size_t i = 0; i < bucket_count; i++)
		for (struct item *item = buckets[i], *next; item; item = next) {
			next = item->next;
			free(item);
		}
	free(buckets);
}

static void through_items(void)
{
	bucket_count = 2;
	buckets = calloc(bucket_count, sizeof(struct item *));
	if (!buckets)
		abort();
	add_items();
	grow_table();
	finish_item();
	finish_other_item();
	clear_table();
}

/* a text that is printed, taken apart and scanned */
static char printed[64];

static APART void print_line(void)
{
	snprintf(printed, sizeof(printed), "%llu,%llu,%llu", (unsigned long long)(decoy >> 40),
		 (unsigned long long)(made >> 40), (unsigned long long)(decoy >> 41));
}

static APART void scan_token(const char *token)
{
	unsigned long long value;

	if (sscanf(token, "%llu", &value) == 1)
		result = value + 1;
}

static APART void scan_other_token(const char *token)
{
	unsigned long long value;

	if (sscanf(token, "%llu", &value) == 1)
		elsewhere = value + 1;
}

static void through_print(void)
{
	const char *token;

	print_line();
	token = strtok(printed, ",");
	scan_other_token(token);
	token = strtok(NULL, ",");
	scan_token(token);
	token = strtok(NULL, ",");
	scan_other_token(token);
}

/* pointers that qsort() puts in order */
struct person {
	uint64_t age, wage;
};

static struct person people[5];
static const struct person *order[5];

static APART void fill_people(void)
{
	for (uint64_t i = 0; i < 5; i++)
		people[i] = (struct person){(i * 3) % 5, decoy + i};
	people[3].wage = made;
}

static int younger(const void *left, const void *right)
{
	const struct person *first = *(const struct person *const *)left;
	const struct person *second = *(const struct person *const *)right;

	return first->age < second->age ? -1 : first->age > second->age;
}

static APART void order_people(void)
{
	for (int i = 0; i < 5; i++)
		order[i] = &people[i];
	qsort(order, 5, sizeof(struct person *), younger);
}

static APART void finish_people(void)
{
	result = order[4]->wage;
}

static APART void finish_other_people(void)
{
	elsewhere = order[0]->wage + order[1]->wage;
}

static void through_people(void)
{
	fill_people();
	order_people();
	finish_people();
	finish_other_people();
}

/* a recursion that carries a value down, and what is found back up */
struct branch {
	struct branch *left, *right;
	uint64_t key, value;
};

static struct branch branches[7];

static APART void grow_branches(void)
{
	for (unsigned i = 0; i < 7; i++) {
		branches[i].left = i < 3 ? &branches[2 * i + 1] : NULL;
		branches[i].right = i < 3 ? &branches[2 * i + 2] : NULL;
		branches[i].key = i;
		branches[i].value = i == 5 ? made : decoy + i;
	}
}

static APART uint64_t find_branch(const struct branch *branch, uint64_t key)
{
	uint64_t found;

	if (!branch)
		return 0;
	if (branch->key == key)
		return branch->value;
	found = find_branch(branch->left, key);
	return found ? found : find_branch(branch->right, key);
}

static APART void finish_branch(void)
{
	result = find_branch(branches, 5);
}

static APART void finish_other_branch(void)
{
	elsewhere = find_branch(branches, 3);
}

static void through_branches(void)
{
	grow_branches();
	finish_branch();
	finish_other_branch();
}

/* what was computed once is remembered */
static uint64_t known[8], base_value;

static APART void forget(void)
{
	memset(known, 0, sizeof(known));
}

static APART void set_base(void)
{
	base_value = made | 1;
}

static APART uint64_t step_of(unsigned index)
{
	if (known[index])
		return known[index];
	known[index] = index == 0 ? base_value : step_of(index - 1) + 2 * index;
	return known[index];
}

static APART void finish_steps(void)
{
	result = step_of(5);
}

static void through_steps(void)
{
	forget();
	set_base();
	finish_steps();
}

/* a union of fields, bytes and a word */
union packet {
	struct {
		uint32_t kind : 4, length : 12, colour : 16;
		uint32_t tail;
	} fields;
	uint64_t word;
	uint8_t bytes[8];
};

static union packet packet;
static uint64_t wire;

static APART void fill_fields(void)
{
	packet.fields.kind = (unsigned)decoy & 15;
	packet.fields.length = (unsigned)decoy & 0xfff;
	packet.fields.colour = (unsigned)decoy & 0xffff;
	packet.fields.tail = (uint32_t)(made >> 20);
}

static APART void put_on_wire(void)
{
	wire = packet.word;
}

static APART void finish_packet(void)
{
	union packet taken = {.word = wire};

	result = taken.fields.tail;
}

static APART void finish_other_packet(void)
{
	union packet taken = {.word = wire};

	elsewhere = taken.fields.length + taken.bytes[2];
}

static void through_packet(void)
{
	fill_fields();
	put_on_wire();
	finish_packet();
	finish_other_packet();
}

/* arithmetic on vectors of four */
typedef float four __attribute__((vector_size(16)));

static float weights[16], inputs[16], outputs[16];

static APART void fill_inputs(void)
{
	for (int i = 0; i < 16; i++) {
		inputs[i] = (float)(made >> 44) + (float)i;
		weights[i] = 0.5f;
	}
}

static APART void weigh(void)
{
	for (int i = 0; i < 16; i += 4) {
		four input, weight, output;

		memcpy(&input, inputs + i, sizeof(input));
		memcpy(&weight, weights + i, sizeof(weight));
		output = input * weight + input;
		memcpy(outputs + i, &output, sizeof(output));
	}
}

static APART void finish_weighed(void)
{
	result = (uint64_t)outputs[9];
}

static void through_vectors(void)
{
	fill_inputs();
	weigh();
	finish_weighed();
}

/* a way out of the depth, with what went wrong beside it */
static jmp_buf way_out;
static struct {
	int code;
	uint64_t detail;
} failure;

static APART void fail_with(uint64_t detail)
{
	failure.code = 3;
	failure.detail = detail;
	longjmp(way_out, 1);
}

static APART void descend(int depth, uint64_t detail)
{
	if (depth == 0)
		fail_with(detail);
	else
		descend(depth - 1, detail);
	elsewhere++;
}

static APART void descend_made(void)
{
	descend(4, made);
}

static APART void descend_decoy(void)
{
	descend(4, decoy);
}

static APART void finish_failed(void)
{
	result = failure.detail;
}

static APART void finish_other_failed(void)
{
	elsewhere = failure.detail;
}

static void through_failure(void)
{
	if (setjmp(way_out) == 0)
		descend_decoy();
	finish_other_failed();
	if (setjmp(way_out) == 0)
		descend_made();
	finish_failed();
}

static const struct road roads[] = {
	{"messages", through_messages}, {"document", through_document},
	{"items", through_items},	{"print", through_print},
	{"people", through_people},	{"branches", through_branches},
	{"steps", through_steps},	{"packet", through_packet},
	{"vectors", through_vectors},	{"failure", through_failure},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
