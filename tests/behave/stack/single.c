/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that live for milliseconds and use a frame after its return once, looked for with --all:
 * see cases.h. With CORRECT the local outlives the use. */
#include "cases.h"

#include <setjmp.h>

#ifdef CORRECT
#define LOCAL static
#else
#define LOCAL
#endif

static char *kept;

/* The frame is deeper than what a signal's own frame leaves alone */
APART static void leave_cleared(void)
{
	LOCAL char buffer[256];

	kept = buffer;
	memset(kept, 'q', 255);
	cases_sum += (unsigned char)buffer[cases_sum % 16];
}
APART static void touch_cleared(void)
{
	memset(kept, 0, 100);
}
static void run_cleared(void)
{
	leave_cleared();
	touch_cleared();
}

/* printf() reads it, which was not called before */
APART static void leave_printed(void)
{
	LOCAL char name[32];

	name[0] = 'n';
	name[1] = '\0';
	kept = name;
	work();
}
APART static void touch_printed(void)
{
	printf("%d %s\n", (int)(cases_sum % 10), kept);
}
static void run_printed(void)
{
	leave_printed();
	touch_printed();
}

static jmp_buf place;
APART static void leave_jumped(void)
{
	LOCAL char text[64];

	snprintf(text, sizeof(text), "error %lu", cases_sum);
	kept = text;
	longjmp(place, 1);
}
APART static void touch_jumped(void)
{
	cases_sum += (unsigned char)kept[3];
}
static void run_jumped(void)
{
	if (!setjmp(place))
		leave_jumped();
	else
		touch_jumped();
}

/* The result of what another function made of it */
APART static char *same(char *of)
{
	fprintf(stderr, "%d\n", of != NULL);
	return of;
}
APART static char *leave_handed(void)
{
	LOCAL char local;

	return same(&local);
}
APART static void touch_handed(char *to)
{
	fprintf(stderr, "%d\n", to != NULL);
	*to = 1;
}
static void run_handed(void)
{
	touch_handed(leave_handed());
}

/* In the second register of a result */
struct view {
	unsigned long length;
	const int *start;
};
APART static struct view view_of(const int *start)
{
	return (struct view){16, start};
}
APART static struct view leave_viewed(int factor)
{
	LOCAL int of[16];

	for (int i = 0; i < 16; i++)
		of[i] = i * factor;
	return view_of(of);
}
APART static void touch_viewed(struct view view)
{
	for (unsigned long i = 0; i < view.length; i++)
		cases_sum += (unsigned long)view.start[i];
}
static void run_viewed(void)
{
	touch_viewed(leave_viewed((int)(cases_sum % 10) + 2));
}

/* What a function leaves in the register of a result and its caller does not read */
static volatile char table[256];
APART static void leftover(void)
{
	char text[64];

	strcpy(text, "some text");
	HIDE(*text);
}
APART static void uses_its_own(unsigned flag)
{
	char own[128];
	char *start = own;
	unsigned char index;

	HIDE(start);
	memset(start, 1, sizeof(own));
	__asm__ volatile("test %1,%1\n setne %%al\n mov %%al,%0" : "=r"(index) : "r"(flag) : "rax");
	cases_sum += (unsigned long)start[index] + (unsigned long)table[index];
}
static void run_leftover(void)
{
	for (int i = 0; i < 20; i++) {
		leftover();
		uses_its_own((unsigned)i & 1);
	}
}

/* A table whose entries have names while they are in use: the first one's pointer is loaded and not
 * used, and the second one's leads to a frame that is there. */
static struct entry {
	char name[16];
	unsigned long *value;
} entries[2];
APART static void look_up(const char *name)
{
	for (int i = 0; i < 2; i++) {
		unsigned long *value = entries[i].value;

		HIDE(value);
		if (strcmp(entries[i].name, name) == 0)
			cases_sum += *value;
		work(); /* more than is foretold */
	}
}
APART static void use_entry(int i)
{
	unsigned long own = cases_sum % 10;

	entries[i].value = &own;
	strcpy(entries[i].name, "in use");
	look_up("in use");
	entries[i].name[0] = '\0';
}
static void run_named(void)
{
	for (int i = 0; i < 20; i++) {
		use_entry(0);
		use_entry(1);
	}
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {
		{"cleared", run_cleared}, {"printed", run_printed},
		{"jumped", run_jumped},	  {"handed", run_handed},
		{"viewed", run_viewed},	  {"leftover", run_leftover},
		{"named", run_named},	  {NULL, NULL}};

	return run_case(cases, argc, argv);
}
