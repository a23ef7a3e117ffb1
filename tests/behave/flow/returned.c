/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What functions that have returned had made of what: where the same code is called by others, or
 * where registers have changed since. In the machine's own words where compilers would choose.
 */
#include <stdbool.h>
#include "kinds.h"

struct box {
	uint64_t before, value;
};

uint64_t twice(uint64_t number);
uint64_t open_box(void);
uint64_t open_decoy(void);
uint64_t pick(void);
void put_one(void);
void put_other(void);
void finish_behind(void);
void finish_turned(void);

static struct box boxes[4];
struct box *cursor;
uint64_t *target, variable;
static uint64_t elsewhere;

#define FUNCTION(name, text)                                                                \
	__asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n" #name  \
		":\n.cfi_startproc\n" text "ret\n.cfi_endproc\n.size " #name ", . - " #name \
		"\n.popsection\n")
#define PUSH(name)                                    \
	"push %" #name "\n.cfi_adjust_cfa_offset 8\n" \
	".cfi_rel_offset " #name ", 0\n"
#define POP(name)                                     \
	"pop %" #name "\n.cfi_adjust_cfa_offset -8\n" \
	".cfi_restore " #name "\n"

APART uint64_t twice(uint64_t number)
{
	return 2 * number;
}

/* line: one text is read for two callers. */
static char line[17];

static APART void write_digits(uint64_t number)
{
	for (unsigned i = 0; i < 16; i++)
		line[i] = (char)('0' + (number >> 3 * i) % 8);
}

static APART void write_line(void)
{
	write_digits(made);
	__asm__ volatile("");
}

static APART void write_other(void)
{
	write_digits(decoy);
	__asm__ volatile("");
}

static APART uint64_t read_line(void)
{
	uint64_t number = strtoull(line, NULL, 10);

	__asm__ volatile("" : "+r"(number));
	return number;
}

static APART void finish_line(void)
{
	uint64_t first, second;

	write_line();
	first = read_line();
	write_other();
	second = read_line();
	elsewhere = second;
	result = first;
}

/* behind: a register changes between a call that a value was given to and the store. */
static APART void fill_box(void)
{
	boxes[1].value = made;
}

FUNCTION(finish_behind,
	 PUSH(rbx) PUSH(r12) PUSH(r13) "mov cursor(%rip), %rbx\n"
				       "mov target(%rip), %r12\n"
				       "sub $8, %r12\n"
				       "mov 8(%rbx), %rdi\n"
				       "xor %ebx, %ebx\n"
				       "call twice\n"
				       "add $8, %r12\n"
				       "mov %rax, (%r12)\n" POP(r13) POP(r12) POP(rbx));

static void through_behind(void)
{
	fill_box();
	cursor = &boxes[1];
	target = &result;
	finish_behind();
}

/* turned: the register that was called through leads to another function then. */
APART uint64_t open_box(void)
{
	return boxes[1].value;
}

APART uint64_t open_decoy(void)
{
	return boxes[2].value;
}

static APART void fill_decoy(void)
{
	boxes[2].value = decoy;
}

FUNCTION(finish_turned, PUSH(rbx) "lea open_box(%rip), %rbx\n"
				  "call *%rbx\n"
				  "mov %rax, %rdi\n"
				  "lea open_decoy(%rip), %rbx\n"
				  "call twice\n"
				  "mov %rax, result(%rip)\n" POP(rbx));

static void through_turned(void)
{
	fill_box();
	fill_decoy();
	finish_turned();
	elsewhere = open_decoy();
}

/* kept: a loop loads a variable again and again, and keeps what it has made of the second. */
APART void put_one(void)
{
	variable = made;
}

APART void put_other(void)
{
	variable = decoy;
}

FUNCTION(pick, PUSH(rbx) PUSH(r12) PUSH(r13) "xor %ebx, %ebx\n"
					     "xor %r12d, %r12d\n"
					     "1: cmp $1, %ebx\n"
					     "jne 2f\n"
					     "call put_one\n"
					     "jmp 3f\n"
					     "2: call put_other\n"
					     "3: mov variable(%rip), %rax\n"
					     "cmp $1, %ebx\n"
					     "jne 4f\n"
					     "lea 1(%rax, %rax, 2), %r12\n"
					     "4: inc %ebx\n"
					     "cmp $4, %ebx\n"
					     "jne 1b\n"
					     "mov %r12, %rax\n" POP(r13) POP(r12) POP(rbx));

static APART void finish_kept(void)
{
	result = pick();
}

/* digits: a loop makes a number of a text's digits, and gives up where one is none. */
static char digits[8];
static volatile size_t digits_length = sizeof(digits);
static uint64_t parsed;

static APART void digits_write(void)
{
	for (unsigned i = 0; i < sizeof(digits); i++)
		digits[i] = (char)('0' + (made >> (3 * i + 20)) % 8);
}

static APART bool digits_read(const char *text, size_t length, uint64_t *number)
{
	uint64_t value = 0;
	size_t i = 0;

	while (i < length && text[i] >= '0' && text[i] <= '9')
		value = 10 * value + (uint64_t)(text[i++] - '0');
	if (i < length)
		return false;
	*number = value;
	return true;
}

static APART void finish_digits(void)
{
	digits_write();
	if (digits_read(digits, digits_length, &parsed))
		result = parsed;
}

/* two: another call of the same function comes before the store. */
static APART uint64_t value_of(const struct box *box)
{
	return box->value;
}

static APART void fill_second(void)
{
	boxes[3].value = 7 * made;
}

static APART void finish_two(void)
{
	result = value_of(&boxes[1]) + value_of(&boxes[3]);
}

static void through_two(void)
{
	fill_box();
	fill_second();
	finish_two();
}

static const struct road roads[] = {{"line", finish_line},	{"two", through_two},
				    {"behind", through_behind}, {"turned", through_turned},
				    {"kept", finish_kept},	{"digits", finish_digits}};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
