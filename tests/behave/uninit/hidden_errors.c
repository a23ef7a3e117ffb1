/* SPDX-License-Identifier: Apache-2.0 */
/* Each case reads bytes that nobody has written, behind others like them that come to nothing. */
#include "cases.h"

#include <sys/uio.h>
#include <unistd.h>

/* The padding before the member comes by the same instruction. */
struct padded {
	char kind;
	long value;
};

static NOINLINE void copied_behind_padding(void)
{
	static struct padded copy;
	struct padded *padded = malloc(sizeof(*padded));
	volatile char *to = (volatile char *)&copy;

	HIDE(padded);
	padded->kind = 1;
	HIDE(padded);
	for (size_t i = 0; i < sizeof(copy); i++)
		to[i] = ((const char *)padded)[i];
	if (copy.value > 17)
		touch();
	free(padded);
}

/* As compilers write it: the block's address is kept in a second register, and the load is over the
 * first one, behind a branch. Its register holds another number before that. */
static NOINLINE void loaded_over_address(void)
{
	int *reply = malloc(32);
	int urgent;

	__asm__ volatile("mov %%rax, %%rdx\n\ttest %%rax, %%rax\n\tje 1f\n\tmovl $200, (%%rax)\n\t"
			 "mov 4(%%rax), %%eax\n\ttest %%eax, %%eax\n\tje 1f\n\tincq %1\n1:"
			 : "=a"(urgent), "+m"(sink)
			 : "0"(reply)
			 : "rdx", "memory", "cc");
	free(reply);
}

struct fields {
	unsigned ready : 1, mode : 3, level : 5, rest : 23;
};

/* Stores to its neighbours in the same byte come before it is looked at. */
static NOINLINE void field_between_stores(void)
{
	struct fields *fields = malloc(sizeof(*fields));

	HIDE(fields);
	fields->ready = 1;
	HIDE(fields);
	fields->level = 4;
	HIDE(fields);
	if (fields->mode == 2)
		touch();
	free(fields);
}

/* The load of a word that is watched, too, comes by the same instruction, and is of no account. */
static NOINLINE void string_beside_its_end(void)
{
	char *text = malloc(40);

	HIDE(text);
	memset(text, 'q', 21);
	HIDE(text);
	if (strlen(text) > 22)
		touch();
	free(text);
}

static NOINLINE void read_in_part(void)
{
	char *buffer = malloc(64);
	int ends[2];

	HIDE(buffer);
	if (pipe(ends) || write(ends[1], "abcd", 4) != 4)
		return;
	sink = read(ends[0], buffer, 64);
	HIDE(buffer);
	if (buffer[20] == 'x')
		touch();
	close(ends[0]);
	close(ends[1]);
	free(buffer);
}

/* The value waits where another block is allocated. */
static NOINLINE void behind_another_block(void)
{
	struct padded *padded = malloc(sizeof(*padded));
	long value;
	char *other;

	HIDE(padded);
	padded->kind = 1;
	value = padded->value;
	HIDE(value);
	other = malloc(100);
	HIDE(other);
	other[0] = 1;
	if (value > 17)
		touch();
	free(other);
	free(padded);
}

/* Four bytes and two of one word, each of which tells already that it is another text. */
static NOINLINE void compared_in_parts(void)
{
	char *text = malloc(24);

	HIDE(text);
	memset(text, 'q', 16);
	HIDE(text);
	if (memcmp(text + 16, "abcdef", 6) == 0)
		touch();
	free(text);
}

/* realloc() fills the words that its caller reads first. */
static NOINLINE void grown_once(void)
{
	long *numbers = malloc(8 * sizeof(*numbers)), sum = 0;

	HIDE(numbers);
	for (int i = 0; i < 8; i++)
		numbers[i] = i;
	HIDE(numbers);
	numbers = realloc(numbers, 12 * sizeof(*numbers));
	HIDE(numbers);
	for (int i = 0; i < 12; i++)
		sum += numbers[i];
	if (sum > 40)
		touch();
	free(numbers);
}

/* Between the block's birth and the read the C library makes blocks of its own. */
static NOINLINE void behind_first_print(void)
{
	struct padded *padded = malloc(sizeof(*padded));

	HIDE(padded);
	padded->kind = 1;
	HIDE(padded);
	for (int i = 0; i < 4; i++) {
		FILE *file = fopen("/dev/null", "w");

		if (!file || fputs("of the program's own\n", file) < 0)
			exit(3);
		fclose(file);
	}
	puts("first");
	if (padded->value > 17)
		touch();
	free(padded);
}

