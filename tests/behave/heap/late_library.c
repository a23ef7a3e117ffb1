/* SPDX-License-Identifier: Apache-2.0 */
/* Errors in a library that is loaded late, at once, in a process that ends with them. */
#include <dlfcn.h>
#include "mistakes.h"

/* Beside the program, which finds libraries there. */
static void call(const char *name)
{
	char path[4096] = "";
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 16);
	void *library, (*function)(void) = NULL;

	require(length > 0, "the program has a name");
	memcpy(path + length, ".lib.so", sizeof(".lib.so"));
	library = dlopen(path, RTLD_NOW);
	require(library, path);
	*(void **)&function = dlsym(library, name);
	require(function, name);
	((void (*)(void))function)();
}

static void write_past(void)
{
	call("library_write_past");
}

static void read_dropped(void)
{
	call("library_read_dropped");
}

static const struct test_case cases[] = {
	{"write_past", write_past},
	{"read_dropped", read_dropped},
};

CASES_MAIN(cases)
