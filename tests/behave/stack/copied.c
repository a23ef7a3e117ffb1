/* SPDX-License-Identifier: Apache-2.0 */
/* Routines that take turns on one stack: each one's frames are copied away as it leaves, and back
 * as it comes again. Correct: nothing may be reported. */
#include "cases.h"

#include <setjmp.h>

#define ROOM 32768

static struct routine {
	jmp_buf at;
	char *low; /* the stack pointer when it left */
	size_t size;
	int started;
	char copy[ROOM];
} routines[2];

static jmp_buf beginning;
static char *base; /* frames lie below */
static volatile int current;
static int wipes; /* a copy as soon as it was used */

APART static void come_again(struct routine *routine, int depth)
{
	volatile char room[512];

	room[0] = (char)depth;
	/* Below all that is overwritten. */
	if ((char *)room + sizeof(room) + 256 > routine->low)
		come_again(routine, depth + 1);
	memcpy(routine->low, routine->copy, routine->size);
	longjmp(routine->at, 1);
}

APART static void leave(void)
{
	struct routine *own = &routines[current], *other;
	char *low;

	__asm__ volatile("mov %%rsp, %0" : "=r"(low));
	own->low = low;
	own->size = (size_t)(base - own->low);
	if (own->size > ROOM)
		return;
	if (setjmp(own->at)) {
		if (wipes)
			memset(routines[current].copy, 0, ROOM);
		return;
	}
	memcpy(own->copy, own->low, own->size);
	current = !current;
	other = &routines[current];
	if (!other->started)
		longjmp(beginning, 1);
	come_again(other, 0);
}

APART static void fill(char *text, int size, int with)
{
	for (int i = 0; i < size; i++)
		text[i] = (char)(with + i);
}

APART static void step(int with)
{
	char text[40];

	fill(text, sizeof(text), with);
	leave();
	cases_sum += (unsigned long)text[with % 40];
}

APART static void take_turns(void)
{
	routines[current].started = 1;
	for (int i = 0; again(); i++) {
		step(i);
		work();
	}
	longjmp(beginning, 2);
}

APART static void stacks_copied(void)
{
	char *low;

	__asm__ volatile("mov %%rsp, %0" : "=r"(low));
	base = low;
	if (setjmp(beginning) < 2)
		take_turns();
}

/* What was copied is gone before anybody can look at it, unless the thread is held. */
APART static void stacks_wiped(void)
{
	wipes = 1;
	stacks_copied();
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {
		{"stacks_copied", stacks_copied}, {"stacks_wiped", stacks_wiped}, {NULL, NULL}};

	return run_case(cases, argc, argv);
}
