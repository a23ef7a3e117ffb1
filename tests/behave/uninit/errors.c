/* SPDX-License-Identifier: Apache-2.0 */
/* Each case reads bytes of a block that nobody has written, and lets something depend on them. */
#include "cases.h"

#include <stdbool.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

struct pair {
	int first, second;
	long third;
};

static NOINLINE struct pair *make_pair(void)
{
	struct pair *pair = malloc(sizeof(*pair));

	HIDE(pair);
	pair->first = 1;
	pair->third = 3;
	return pair;
}

static NOINLINE void branch_on_member(void)
{
	struct pair *pair = make_pair();

	if (pair->second > 3)
		touch();
	free(pair);
}

static NOINLINE void branch_on_first_word(void)
{
	long *numbers = malloc(4 * sizeof(*numbers));

	HIDE(numbers);
	if (numbers[0] == 17)
		touch();
	free(numbers);
}

static NOINLINE void branch_on_last_word(void)
{
	long *numbers = malloc(9 * sizeof(*numbers));

	HIDE(numbers);
	for (int i = 0; i < 8; i++)
		numbers[i] = i;
	if (numbers[8] < 4)
		touch();
	free(numbers);
}

/* The loop comes one too far. */
static NOINLINE long sum_of(const long *numbers, int count)
{
	long sum = 0;

	for (int i = 0; i <= count; i++)
		sum += numbers[i];
	return sum;
}

static NOINLINE void sum_too_far(void)
{
	long *numbers = malloc(3 * sizeof(*numbers));

	HIDE(numbers);
	numbers[0] = numbers[1] = 1;
	if (sum_of(numbers, 2) > 100)
		touch();
	free(numbers);
}

/* An older block, of which little is written, has all the watches that there are. */
static NOINLINE void too_far_behind_another_block(void)
{
	char *other = malloc(4096);

	HIDE(other);
	other[0] = 1;
	sum_too_far();
	free(other);
}

static NOINLINE void one_byte_of_word(void)
{
	char *bytes = malloc(8);

	HIDE(bytes);
	memcpy(bytes, "abcde", 5);
	bytes[7] = 0;
	HIDE(bytes);
	if (bytes[6] == 'x')
		touch();
	free(bytes);
}

static NOINLINE void half_written(void)
{
	uint32_t *half = malloc(8);

	HIDE(half);
	half[0] = 7;
	HIDE(half);
	if (*(volatile uint64_t *)half > 1000000)
		touch();
	free(half);
}

static NOINLINE void flag_byte(void)
{
	struct flags {
		int size;
		bool ready;
		char name[11];
	} *flags = malloc(sizeof(*flags));

	HIDE(flags);
	flags->size = 4;
	HIDE(flags);
	if (flags->ready)
		touch();
	free(flags);
}

struct node {
	struct node *next;
	long value;
};

/* The list's end is not marked. */
static NOINLINE void list_end(void)
{
	struct node *node = malloc(sizeof(*node));

	HIDE(node);
	node->value = 1;
	HIDE(node);
	if (node->next)
		touch();
	free(node);
}

long table[256];

static NOINLINE void table_index(void)
{
	uint8_t *block = malloc(24);

	HIDE(block);
	block[0] = 1;
	HIDE(block);
	sink = table[block[1]];
	free(block);
}

static NOINLINE void masked_index(void)
{
	uint64_t *block = malloc(8);

	HIDE(block);
	sink = table[*block & 63];
	free(block);
}

static NOINLINE void through_pointer(void)
{
	struct holder {
		long size;
		char *pointer;
	} *holder = malloc(sizeof(*holder));

	HIDE(holder);
	holder->size = 1;
	/* So that the program lives: the bytes are what was there, but nobody wrote them here. */
	HIDE(holder);
	if (((uintptr_t)holder->pointer & 0xffff) == 0x1234)
		sink = *holder->pointer;
	free(holder);
}

static NOINLINE void switch_on(void)
{
	int *kind = malloc(16);

	HIDE(kind);
	switch (kind[2]) {
	case 0:
		sink = 10;
		break;
	case 1:
		sink = 20;
		break;
	case 2:
		sink = 7;
		break;
	case 3:
		sink = 9;
		break;
	case 4:
		sink = 3;
		break;
	default:
		sink = 5;
	}
	free(kind);
}

static NOINLINE int decide(int value)
{
	return value > 9 ? 1 : 2;
}

