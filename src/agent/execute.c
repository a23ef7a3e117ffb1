/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following the programs that this one executes: the exec and spawn functions of libc, with our two
 * variables put into the environment of the new image, where its own copy of this library takes
 * them out again. Raw system calls that execute are not followed.
 *
 * Everything here may run in a vfork()ed child, which borrows its parent's memory: arrays live on
 * the stack (as in libc's own execl()), nothing is allocated and no state changes.
 */
#include "agent/arguments.h"
#include "agent/state.h"

#include "base/syscall.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>
#include <unistd.h>

#define PRELOAD "LD_PRELOAD="

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
	int (*system)(const char *);
	FILE *(*popen)(const char *, const char *);
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
	RESOLVE(system);
	RESOLVE(popen);
	RESOLVE(execve);
}

__attribute__((constructor)) static void resolve_early(void)
{
	resolve();
}

struct extension {
	size_t count;	      /* of the environment as given */
	size_t preload_place; /* index of its LD_PRELOAD, or count */
	size_t preload_size;  /* bytes for our LD_PRELOAD=… */
};

/* Is there a library to load where the new image will look for it (another user, chroot,
 * namespaces)? */
static bool can_follow(void)
{
	struct area *area = agent_state.area;

	if (!area || !agent_state.library[0] || area_is_closed(area) || !area->follow)
		return false;
	if (raw_syscall3(SYS_faccessat, AT_FDCWD, (long)agent_state.library, R_OK) == 0)
		return true;
	atomic_fetch_add(&area->unreadable, 1);
	area_ring(area);
	return false;
}

static struct extension measure(char *const environment[])
{
	struct extension extension = {0};

	while (environment && environment[extension.count])
		extension.count++;
	extension.preload_place = extension.count;
	for (size_t i = 0; i < extension.count; i++) {
		if (strncmp(environment[i], PRELOAD, sizeof(PRELOAD) - 1) == 0) {
			extension.preload_place = i;
			break;
		}
	}
	extension.preload_size = sizeof(PRELOAD) + strlen(agent_state.library) + 1;
	if (extension.preload_place < extension.count)
		extension.preload_size += strlen(environment[extension.preload_place]);
	return extension;
}

/* `to` has room for count + 3 pointers, `preload` for preload_size bytes. */
static void extend(char *const environment[], const struct extension *extension, char **to,
		   char *preload, char *locator)
{
	const char *user = NULL;

	for (size_t i = 0; i < extension->count; i++)
		to[i] = environment[i];
	if (extension->preload_place < extension->count)
		user = environment[extension->preload_place] + sizeof(PRELOAD) - 1;
	strcpy(preload, PRELOAD);
	strcat(preload, agent_state.library);
	if (user && *user) {
		strcat(preload, ":");
		strcat(preload, user);
	}
	to[extension->preload_place] = preload;
	to[extension->count + (user ? 0 : 1)] = locator;
	to[extension->count + (user ? 1 : 2)] = NULL;
	strcpy(locator, AREA_VARIABLE "=");
	agent_executed_locator(locator + sizeof(AREA_VARIABLE));
}

/* Declares `extended`: the environment to hand on, in the caller's own stack frame. */
#define EXTEND(environment)                                                               \
	char **extended = (char **)(environment);                                         \
	char locator[sizeof(AREA_VARIABLE) + AREA_LOCATOR];                               \
	resolve();                                                                        \
	if (can_follow()) {                                                               \
		struct extension extension = measure(environment);                        \
		extended = alloca((extension.count + 3) * sizeof(char *));                \
		extend(environment, &extension, extended, alloca(extension.preload_size), \
		       locator);                                                          \
	}

TL_API int execve(const char *path, char *const argv[], char *const environment[])
{
	struct agent_arguments given = {.path = path, .argv = argv};
	int result;

	EXTEND(environment);
	given.environment = extended;
	agent_arguments_copy(&given);
	result = libc.execve(given.path, given.argv, given.environment);
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
	int result;

	EXTEND(environment);
	given.environment = extended;
	agent_arguments_copy(&given);
	result = libc.execvpe(given.path, given.argv, given.environment);
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
	int result;

	EXTEND(environment);
	given.environment = extended;
	agent_arguments_copy(&given);
	result = libc.fexecve(fd, given.argv, given.environment);
	agent_arguments_free(&given);
	return result;
}

TL_API int execveat(int directory, const char *path, char *const argv[], char *const environment[],
		    int flags)
{
	struct agent_arguments given = {.path = path, .argv = argv};
	int result;

	EXTEND(environment);
	if (!libc.execveat) {
		errno = ENOSYS;
		return -1;
	}
	given.environment = extended;
	agent_arguments_copy(&given);
	result = libc.execveat(directory, given.path, given.argv, given.environment, flags);
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

TL_API int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[],
		       char *const environment[])
{
	EXTEND(environment);
	return libc.posix_spawn(pid, path, actions, attributes, argv, extended);
}

TL_API int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[],
			char *const environment[])
{
	EXTEND(environment);
	return libc.posix_spawnp(pid, file, actions, attributes, argv, extended);
}

/*
 * system() and popen() hand on `environ` inside libc, so it is exchanged during the call. Another
 * thread that reads the environment meanwhile finds what it looks for; one that changes it makes
 * libc copy the array, which is then left alone. Accepted: that copy shows our two variables.
 */
TL_API int system(const char *command)
{
	char **before = environ;
	int result;

	EXTEND(before);
	environ = extended;
	result = libc.system(command);
	if (environ == extended)
		environ = before;
	return result;
}

TL_API FILE *popen(const char *command, const char *mode)
{
	char **before = environ;
	FILE *result;

	EXTEND(before);
	environ = extended;
	result = libc.popen(command, mode);
	if (environ == extended)
		environ = before;
	return result;
}
