/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With gdb attached that passes SIGTRAP on (handle SIGTRAP nostop noprint pass), hits and the
 * program's own int3 arrive as without it, and gdb's own breakpoints and watchpoint still work.
 */
#include "check.h"

#include <sys/prctl.h>

static volatile long watched;
static volatile long watched_by_gdb;
static volatile int own_traps;
static volatile int attached;

static void own_handler(int signal)
{
	(void)signal;
	own_traps++;
}

__attribute__((noinline)) void place_for_gdb(void)
{
	__asm__ volatile("");
}

static void debug(pid_t pid, int output)
{
	char target[16];

	snprintf(target, sizeof(target), "%d", pid);
	dup2(output, 1);
	dup2(output, 2);
	execlp("gdb", "gdb", "-q", "-nx", "-batch", "-ex", "set debuginfod enabled off", "-ex",
	       "handle SIGTRAP nostop noprint pass", "-ex", "break place_for_gdb", "-ex",
	       "set var attached = 1", "-ex", "continue", "-ex", "delete", "-ex",
	       "watch -l watched_by_gdb", "-ex", "continue", "-ex", "detach", "-p", target, NULL);
	_exit(127);
}

static void read_all(int from, char *text, size_t size)
{
	size_t length = 0;
	ssize_t got;

	while (length + 1 < size && (got = read(from, text + length, size - 1 - length)) > 0)
		length += (size_t)got;
	text[length] = '\0';
}

static void be_debugged(void)
{
	long hits_before = 0;
	volatile long hits = 0;
	tl_event *event;

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	signal(SIGTRAP, own_handler);
	event = check_open(&watched, 8, TL_WRITE, TL_PROCESS, check_count_hit, (void *)&hits);
	for (int wait = 0; wait < 3000 && !attached; wait++)
		usleep(10000);
	CHECK(attached, "gdb did not attach");
	for (int i = 0; i < 100; i++) {
		watched = i;
		__asm__ volatile("int3");
	}
	CHECK_EQUAL(hits, 100);
	CHECK_EQUAL(own_traps, 100);
	place_for_gdb();
	hits_before = hits;
	watched = 1;
	watched_by_gdb = 1;
	watched = 2;
	CHECK_EQUAL(hits, hits_before + 2);
	CHECK_OK(tl_event_close(event));
	_exit(0);
}

int main(void)
{
	int output[2], status;
	char text[8192];
	pid_t child, gdb;

	check_hardware();
	if (system("gdb --version >/dev/null 2>&1"))
		check_skip("gdb is not installed");
	CHECK_OK(pipe(output));
	child = fork();
	if (!child)
		be_debugged();
	gdb = fork();
	if (!gdb)
		debug(child, output[1]);
	close(output[1]);
	read_all(output[0], text, sizeof(text));
	waitpid(gdb, &status, 0);
	CHECK_EQUAL(waitpid(child, &status, 0), child);
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		CHECK(0, "status %#x; gdb said:\n%s", status, text);
	CHECK(strstr(text, "Breakpoint 1") && strstr(text, "New value = 1"), "gdb said:\n%s", text);
	return 0;
}
