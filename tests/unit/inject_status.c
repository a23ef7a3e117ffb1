/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc tells of a process that makes its lines long. */
#include "inject/status.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Begins like a line of /proc/PID/maps, of a mapping that there is not. */
#define MADE_UP "1000-2000 r-xp 0 0:0 1 "
#define MADE_UP_LENGTH (sizeof(MADE_UP) - 1)
#define GROUPS 2000

static char top[64], long_path[PATH_MAX];

static void descend(const char *name)
{
	assert_int_equal(mkdir(name, 0700), 0);
	assert_int_equal(chdir(name), 0);
}

static void fill(char *name, const char *text)
{
	size_t length = strlen(text);

	name[0] = '\0';
	for (size_t used = 0; used + length <= 240; used += length)
		memcpy(name + used, text, length + 1);
}

/* Each newline is four bytes in /proc/PID/maps. */
static void make_long_path(void)
{
	char name[256];

	assert_int_equal(chdir(top), 0);
	descend("0");
	fill(name, "\n");
	for (int i = 0; i < 4; i++)
		descend(name);
	fill(name, MADE_UP);
	for (int i = 0; i < 4; i++)
		descend(name);
	assert_non_null(getcwd(long_path, sizeof(long_path)));
}

static int is_made_up(void *context, const struct mapping *mapping)
{
	(void)context;
	return mapping->start == 0x1000;
}

/* The name is moved by a byte at a time, so that it is cut everywhere. */
static void names_are_no_mappings(void **state)
{
	char from[96], to[96], pad[MADE_UP_LENGTH + 2] = "0";
	int file;
	void *mapped;

	(void)state;
	snprintf(top, sizeof(top), "/tmp/inject-status-XXXXXX");
	assert_non_null(mkdtemp(top));
	make_long_path();
	file = open("mapped", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	assert_int_equal(ftruncate(file, 4096), 0);
	mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0);
	assert_ptr_not_equal(mapped, MAP_FAILED);
	for (size_t i = 0; i < MADE_UP_LENGTH; i++) {
		assert_int_equal(mappings_read(getpid(), is_made_up, NULL), 0);
		snprintf(from, sizeof(from), "%s/%s", top, pad);
		strcat(pad, "0");
		snprintf(to, sizeof(to), "%s/%s", top, pad);
		assert_int_equal(rename(from, to), 0);
	}
	munmap(mapped, 4096);
	close(file);
	assert_int_equal(unlink("mapped"), 0);
}

static int remove_tree(void **state)
{
	char name[PATH_MAX];

	(void)state;
	while (getcwd(name, sizeof(name)) && strncmp(name, top, strlen(top)) == 0 &&
	       strcmp(name, top) != 0 && !chdir("..") && !rmdir(name))
		;
	assert_int_equal(chdir("/"), 0);
	return rmdir(top);
}

static void confine_with_groups(int told)
{
	struct sock_filter pass = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = {.len = 1, .filter = &pass};
	static gid_t groups[GROUPS];

	for (size_t i = 0; i < GROUPS; i++)
		groups[i] = (gid_t)(1000000000 + i);
	if (setgroups(GROUPS, groups) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) || write(told, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static void filters_are_seen_behind_groups(void **state)
{
	int told[2], mode = -1, filters = -1;
	struct status status;
	ssize_t ready;
	char byte;
	pid_t pid;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(pipe(told), 0);
	pid = fork();
	if (!pid)
		confine_with_groups(told[1]);
	close(told[1]);
	ready = read(told[0], &byte, 1);
	close(told[0]);
	assert_int_equal(ready, 1);
	assert_true(status_seccomp(pid, &mode, &filters));
	assert_false(status_may_call(pid));
	assert_int_equal(status_read(pid, &status), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(mode, SECCOMP_MODE_FILTER);
	assert_true(filters >= 1);
	assert_int_equal(status.seccomp, mode);
	assert_int_equal(status.filters, filters);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(names_are_no_mappings, remove_tree),
		cmocka_unit_test(filters_are_seen_behind_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
