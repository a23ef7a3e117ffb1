/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks between the program and a library that is loaded with RTLD_DEEPBIND, which prefers libc's
 * functions to those of the program and its preloaded libraries, as PHP loads its extensions.
 */
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include "mistakes.h"

void *library_make(size_t size);

static struct {
	void *(*make)(size_t);
	void *(*resize)(void *, size_t);
	void (*drop)(void *);
} deep;

/* The library that this program is linked with, once more: of another file, so that it is. */
static void load(void)
{
	char path[64];
	struct stat status;
	Dl_info info;
	void *handle;
	int from, copy = memfd_create("deep", MFD_CLOEXEC);

	require(dladdr((void *)library_make, &info) != 0, "the library's file");
	from = open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	require(from >= 0 && copy >= 0 && fstat(from, &status) == 0, "two files");
	require(sendfile(copy, from, NULL, (size_t)status.st_size) == status.st_size, "a copy");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", copy);
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
	require(handle != NULL, "the copy loaded");
	deep.make = (void *(*)(size_t))dlsym(handle, "library_make");
	deep.resize = (void *(*)(void *, size_t))dlsym(handle, "library_resize");
	deep.drop = (void (*)(void *))dlsym(handle, "library_drop");
	require(deep.make && deep.make != library_make && deep.resize && deep.drop,
		"its functions");
	close(from);
	close(copy);
}

static void across(void)
{
	load();
	for (size_t size = 8; size < 3000; size += 8) {
		char *ours = checked(malloc(hidden(size))), *theirs = deep.make(size);

		memset(ours, 1, size);
		memset(theirs, 2, size);
		ours = deep.resize(ours, size + 100);
		require(ours[0] == 1 && ours[size - 1] == 1, "what was written");
		theirs = checked(realloc(theirs, size + 100));
		require(theirs[0] == 2 && theirs[size - 1] == 2, "what was written");
		deep.drop(ours);
		free(theirs);
		deep.drop(checked(calloc(1, size)));
	}
}

static const struct test_case cases[] = {
	{"across", across},
};

CASES_MAIN(cases)
