/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following the programs that this one executes: the exec and spawn functions of libc, with our two
 * variables put into the environment of the new image, where its own copy of this library takes
 * them out again. Raw system calls that execute are not followed.
 *
 * The new image inherits whether SIGTRAP is ignored and blocked, which is kept here and not in the
 * kernel (src/trap/ownership.h, mask.c): during the call the kernel knows.
 *
 * Everything here may run in a vfork()ed child, which borrows its parent's memory: arrays live on
 * the stack (as in libc's own execl()), nothing is allocated and no state changes.
 */
#include "agent/execute.h"

#include "agent/arguments.h"
#include "agent/enter.h"
#include "agent/extension.h"
#include "trap/ownership.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <trapline/event.h>
#include <unistd.h>

/* libc's own, resolved once before the program runs. */
static struct {
	int (*execve)(const char *, char *const[], char *const[]);
	int (*execvpe)(const char *, char *const[], char *const[]);
	int (*fexecve)(int, char *const[], char *const[]);
	int (*execveat)(int, const char *, char *const[], char *const[], int);
	int (*posix_spawn)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			   const posix_spawnattr_t *, char *const[], char *const[]);
	int (*posix_spawnp)(pid_t *, const char *, const posix_spawn_file_actions_t *,
			    const posix_spawnattr_t *, char *const[], char *const[]);
} libc;

#define RESOLVE(function) libc.function = (__typeof__(libc.function))dlsym(RTLD_NEXT, #function)

static void resolve(void)
{
	if (libc.execve)
		return;
	RESOLVE(execvpe);
	RESOLVE(fexecve);
	RESOLVE(execveat);
	RESOLVE(posix_spawn);
	RESOLVE(posix_spawnp);
	RESOLVE(execve);
}

__attribute__((constructor)) static void resolve_early(void)
{
	resolve();
}

struct exposure {
	bool mask;
	uint64_t before;
};

static struct exposure expose(void)
{
	struct exposure exposure = {.mask = mask_is_blocked()};

	signal_expose(SIGTRAP, true);
	/* Afterwards: setting SIG_IGN would discard what is released here. */
	if (exposure.mask)
		mask_open(&exposure.before);
	return exposure;
}

static void conceal(const struct exposure *exposure)
{
	if (exposure->mask)
		mask_close(exposure->before);
	signal_expose(SIGTRAP, false);
}

TL_API int execve(const char *path, char *const argv[], char *const environment[])
{
	struct agent_arguments given = {.path = path, .argv = argv};
	struct exposure exposure;
	int result;

	resolve();
	AGENT_EXTEND(environment, agent_can_enter(AT_FDCWD, path));
	given.environment = extended;
	agent_arguments_copy(&given);
	exposure = expose();
	result = libc.execve(given.path, given.argv, given.environment);
	conceal(&exposure);
	agent_arguments_free(&given);
	return result;
}

TL_API int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

TL_API int execvpe(const char *file, char *const argv[], char *const environment[])
{
	struct agent_arguments given = {.path = file, .argv = argv};
	struct exposure exposure;
	int result;

	resolve();
	AGENT_EXTEND(environment, agent_can_enter_file(file));
	given.environment = extended;
	agent_arguments_copy(&given);
	exposure = expose();
	result = libc.execvpe(given.path, given.argv, given.environment);
	conceal(&exposure);
	agent_arguments_free(&given);
	return result;
}

TL_API int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

TL_API int fexecve(int fd, char *const argv[], char *const environment[])
{
	struct agent_arguments given = {.path = "", .argv = argv};
	struct exposure exposure;
	int result;

	resolve();
	AGENT_EXTEND(environment, agent_can_enter(fd, ""));
	given.environment = extended;
	agent_arguments_copy(&given);
	exposure = expose();
	result = libc.fexecve(fd, given.argv, given.environment);
	conceal(&exposure);
	agent_arguments_free(&given);
	return result;
}

TL_API int execveat(int directory, const char *path, char *const argv[], char *const environment[],
		    int flags)
{
	struct agent_arguments given = {.path = path, .argv = argv};
	struct exposure exposure;
	int result;

	resolve();
	AGENT_EXTEND(environment, agent_can_enter(directory, path));
	if (!libc.execveat) {
		errno = ENOSYS;
		return -1;
	}
	given.environment = extended;
	agent_arguments_copy(&given);
	exposure = expose();
	result = libc.execveat(directory, given.path, given.argv, given.environment, flags);
	conceal(&exposure);
	agent_arguments_free(&given);
	return result;
}

/* The arguments of an execl function, `first` being argv[0], as an array on the stack. */
#define COLLECT(first)                                      \
	va_list list;                                       \
	size_t count = 1;                                   \
	va_start(list, first);                              \
	while (va_arg(list, char *))                        \
		count++;                                    \
	va_end(list);                                       \
	char **argv = alloca((count + 1) * sizeof(char *)); \
	argv[0] = (char *)(first);                          \
	va_start(list, first);                              \
	for (size_t i = 1; i <= count; i++)                 \
		argv[i] = va_arg(list, char *);

TL_API int execl(const char *path, const char *first, ...)
{
	COLLECT(first);
	va_end(list);
	return execve(path, argv, environ);
}

TL_API int execlp(const char *file, const char *first, ...)
{
	COLLECT(first);
	va_end(list);
	return execvpe(file, argv, environ);
}

TL_API int execle(const char *path, const char *first, ...)
{
	char *const *environment;

	COLLECT(first);
	environment = va_arg(list, char *const *);
	va_end(list);
	return execve(path, argv, environment);
}

int agent_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	struct exposure exposure;
	int err;

	resolve();
	AGENT_EXTEND(environment, agent_can_enter(AT_FDCWD, path));
	exposure = expose();
	err = libc.posix_spawn(pid, path, actions, attributes, argv, extended);
	conceal(&exposure);
	return err;
}

TL_API int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[],
		       char *const environment[])
{
	return agent_spawn(pid, path, actions, attributes, argv, environment);
}

TL_API int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[],
			char *const environment[])
{
	struct exposure exposure;
	int err;

	resolve();
	AGENT_EXTEND(environment, agent_can_enter_file(file));
	exposure = expose();
	err = libc.posix_spawnp(pid, file, actions, attributes, argv, extended);
	conceal(&exposure);
	return err;
}
