/* SPDX-License-Identifier: Apache-2.0 */
/* Errors in a library, and between the program and a library: one a case. */
#include <dlfcn.h>
#include "mistakes.h"

void *library_make(size_t size);
void library_drop(void *block);
void library_set(char *block, size_t at);

static NOINLINE void write_past(void)
{
	char *block = library_make(21);

	library_set(hidden(block), 22);
	library_drop(block);
}

static NOINLINE char look(const char *block)
{
	return *(volatile const char *)(block + 70);
}

static NOINLINE void read_dropped(void)
{
	char *block = library_make(144);

	library_drop(hidden(block));
	look(hidden(block));
}

/* The library has gone by the time of the error. */
static void read_of_closed_library(void)
{
	void *zlib = dlopen("libz.so.1", RTLD_NOW);
	void *(*make)(size_t) = library_make;
	char *block = make(88);

	if (zlib)
		dlclose(zlib);
	library_drop(hidden(block));
	look(hidden(block));
}

static const struct test_case cases[] = {
	{"write_past", write_past},
	{"read_dropped", read_dropped},
	{"read_of_closed_library", read_of_closed_library},
};

CASES_MAIN(cases)
