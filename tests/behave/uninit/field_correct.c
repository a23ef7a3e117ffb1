/* SPDX-License-Identifier: Apache-2.0 */
/* Bits of words of which others are nobody's: each case looks only at what it has written. */
#include "cases.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fields {
	unsigned ready : 1, mode : 3, level : 5, rest : 23;
};

/* x ^ ((x ^ y) & mask), by which compilers copy a bit-field into its word. */
#define MERGE(word, value, mask)                                                                \
	__asm__ volatile("mov (%0), %%eax\n mov %1, %%edx\n xor %%eax, %%edx\n and %2, %%edx\n" \
			 "xor %%edx, %%eax\n mov %%eax, (%0)"                                   \
			 :                                                                      \
			 : "r"(word), "r"(value), "i"(mask)                                     \
			 : "eax", "edx", "memory", "cc")

static NOINLINE void field_merged(void)
{
	struct fields *fields = malloc(sizeof(*fields));
	unsigned value = 4;

	HIDE(fields);
	MERGE(fields, value, 14);
	if (fields->mode == 2)
		touch();
	HIDE(fields);
	if (fields->mode == 2)
		touch();
	free(fields);
}

static NOINLINE void fields_copied(void)
{
	struct fields *to = malloc(sizeof(*to)), *from = malloc(sizeof(*from));

	HIDE(to);
	HIDE(from);
	from->level = 3;
	from->mode = 1;
	HIDE(from);
	to->mode = from->mode;
	to->level = from->level;
	HIDE(to);
	if (to->mode == 1 && to->level == 3)
		touch();
	free(to);
	free(from);
}

static NOINLINE void fields_in_turn(void)
{
	struct fields *fields = malloc(sizeof(*fields));

	HIDE(fields);
	for (unsigned i = 0; i < 30; i++) {
		fields->level = i;
		HIDE(fields);
		if (fields->level == 7)
			touch();
		fields->ready = i & 1;
		HIDE(fields);
		if (fields->ready)
			touch();
	}
	free(fields);
}

static NOINLINE void bits_set_and_reset(void)
{
	unsigned long *bits = malloc(sizeof(*bits));

	HIDE(bits);
	__asm__ volatile("btsq $3, (%0)\n btrq $4, (%0)\n lock btsq $40, (%0)"
			 :
			 : "r"(bits)
			 : "memory", "cc");
	HIDE(bits);
	if ((*bits >> 3 & 1) && !(*bits >> 4 & 1) && (*bits >> 40 & 1))
		touch();
	free(bits);
}

static NOINLINE void map_in_part(void)
{
	unsigned long *map = malloc(2 * sizeof(*map)), set = 0;

	HIDE(map);
	for (unsigned i = 0; i < 70; i++) {
		unsigned long bit = 1ul << i % 64;

		map[i / 64] = i & 1 ? map[i / 64] | bit : map[i / 64] & ~bit;
		HIDE(map);
	}
	for (unsigned i = 0; i < 70; i++)
		set += map[i / 64] >> i % 64 & 1;
	if (set == 35)
		touch();
	free(map);
}

static NOINLINE void shifted_in(void)
{
	unsigned long *word = malloc(sizeof(*word));

	HIDE(word);
	for (unsigned i = 0; i < 64; i++) {
		*word = *word << 1 | (i & 1);
		HIDE(word);
	}
	if (*word == 0x5555555555555555)
		touch();
	free(word);
}

/* What realloc() has copied, and what is filled behind it. */
static NOINLINE void grown_and_filled(void)
{
	long *numbers = malloc(8 * sizeof(*numbers)), sum = 0;

	HIDE(numbers);
	for (int i = 0; i < 8; i++)
		numbers[i] = i;
	HIDE(numbers);
	numbers = realloc(numbers, 12 * sizeof(*numbers));
	HIDE(numbers);
	for (int i = 8; i < 12; i++)
		numbers[i] = i;
	HIDE(numbers);
	for (int i = 0; i < 12; i++)
		sum += numbers[i];
	if (sum > 40)
		touch();
	numbers = realloc(numbers, 3 * sizeof(*numbers));
	HIDE(numbers);
	if (numbers[2] > 40)
		touch();
	free(numbers);
}

