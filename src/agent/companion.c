/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A controller for a program that `trapline` did not start: `trapline race --area 3`, a process of
 * its own beside this one, which opens its events on us as it would on a child. Nothing of it is
 * here: no thread, no memory, no descriptor, no library.
 *
 *	program -> intermediate (new session, ends at once) -> companion
 *
 * The intermediate has no exit signal, so its end is told to nobody, and only __WALL finds it. The
 * companion then belongs to the system. Where the program itself inherits orphans (process 1 of a
 * container, a subreaper) the intermediate stays, asleep, until the companion has ended.
 */
#include "agent/state.h"

#include "base/syscall.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <trapline/race.h>
#include <unistd.h>

#define COMMAND "trapline"
#define START_BOUND 10000000000ull /* ns until the companion has opened its events */
#define AREA_FD 3		   /* in the companion */
#define OPTIONS "TRAPLINE_OPTIONS="

/* Where the command is as seen from this library: installed, of a multiarch system, built. */
static const char *const places[] = {"/../bin/" COMMAND, "/../../bin/" COMMAND, "/../../" COMMAND};

struct beginning {
	char command[PATH_MAX];
	char *const *environment;
	struct area *area;
	int area_fd;
};

/* Our own absolute path: what programs executed later are to preload. */
static bool find_library(void)
{
	size_t length = 0;
	Dl_info own;

	if (!dladdr((void *)(uintptr_t)agent_start_companion, &own) || !own.dli_fname)
		return false;
	if (own.dli_fname[0] != '/') {
		long count = raw_syscall3(SYS_getcwd, (long)agent_state.library,
					  sizeof(agent_state.library), 0);

		if (count <= 0)
			return false;
		length = (size_t)count;
		agent_state.library[length - 1] = '/';
	}
	if (length + strlen(own.dli_fname) >= sizeof(agent_state.library))
		return false;
	strcpy(agent_state.library + length, own.dli_fname);
	return true;
}

static bool find_command(char command[PATH_MAX])
{
	size_t folder;

	if (!find_library())
		return false;
	folder = (size_t)(strrchr(agent_state.library, '/') - agent_state.library);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (folder + strlen(places[i]) >= PATH_MAX)
			continue;
		memcpy(command, agent_state.library, folder);
		strcpy(command + folder, places[i]);
		if (raw_syscall3(SYS_faccessat, AT_FDCWD, (long)command, X_OK) == 0)
			return true;
	}
	return false;
}

static bool is_variable(const char *text, const char *name)
{
	return strncmp(text, name, strlen(name)) == 0;
}

/* The program's, without what preloads and with the options given; `to` has room for one more. */
static void fill_environment(char **to, char *options)
{
	size_t count = 0;

	for (char **at = environ; at && *at; at++)
		if (!is_variable(*at, "LD_PRELOAD=") && !(options && is_variable(*at, OPTIONS)))
			to[count++] = *at;
	if (options)
		to[count++] = options;
	to[count] = NULL;
}

static void give_up(struct area *area)
{
	area_close(area);
	raw_syscall3(SYS_exit_group, 127, 0, 0);
}

static void use_null(int fd, int flags)
{
	long null = raw_syscall6(SYS_openat, AT_FDCWD, (long)"/dev/null", flags, 0, 0, 0);

	if (null >= 0 && null != fd) {
		raw_syscall3(SYS_dup3, null, fd, 0);
		raw_close((int)null);
	}
}

/* Of the program's descriptors it keeps standard error, for what it finds. */
static void become_companion(const struct beginning *beginning)
{
	char *arguments[] = {(char *)COMMAND, (char *)"race", (char *)"--area", (char *)"3", NULL};
	uint64_t none = 0;

	use_null(0, O_RDONLY);
	use_null(1, O_WRONLY);
	if (raw_fcntl(2, F_GETFD, 0) < 0)
		use_null(2, O_WRONLY);
	if (beginning->area_fd == AREA_FD)
		raw_fcntl(AREA_FD, F_SETFD, 0);
	else
		raw_syscall3(SYS_dup3, beginning->area_fd, AREA_FD, 0);
	raw_syscall3(SYS_close_range, AREA_FD + 1, ~0u, 0);
	raw_sigprocmask(SIG_SETMASK, &none, NULL);
	raw_syscall3(SYS_execve, (long)beginning->command, (long)arguments,
		     (long)beginning->environment);
	give_up(beginning->area);
}