/* The text before it makes the library ask the kernel about the stream first. */
static NOINLINE void printed_behind_text(void)
{
	struct padded *padded = malloc(sizeof(*padded));

	HIDE(padded);
	padded->kind = 'k';
	HIDE(padded);
	fprintf(stderr, "kind %c of %ld\n", padded->kind, padded->value);
	free(padded);
}

/* In a register, while something is printed. */
static NOINLINE void kept_behind_print(void)
{
	struct padded *padded = malloc(sizeof(*padded));
	long value;

	HIDE(padded);
	padded->kind = 1;
	HIDE(padded);
	value = padded->value;
	HIDE(value);
	puts("nothing of it");
	printf("nor of %s%.*s", "it", 0, (const char *)&padded->value);
	if (value > 17)
		touch();
	free(padded);
}

/* By way of a stream's buffer. */
static NOINLINE void sent_by_stream(void)
{
	struct padded *padded = malloc(4 * sizeof(*padded));
	FILE *file = tmpfile();

	HIDE(padded);
	padded->kind = 1;
	HIDE(padded);
	if (!file || fwrite(padded, sizeof(*padded), 2, file) != 2 || fclose(file))
		exit(3);
	free(padded);
}

/* What is copied is used farther on than a value is followed. */
static NOINLINE void copied_long_before(void)
{
	struct padded *padded = malloc(sizeof(*padded)), *copy = malloc(sizeof(*copy));

	HIDE(padded);
	HIDE(copy);
	padded->kind = 1;
	HIDE(padded);
	copy->value = padded->value;
	HIDE(copy);
	free(padded);
	for (int i = 0; i < 4000; i++)
		touch();
	if (copy->value > 17)
		touch();
	free(copy);
}

#define ELEMENTS 200

/* Which element is missing stands in a register that the allocation leaves as it was. */
static NOINLINE void look_at_element(size_t which)
{
	long *table = malloc((ELEMENTS + 1) * sizeof(*table));

	HIDE(table);
	table[ELEMENTS] = 0;
	for (size_t i = 0; i < ELEMENTS; i++)
		if (i != which)
			table[i] = (long)i;
	HIDE(table);
	if (table[which] > 17)
		touch();
	free(table);
}

static NOINLINE void element_by_number(void)
{
	size_t which = 137;

	HIDE(which);
	look_at_element(which);
}

static NOINLINE void fill_block(size_t size)
{
	char *block = malloc(size);

	HIDE(block);
	memset(block, 'x', size);
	HIDE(block);
	free(block);
}

/* One of the rounds goes another way, when the time that telling of blocks may take has long been
 * used by others. */
static NOINLINE void in_one_round(void)
{
	for (size_t round = 0; round < 40; round++) {
		for (size_t size = 100; size < 104; size++)
			fill_block(size);
		look_at_element(round == 29 ? 75 : ELEMENTS);
	}
}

#define SENT 40

/* What the kernel is to pass on the program does not load. */
static NOINLINE void sent_in_parts(void)
{
	long *head = malloc(sizeof(*head)), *body = malloc(SENT * sizeof(*body));
	struct iovec part[] = {{head, sizeof(*head)}, {body, SENT * sizeof(*body)}};
	int ends[2];

	HIDE(head);
	HIDE(body);
	*head = 7;
	for (size_t i = 0; i < SENT; i++)
		if (i != 21)
			body[i] = 1;
	HIDE(body);
	if (pipe(ends) || writev(ends[1], part, 2) < 0)
		exit(3);
	free(body);
	free(head);
}

static const struct row rows[] = {
	{"compared_in_parts", compared_in_parts},
	{"loaded_over_address", loaded_over_address},
	{"field_between_stores", field_between_stores},
	{"string_beside_its_end", string_beside_its_end},
	{"read_in_part", read_in_part},
	{"behind_another_block", behind_another_block},
	{"copied_behind_padding", copied_behind_padding},
	{"grown_once", grown_once},
	{"sent_by_stream", sent_by_stream},
	{"copied_long_before", copied_long_before},
	{"printed_behind_text", printed_behind_text},
	{"kept_behind_print", kept_behind_print},
	{"behind_first_print", behind_first_print},
	{"element_by_number", element_by_number},
	{"in_one_round", in_one_round},
	{"sent_in_parts", sent_in_parts},
};

RUN_CASES(rows)