static NOINLINE void by_argument(void)
{
	int *block = malloc(12);

	HIDE(block);
	block[0] = block[2] = 3;
	HIDE(block);
	if (decide(block[1]) == 1)
		touch();
	free(block);
}

static NOINLINE int fetch(const int *block)
{
	return block[1];
}

static NOINLINE void by_return(void)
{
	int *block = malloc(8);

	HIDE(block);
	block[0] = 1;
	HIDE(block);
	if (fetch(block) == 4)
		touch();
	free(block);
}

static NOINLINE void by_local(void)
{
	int *block = malloc(8);
	volatile int local;

	HIDE(block);
	local = block[0];
	sink = 0;
	if (local > 2)
		touch();
	free(block);
}

static NOINLINE void computed(void)
{
	int *block = malloc(20);
	int value;

	HIDE(block);
	value = block[4] * 3 + 1;
	if ((value ^ 5) < 77)
		touch();
	free(block);
}

static NOINLINE void bit_field(void)
{
	struct bits {
		unsigned low : 3, middle : 9, high : 20;
	} *bits = malloc(sizeof(*bits));

	HIDE(bits);
	if (bits->middle == 4)
		touch();
	free(bits);
}

static NOINLINE void copied_by_struct(void)
{
	struct pair *from = make_pair(), *to = malloc(sizeof(*to));

	HIDE(to);
	*to = *from;
	HIDE(to);
	if (to->second == 8)
		touch();
	free(from);
	free(to);
}

static NOINLINE void copied_by_memcpy(void)
{
	size_t length = 40;
	char *from = malloc(40), *to = malloc(40);

	HIDE(from);
	HIDE(to);
	memset(from, 1, 32);
	HIDE(length);
	memcpy(to, from, length);
	HIDE(to);
	if (to[36] == 3)
		touch();
	free(from);
	free(to);
}

long saved[8];

static NOINLINE void keep(const long *block)
{
	for (int i = 0; i < 4; i++)
		saved[i] = block[i];
}

static NOINLINE void copied_to_global(void)
{
	long *block = malloc(4 * sizeof(*block));

	HIDE(block);
	block[0] = block[1] = block[3] = 1;
	HIDE(block);
	keep(block);
	free(block);
	HIDE(block);
	if (((volatile long *)saved)[2] == 4)
		touch();
}

static NOINLINE int *grow(int *numbers, int i)
{
	numbers = realloc(numbers, 64);
	HIDE(numbers);
	if (numbers[6 + i % 8] > 5)
		touch();
	return numbers;
}

static NOINLINE void grown(void)
{
	for (int i = 0; i < 8; i++) {
		int *numbers = malloc(4 * sizeof(*numbers));

		HIDE(numbers);
		for (int j = 0; j < 4; j++)
			numbers[j] = j;
		HIDE(numbers);
		free(grow(numbers, i));
	}
}

static NOINLINE void string_without_end(void)
{
	char *text = malloc(16);

	HIDE(text);
	memcpy(text, "abcdefgh", 8);
	HIDE(text);
	sink = (long)strnlen(text, 16);
	free(text);
}

static NOINLINE void compared_block(void)
{
	char *one = malloc(24), *other = calloc(1, 24);
	size_t length = 24;

	HIDE(one);
	memset(one, 0, 16);
	HIDE(length);
	HIDE(one);
	sink = memcmp(one, other, length);
	free(one);
	free(other);
}

static NOINLINE void compared_text(void)
{
	char *text = malloc(8);
	const char *other = "abcdefg";

	HIDE(text);
	HIDE(other);
	text[0] = 'a';
	HIDE(text);
	sink = strncmp(text, other, 7);
	free(text);
}

static NOINLINE void printed(void)
{
	int *block = malloc(16);
	char text[64];

	HIDE(block);
	block[0] = 1;
	HIDE(block);
	snprintf(text, sizeof(text), "%d %d", block[0], block[1]);
	sink = text[0];
	free(block);
}

static NOINLINE void as_length(void)
{
	struct message {
		char *text;
		size_t length;
	} *message = malloc(sizeof(*message));
	char text[64];

	HIDE(message);
	message->text = text;
	HIDE(message);
	memset(text, 1, message->length & 31);
	sink = text[3];
	free(message);
}