static bool inherits_orphans(void)
{
	int subreaper = 0;

	raw_syscall6(SYS_prctl, PR_GET_CHILD_SUBREAPER, (long)&subreaper, 0, 0, 0, 0);
	return subreaper || raw_getpid() == 1;
}

/* A raw fork(2): libc's would run the program's atfork handlers. */
static long fork_with(int exit_signal)
{
	return raw_syscall6(SYS_clone, exit_signal, 0, 0, 0, 0, 0);
}

static void run_intermediate(const struct beginning *beginning, bool stay)
{
	long companion;

	raw_syscall3(SYS_setsid, 0, 0, 0);
	companion = fork_with(SIGCHLD);
	if (companion == 0)
		become_companion(beginning);
	if (companion < 0)
		give_up(beginning->area);
	__atomic_store_n(&beginning->area->controller, (pid_t)companion, __ATOMIC_RELAXED);
	if (stay) {
		raw_syscall3(SYS_close_range, 0, ~0u, 0);
		raw_syscall6(SYS_wait4, companion, 0, __WALL, 0, 0, 0);
	}
	raw_syscall3(SYS_exit_group, 0, 0, 0);
}

/* With every signal blocked, since the program's handlers must not run in the intermediate. */
static int start(const struct beginning *beginning)
{
	bool stay = inherits_orphans();
	uint64_t all = ~0ull, before;
	long pid;

	raw_sigprocmask(SIG_SETMASK, &all, &before);
	pid = fork_with(0);
	if (pid == 0)
		run_intermediate(beginning, stay);
	if (pid > 0 && !stay)
		raw_syscall6(SYS_wait4, pid, 0, __WALL, 0, 0, 0);
	raw_sigprocmask(SIG_SETMASK, &before, NULL);
	return pid < 0 ? (int)pid : 0;
}

/* Where Yama restricts ptrace(2), on which reading memory depends, to descendants. */
static void permit(pid_t companion)
{
	raw_syscall6(SYS_prctl, PR_SET_PTRACER, companion, 0, 0, 0, 0);
}

static int outcome(const struct area *area)
{
	const struct area_process *process = agent_state.process;
	uint32_t state = process ? atomic_load(&process->state) : AREA_PROCESS_FREE;

	if (state == AREA_PROCESS_WATCHED)
		return 0;
	if (state == AREA_PROCESS_LEFT)
		return -EACCES;
	return agent_has_gone(area) ? -ECHILD : -ETIMEDOUT;
}

static int attach(struct beginning *beginning)
{
	struct area *area = beginning->area;
	int err;

	area->root = raw_getpid();
	area->announce_bound = START_BOUND;
	err = start(beginning);
	if (!err)
		err = agent_attach(area);
	if (!err)
		err = outcome(area);
	if (!err) {
		permit(area->controller);
		area_locator(area, area->controller, agent_state.locator);
		return 0;
	}
	area_close(area);
	agent_state.process = NULL;
	return err;
}

/* The program's options, then those of whoever runs it, who has the last word. */
static void join_options(char *variable, const char *options, const char *given)
{
	strcpy(variable, OPTIONS);
	strcat(variable, options);
	strcat(variable, " ");
	strcat(variable, given);
}

int agent_start_companion(const char *options)
{
	struct beginning beginning;
	const char *given = "";
	char *variable = NULL;
	size_t count = 0;
	int err;

	if (!find_command(beginning.command))
		return -ENOENT;
	for (char **at = environ; at && *at; at++, count++)
		if (is_variable(*at, OPTIONS))
			given = *at + sizeof(OPTIONS) - 1;
	if (options) {
		variable = alloca(sizeof(OPTIONS) + strlen(options) + 1 + strlen(given));
		join_options(variable, options, given);
	}
	beginning.environment = alloca((count + 2) * sizeof(char *));
	fill_environment((char **)beginning.environment, variable);
	err = area_create(&beginning.area, &beginning.area_fd);
	if (err)
		return err;
	err = attach(&beginning);
	raw_close(beginning.area_fd);
	return err;
}

TL_API int tl_race_start(const char *options)
{
	if (agent_state.process)
		return -EALREADY;
	return agent_start_companion(options ? options : "");
}

TL_API int tl_race_stop(void)
{
	if (!agent_state.process)
		return -ESRCH;
	agent_withdraw();
	return 0;
}
