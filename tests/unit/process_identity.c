/* SPDX-License-Identifier: Apache-2.0 */
/* Which process maps our area is told by whole lines of /proc/PID/maps, whatever files are named.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "process/identity.h"

#define NAME_AT 73    /* column of a file's name in the kernel's lines */
#define PIECE 4399    /* bytes that are read of one line at most */
#define NAME_MOST 255 /* bytes of one folder's name, … */
#define WIDEST 1000u  /* … and columns that one takes here */

static void area_that_is_mapped_is_found(void **state)
{
	int area = memfd_create("trapline", MFD_CLOEXEC);
	void *mapped;

	(void)state;
	assert_true(area >= 0 && ftruncate(area, 4096) == 0);
	assert_false(process_maps(area, getpid()));
	mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, area, 0);
	assert_true(mapped != MAP_FAILED);
	assert_true(process_maps(area, getpid()));
	munmap(mapped, 4096);
	close(area);
}

static void enter(const char *name)
{
	assert_int_equal(mkdir(name, 0700), 0);
	assert_int_equal(chdir(name), 0);
}

/* Folders until the next one's name begins at that column. A newline takes four in these lines. */
static void enter_until(size_t column, size_t wanted)
{
	char name[NAME_MOST + 1];

	while (column < wanted) {
		size_t left = wanted - column - 1, length = left < WIDEST ? left : WIDEST;

		memset(name, '\n', length / 4);
		memset(name + length / 4, 'x', length % 4);
		name[length / 4 + length % 4] = '\0';
		enter(name);
		column += length + 1;
	}
}

static void leave(const char *folder)
{
	char command[100];

	assert_int_equal(chdir("/"), 0);
	snprintf(command, sizeof(command), "rm -r '%s'", folder);
	assert_int_equal(system(command), 0);
}

/* Where the line is cut, its name goes on as a line of an area would. */
static void name_of_a_file_is_no_line(void **state)
{
	char folder[] = "/tmp/identity-XXXXXX", forged[100];
	int area = memfd_create("trapline", MFD_CLOEXEC), file;
	struct stat status;
	void *mapped;

	(void)state;
	assert_true(area >= 0 && ftruncate(area, 4096) == 0 && fstat(area, &status) == 0);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chdir(folder), 0);
	enter_until(NAME_AT + strlen(folder) + 1, PIECE);
	snprintf(forged, sizeof(forged), "x x x %02x:%02x %lu ", major(status.st_dev),
		 minor(status.st_dev), (unsigned long)status.st_ino);
	enter(forged);
	file = open("memfd:trapline", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(file >= 0 && ftruncate(file, 4096) == 0);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	assert_true(mapped != MAP_FAILED);
	assert_false(process_maps(area, getpid()));
	munmap(mapped, 4096);
	close(file);
	close(area);
	leave(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(area_that_is_mapped_is_found),
		cmocka_unit_test(name_of_a_file_is_no_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