/* As much as the format says, behind which nothing is written. */
static NOINLINE void printed_in_part(void)
{
	char *text = malloc(16);
	unsigned word;

	HIDE(text);
	text[0] = 'a';
	text[1] = 'b';
	HIDE(text);
	printf("%.2s %.*s\n", text, 1, text);
	memcpy(&word, text, sizeof(word));
	HIDE(word);
	printf("%hhu %hu %c\n", (unsigned char)word, (unsigned short)word, word);
	fputs("", stdout);
	putchar((int)word);
	free(text);
}

/* It is overwritten by what is printed. */
static NOINLINE void printed_over(void)
{
	char *text = malloc(16), *copy = malloc(16);

	HIDE(text);
	text[0] = 'a';
	HIDE(text);
	memcpy(copy, text, 16);
	HIDE(copy);
	snprintf(copy, 16, "%d", 1234567);
	if (copy[6] == '7')
		touch();
	puts(copy);
	free(text);
	free(copy);
}

/* The copy is another one by the time that it is used; its memory is another block's then. */
static NOINLINE void copied_and_overwritten(void)
{
	long *from = malloc(64), *to = malloc(64);

	HIDE(from);
	HIDE(to);
	memcpy(to, from, 64);
	HIDE(to);
	for (int i = 0; i < 4000; i++)
		touch();
	for (int i = 0; i < 8; i++)
		to[i] = i;
	HIDE(to);
	for (int i = 0; i < 8; i++)
		if (to[i] > 17)
			touch();
	memcpy(to, from, 64);
	free(to);
	to = calloc(8, 8);
	HIDE(to);
	if (to[2] > 17)
		touch();
	free(to);
	free(from);
}

/* What is set in the copy is read again when the copying is no longer followed. */
static NOINLINE void set_as_it_was_copied(void)
{
	unsigned long *from = malloc(64), *to = malloc(64);

	HIDE(from);
	HIDE(to);
	*to = (*from & ~7ul) | 2;
	HIDE(to);
	for (int i = 0; i < 4000; i++)
		touch();
	if ((*to & 7) == 2)
		touch();
	free(to);
	free(from);
}

/* The copy goes back to the system, and zeroes come in its place; by number, as the calls that an
 * allocator makes are not seen either. */
static NOINLINE void copied_and_mapped_anew(void)
{
	const size_t length = 1 << 20;
	const int rights = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
	long *from = malloc(64), *to = mmap(NULL, length, rights, flags, -1, 0);

	HIDE(from);
	HIDE(to);
	memcpy(to, from, 64);
	HIDE(to);
	for (int i = 0; i < 4000; i++)
		touch();
	syscall(SYS_munmap, to, length);
	to = (long *)syscall(SYS_mmap, to, length, rights, flags | MAP_FIXED, -1, 0);
	HIDE(to);
	for (int i = 0; i < 8; i++)
		if (to[i] > 17)
			touch();
	free(from);
}

static const struct row rows[] = {
	{"field_merged", field_merged},
	{"fields_copied", fields_copied},
	{"fields_in_turn", fields_in_turn},
	{"bits_set_and_reset", bits_set_and_reset},
	{"map_in_part", map_in_part},
	{"shifted_in", shifted_in},
	{"grown_and_filled", grown_and_filled},
	{"copied_and_overwritten", copied_and_overwritten},
	{"printed_in_part", printed_in_part},
	{"printed_over", printed_over},
	{"set_as_it_was_copied", set_as_it_was_copied},
	{"copied_and_mapped_anew", copied_and_mapped_anew},
};

RUN_CASES(rows)
