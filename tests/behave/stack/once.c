/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that live for milliseconds and write beyond an array once, in a function that nobody
 * names to the tool: see cases.h. The functions before it have arrays, too, and are right.
 */
#include "cases.h"

#include <alloca.h>
#include <stdint.h>

static char source[512];
static volatile int sizes[] = {8, 24, 64, 96, 160};

APART static void fill(char *to, int count)
{
	for (int i = 0; i < count; i++) {
		to[i] = source[i];
		__asm__ volatile("" : : : "memory");
	}
}

APART static void right_small(void)
{
	char buffer[16];

	fill(buffer, sizes[0]);
	cases_sum += (unsigned long)buffer[cases_sum % 8];
}

APART static void right_large(void)
{
	char buffer[128];

	fill(buffer, sizes[2]);
	cases_sum += (unsigned long)buffer[cases_sum % 8];
}

/* Not called: what lies ahead in the code need not be what comes. */
APART static void right_never(void)
{
	char buffer[64];

	fill(buffer, sizes[1]);
	cases_sum += (unsigned long)buffer[cases_sum % 8];
}

/* ------------------------------------------------------------------------------------------- */

APART static void victim_plain(void)
{
	char buffer[32];

	fill(buffer, sizes[3]);
	cases_sum += (unsigned long)buffer[cases_sum % 16];
}

APART static void overrun_deeper(char *to)
{
	right_small();
	memcpy(to, source, (size_t)sizes[3]);
}

/* The array is handed to a function that has frames of its own to be looked at meanwhile. */
APART static void victim_passed(void)
{
	char buffer[32];

	right_large();
	overrun_deeper(buffer);
	cases_sum += (unsigned long)buffer[cases_sum % 16];
}

APART static void victim_alloca(void)
{
	char *buffer = alloca((size_t)sizes[1]);

	HIDE(buffer);
	memset(buffer, 0, (size_t)sizes[4]);
	cases_sum += (unsigned long)buffer[cases_sum % 16];
}

APART static void victim_pointed(void)
{
	char buffer[40];

	fill(buffer, sizes[4]);
	cases_sum += (unsigned long)buffer[cases_sum % 16];
}

static void (*volatile pointed)(void) = victim_pointed;

static void run_plain(void)
{
	right_large();
	if (cases_sum == 1)
		right_never();
	right_small();
	victim_plain();
}

static void run_passed(void)
{
	right_large();
	victim_passed();
}

static void run_alloca(void)
{
	right_small();
	victim_alloca();
}

static void run_pointed(void)
{
	right_small();
	pointed();
}

/* Reports what does not happen; more of them are named first than there are slots. */
APART static void right_error(int number)
{
	char buffer[64];

	fill(buffer, sizes[number % 2]);
	cases_sum += (unsigned long)buffer[cases_sum % 8];
}

APART static void right_fatal(const char *text)
{
	char buffer[200];

	strcpy(buffer, text);
	right_error((int)strlen(buffer));
	exit(2);
}

APART static char *prepared(const char *name)
{
	char *copy = strdup(name);

	if (!copy) {
		right_fatal("no memory");
		right_error(1);
	}
	if (strcmp(copy, "none") == 0)
		right_error(0);
	return copy;
}

/* What comes depends on what the C library returns. */
static void run_branched(void)
{
	char *copy = prepared("some");

	if (strchr(copy, 'x')) {
		right_error(1);
		right_never();
	}
	free(copy);
	if (cases_sum == 3)
		right_fatal("three");
	victim_plain();
}

/* A name is looked for, among more than a branch is waited for. */
static void run_sought(void)
{
	static const char *const names[] = {"add",    "bisect", "clone", "diff",  "fetch", "grep",
					    "init",   "log",	"merge", "move",  "pull",  "push",
					    "rebase", "reset",	"show",	 "status"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], "show") == 0)
			victim_plain();
}

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {{"plain", run_plain},
						{"passed", run_passed},
						{"alloca", run_alloca},
						{"pointed", run_pointed},
						{"branched", run_branched},
						{"sought", run_sought},
						{NULL, NULL}};

	memset(source, 'x', sizeof(source));
	return run_case(cases, argc, argv);
}
