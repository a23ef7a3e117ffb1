/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Following the programs that this one executes: the exec and spawn functions of libc, with our two
 * variables put into the environment of the new image, where its own copy of this library takes
 * them out again. Raw system calls that execute are not followed.
 *
 * The new image inherits whether SIGTRAP is ignored and blocked, which is kept here and not in the
 * kernel (src/signal/ownership.h, mask/mask.c): during the call the kernel knows.
 *
 * Everything here may run in a vfork()ed child, which borrows its parent's memory, on a stack of a
 * few pages: small arrays live on the stack (as in libc's own execl()), larger ones in pages of
 * their own (scratch.h), and no state of the parent's changes.
 */
#include "execution/execute.h"

#include "agent/permitted.h"
#include "agent/state.h"
#include "contact/announce.h"
#include "execution/arguments.h"
#include "execution/enter.h"
#include "execution/extension.h"
#include "execution/room.h"
#include "mask/mask.h"
#include "signal/ownership.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/syscall.h>
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
	int (*pidfd_spawn)(int *, const char *, const posix_spawn_file_actions_t *,
			   const posix_spawnattr_t *, char *const[], char *const[]);
	int (*pidfd_spawnp)(int *, const char *, const posix_spawn_file_actions_t *,
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
	RESOLVE(pidfd_spawn);
	RESOLVE(pidfd_spawnp);
	RESOLVE(execve);
}

__attribute__((constructor)) static void resolve_early(void)
{
	resolve();
}

struct exposure {
	bool opened;
	struct mask_opening mask;
};

static struct exposure expose(void)
{
	struct exposure exposure = {.opened = mask_is_blocked()};

	signal_expose(SIGTRAP, true);
	/* Afterwards: setting SIG_IGN would discard what is released here. */
	if (exposure.opened) {
		mask_open(&exposure.mask);
		mask_release_kept();
	}
	return exposure;
}

static void conceal(const struct exposure *exposure)
{
	if (exposure->opened)
		mask_close(&exposure->mask);
	signal_expose(SIGTRAP, false);
}

/* ------------------------------------------------------------------------------------------- */
/* One call */

struct execution {
	struct agent_arguments given;
	struct agent_extension extension;
	struct exposure exposure;
	bool unentered;
	bool taken_back; /* it was not watched yet: its entry is not this program's any more */
};

/* Counted before, since what succeeds does not return. */
static void count_unentered(struct execution *execution)
{
	execution->unentered = true;
	atomic_fetch_add(&agent_state.area->unentered, 1);
}

/* The controller says so. */
static void tell_unreadable(void)
{
	atomic_fetch_add(&agent_state.area->unreadable, 1);
	area_ring(agent_state.area);
}

/* `file`: how execveat(2) names it; with SEARCH how execvp(3) does. */
#define SEARCH (-1000)

static void extend(struct execution *execution, int directory, const char *file)
{
	struct agent_extension *extension = &execution->extension;
	enum agent_entry entry;

	extension->extended = false;
	extension->memory = NULL;
	execution->unentered = false;
	if (!agent_state.area)
		return;
	/* By the last one it looks at its area, and we at its file. */
	if (!permitted_to_begin() || !permitted(SYS_newfstatat)) {
		count_unentered(execution);
		return;
	}
	if (!agent_can_follow())
		return;
	if (!room_is_enough()) {
		count_unentered(execution);
		return;
	}
	entry = directory == SEARCH ? agent_can_enter_file(file) : agent_can_enter(directory, file);
	if (entry == AGENT_ENTRY_UNREADABLE)
		tell_unreadable();
	else if (entry == AGENT_ENTRY_NONE ||
		 !agent_extend(extension, execution->given.environment))
		count_unentered(execution);
	else
		execution->given.environment = extension->environment;
}

static void begin(struct execution *execution, int directory, const char *file, char *const argv[],
		  char *const environment[])
{
	resolve();
	execution->given = (struct agent_arguments){file, argv, environment, NULL, 0};
	extend(execution, directory, file);
}

/* What has failed begins anew, with calls that a filter may forbid; and that one is set it would
 * have forgotten. Else its entry is found by the controller, as that of any image that was
 * replaced. */
static bool may_begin_again(void)
{
	const struct area_process *process = agent_state.process;

	return process && !atomic_load(&process->quiet) && permitted_to_begin();
}

/* Of one that replaces this program: what the kernel reads is out of reach of watchpoints. */
static void begin_replacing(struct execution *execution, int directory, const char *file,
			    char *const argv[], char *const environment[])
{
	begin(execution, directory, file, argv, environment);
	execution->taken_back = may_begin_again() && agent_take_back();
	agent_arguments_copy(&execution->given);
	execution->exposure = expose();
}

/* It has failed with `err`: true when it may go as it is, the program's environment alone having
 * room where ours has none. */
static bool can_go_unextended(struct execution *execution, int err, char *const environment[])
{
	if (err != E2BIG || !execution->extension.extended)
		return false;
	agent_arguments_free(&execution->given);
	agent_extension_end(&execution->extension);
	execution->extension.extended = false;
	execution->given.memory = NULL;
	execution->given.environment = environment;
	count_unentered(execution);
	return true;
}

/* It has failed, so nothing was executed. */
static int end_replacing(struct execution *execution)
{
	conceal(&execution->exposure);
	agent_arguments_free(&execution->given);
	agent_extension_end(&execution->extension);
	if (execution->unentered)
		atomic_fetch_sub(&agent_state.area->unentered, 1);
	if (execution->taken_back)
		agent_announce();
	return -1;
}

/* ------------------------------------------------------------------------------------------- */
/* exec */

/* `execute`: execve(2) or execvpe(3). */
static int replace(int (*execute)(const char *, char *const[], char *const[]), int directory,
		   const char *file, char *const argv[], char *const environment[])
{
	struct execution execution;

	begin_replacing(&execution, directory, file, argv, environment);
	execute(execution.given.path, execution.given.argv, execution.given.environment);
	if (can_go_unextended(&execution, errno, environment))
		execute(file, argv, environment);
	return end_replacing(&execution);
}

TL_API int execve(const char *path, char *const argv[], char *const environment[])
{
	resolve();
	return replace(libc.execve, AT_FDCWD, path, argv, environment);
}

TL_API int execv(const char *path, char *const argv[])
{
	return execve(path, argv, environ);
}

TL_API int execvpe(const char *file, char *const argv[], char *const environment[])
{
	resolve();
	return replace(libc.execvpe, SEARCH, file, argv, environment);
}

TL_API int execvp(const char *file, char *const argv[])
{
	return execvpe(file, argv, environ);
}

TL_API int fexecve(int fd, char *const argv[], char *const environment[])
{
	struct execution execution;

	resolve();
	/* libc refuses it before it asks the kernel. */
	if (!environment)
		return libc.fexecve(fd, argv, environment);
	begin_replacing(&execution, fd, "", argv, environment);
	libc.fexecve(fd, execution.given.argv, execution.given.environment);
	if (can_go_unextended(&execution, errno, environment))
		libc.fexecve(fd, argv, environment);
	return end_replacing(&execution);
}

TL_API int execveat(int directory, const char *path, char *const argv[], char *const environment[],
		    int flags)
{
	struct execution execution;

	resolve();
	if (!libc.execveat) {
		errno = ENOSYS;
		return -1;
	}
	begin_replacing(&execution, directory, path, argv, environment);
	libc.execveat(directory, execution.given.path, execution.given.argv,
		      execution.given.environment, flags);
	if (can_go_unextended(&execution, errno, environment))
		libc.execveat(directory, path, argv, environment, flags);
	return end_replacing(&execution);
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

/* ------------------------------------------------------------------------------------------- */
/* spawn */

typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
		     const posix_spawnattr_t *, char *const[], char *const[]);

static int spawn(spawn_fn *function, int directory, pid_t *pid, const char *file,
		 const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const argv[], char *const environment[])
{
	struct execution execution;
	int err;

	begin(&execution, directory, file, argv, environment);
	execution.exposure = expose();
	err = function(pid, file, actions, attributes, argv, execution.given.environment);
	if (can_go_unextended(&execution, err, environment))
		err = function(pid, file, actions, attributes, argv, environment);
	conceal(&execution.exposure);
	agent_extension_end(&execution.extension);
	if (err && execution.unentered)
		atomic_fetch_sub(&agent_state.area->unentered, 1);
	return err;
}

int agent_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	resolve();
	return spawn(libc.posix_spawn, AT_FDCWD, pid, path, actions, attributes, argv, environment);
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
	resolve();
	return spawn(libc.posix_spawnp, SEARCH, pid, file, actions, attributes, argv, environment);
}

/* Since glibc 2.39, whose headers alone declare them: the first argument is a descriptor's. */
TL_API int pidfd_spawn(int *fd, const char *path, const posix_spawn_file_actions_t *actions,
		       const posix_spawnattr_t *attributes, char *const argv[],
		       char *const environment[]);
TL_API int pidfd_spawnp(int *fd, const char *file, const posix_spawn_file_actions_t *actions,
			const posix_spawnattr_t *attributes, char *const argv[],
			char *const environment[]);

int pidfd_spawn(int *fd, const char *path, const posix_spawn_file_actions_t *actions,
		const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	resolve();
	if (!libc.pidfd_spawn)
		return ENOSYS;
	return spawn(libc.pidfd_spawn, AT_FDCWD, fd, path, actions, attributes, argv, environment);
}

int pidfd_spawnp(int *fd, const char *file, const posix_spawn_file_actions_t *actions,
		 const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
	resolve();
	if (!libc.pidfd_spawnp)
		return ENOSYS;
	return spawn(libc.pidfd_spawnp, SEARCH, fd, file, actions, attributes, argv, environment);
}