static NOINLINE void as_descriptor(void)
{
	int *descriptor = malloc(4);

	HIDE(descriptor);
	sink = lseek(*descriptor | 0x7f000000, 0, SEEK_CUR);
	free(descriptor);
}

static NOINLINE void floating(void)
{
	double *block = malloc(16);

	HIDE(block);
	block[0] = 1;
	HIDE(block);
	if (block[1] > 2.5)
		touch();
	free(block);
}

static void *decide_in_thread(void *argument)
{
	struct pair *pair = argument;

	if (pair->second > 100)
		touch();
	return NULL;
}

static NOINLINE void other_thread(void)
{
	struct pair *pair = make_pair();
	pthread_t thread;

	pthread_create(&thread, NULL, decide_in_thread, pair);
	pthread_join(thread, NULL);
	free(pair);
}

static NOINLINE void aligned_block(void)
{
	int *block = aligned_alloc(64, 128);

	HIDE(block);
	block[0] = 1;
	HIDE(block);
	if (block[31] == 9)
		touch();
	free(block);
}

static NOINLINE void late_in_loop(void)
{
	for (int i = 0; i < 40; i++) {
		struct pair *pair = make_pair();

		if (i != 30)
			pair->second = 4;
		HIDE(pair);
		if (pair->second > 5)
			touch();
		free(pair);
	}
}

static NOINLINE void send_record(int descriptor, const void *record, size_t length)
{
	if (write(descriptor, record, length) != (ssize_t)length)
		exit(3);
}

struct record {
	char kind;
	int number;
	char text[16];
};

/* The padding behind `kind`. */
static NOINLINE void padding_written(void)
{
	struct record *record = malloc(sizeof(*record));
	int pipes[2];

	HIDE(record);
	record->kind = 1;
	record->number = 2;
	memset(record->text, 0, sizeof(record->text));
	if (pipe(pipes))
		exit(3);
	send_record(pipes[1], record, sizeof(*record));
	free(record);
}

static NOINLINE void tail_written(void)
{
	char *buffer = malloc(64);
	int pipes[2];

	HIDE(buffer);
	strcpy(buffer, "hello");
	HIDE(buffer);
	if (pipe(pipes))
		exit(3);
	send_record(pipes[1], buffer, 16);
	free(buffer);
}

static NOINLINE void sent_on_socket(void)
{
	long *block = malloc(4 * sizeof(*block));
	int sockets[2];

	HIDE(block);
	block[0] = block[1] = block[2] = 0;
	HIDE(block);
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) ||
	    send(sockets[0], block, 4 * sizeof(*block), 0) != 4 * sizeof(*block))
		exit(3);
	free(block);
}

static NOINLINE void gathered(void)
{
	char *block = malloc(32);
	struct iovec vectors[2] = {{"head", 4}, {block, 32}};
	int pipes[2];

	HIDE(block);
	memset(block, 1, 20);
	HIDE(block);
	if (pipe(pipes) || writev(pipes[1], vectors, 2) != 36)
		exit(3);
	free(block);
}

static const struct row rows[] = {
	{"branch_on_member", branch_on_member},
	{"branch_on_first_word", branch_on_first_word},
	{"branch_on_last_word", branch_on_last_word},
	{"sum_too_far", sum_too_far},
	{"too_far_behind_another_block", too_far_behind_another_block},
	{"one_byte_of_word", one_byte_of_word},
	{"half_written", half_written},
	{"flag_byte", flag_byte},
	{"list_end", list_end},
	{"table_index", table_index},
	{"masked_index", masked_index},
	{"through_pointer", through_pointer},
	{"switch_on", switch_on},
	{"by_argument", by_argument},
	{"by_return", by_return},
	{"by_local", by_local},
	{"computed", computed},
	{"bit_field", bit_field},
	{"copied_by_struct", copied_by_struct},
	{"copied_by_memcpy", copied_by_memcpy},
	{"copied_to_global", copied_to_global},
	{"grown", grown},
	{"string_without_end", string_without_end},
	{"compared_block", compared_block},
	{"compared_text", compared_text},
	{"printed", printed},
	{"as_length", as_length},
	{"as_descriptor", as_descriptor},
	{"floating", floating},
	{"other_thread", other_thread},
	{"aligned_block", aligned_block},
	{"late_in_loop", late_in_loop},
	{"padding_written", padding_written},
	{"tail_written", tail_written},
	{"sent_on_socket", sent_on_socket},
	{"gathered", gathered},
};

RUN_CASES(rows)
