/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/program.h"

#include "base/file.h"
#include "base/first_library.h"
#include "base/syscall.h"
#include "cli/command.h"
#include "cli/golang.h"
#include "program/abandon.h"
#include "program/ending.h"
#include "program/own_limits.h"
#include "program/preload.h"
#include "event/lethal.h"
#include "record/utf8.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PRELOAD_NAME "libtrapline-agent.so"
#define LISTEN_VARIABLE "TRAPLINE_PATCH_LISTEN" /* src/patch/listen.c */
#define MESSAGES_BUFFER (256 << 10)
#define LINKER "ld-linux"  /* of glibc, and what follows */
#define INTERPRETERS_MAX 4 /* as the kernel follows #! lines */

char *program_path(const char *name)
{
	const char *path = getenv("PATH");
	char candidate[PATH_MAX], *copy, *directory, *rest;

	if (strchr(name, '/'))
		return strdup(name);
	copy = strdup(path ? path : "/bin:/usr/bin");
	for (directory = strtok_r(copy, ":", &rest); directory;
	     directory = strtok_r(NULL, ":", &rest)) {
		snprintf(candidate, sizeof(candidate), "%s/%s", directory, name);
		if (access(candidate, X_OK) == 0) {
			free(copy);
			return strdup(candidate);
		}
	}
	free(copy);
	return NULL;
}

static char *reason(const char *path, const char *why)
{
	char *text;

	return asprintf(&text, "%s %s, so no library can be loaded into it", path, why) < 0 ? NULL
											    : text;
}

/* Why the dynamic linker that a program names cannot load our library (allocated): glibc's can,
 * ours fails in others. NULL: it can. */
static char *examine_linker(const char *path, int fd, const Elf64_Phdr *header)
{
	char linker[256] = "";
	size_t length = header->p_filesz < sizeof(linker) ? header->p_filesz : sizeof(linker) - 1;
	const char *name;

	if (pread(fd, linker, length, (off_t)header->p_offset) != (ssize_t)length)
		return NULL;
	name = strrchr(linker, '/');
	name = name ? name + 1 : linker;
	if (strncmp(name, LINKER, sizeof(LINKER) - 1) == 0)
		return NULL;
	return reason(path, "is for another C library than glibc");
}

/* 1: the file names an interpreter, in `path`; 0: it names none; -EIO: that cannot be read. */
static int find_interpreter(int fd, const Elf64_Ehdr *header, Elf64_Phdr *found)
{
	for (unsigned i = 0; i < header->e_phnum; i++) {
		if (pread(fd, found, sizeof(*found),
			  (off_t)(header->e_phoff + i * sizeof(*found))) != sizeof(*found))
			return -EIO;
		if (found->p_type == PT_INTERP)
			return 1;
	}
	return 0;
}

static bool is_first_library_preloaded(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	return preloaded && first_library_is_named(preloaded);
}

/* Why no library can be loaded into the file (allocated); *entry: when it is entered instead. */
static char *examine_elf(const char *path, int fd, const Elf64_Ehdr *header, enum enter_when *entry)
{
	Elf64_Phdr interpreter;
	struct stat status;
	char *why = NULL;
	int named;

	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64)
		return reason(path, "is not a 64-bit x86 program");
	if (fstat(fd, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) &&
	    (status.st_uid != geteuid() || status.st_gid != getegid()))
		return reason(path, "is set-user-ID or set-group-ID");
	if (geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return reason(path, "has file capabilities");
	named = find_interpreter(fd, header, &interpreter);
	if (!named)
		why = reason(path, "is statically linked");
	else if (named > 0)
		why = examine_linker(path, fd, &interpreter);
	if (!why && (first_library_is_needed(fd) || is_first_library_preloaded()))
		why = reason(path, "has a sanitizer's runtime, which must be the first library");
	if (why)
		/* Go's runtime sets the actions of all signals as it begins, by system calls of its
		 * own, so the process is entered after that. */
		*entry = golang_is_elf(fd, header) ? ENTER_LATE : ENTER_FIRST;
	return why;
}

/* Copies the interpreter that a script's first line names into `next`. False: it names none. */
static bool script_interpreter(const char *text, char next[PATH_MAX])
{
	size_t start, length;

	if (text[0] != '#' || text[1] != '!')
		return false;
	start = 2 + strspn(text + 2, " \t");
	length = strcspn(text + start, " \t\n");
	if (!length || length >= PATH_MAX)
		return false;
	memcpy(next, text + start, length);
	next[length] = '\0';
	return true;
}

char *program_lethal_filter(void)
{
	const char *call = lethal_call();
	char *text;

	return call && asprintf(&text,
				"a seccomp filter here kills whoever calls %s(2): allow it in the "
				"container's or service's profile",
				call) >= 0
		       ? text
		       : NULL;
}

/* Why no library, or not ours, can be loaded into a program, following scripts to their
 * interpreters. */
static char *examine(const char *name, enum enter_when *entry)
{
	char path[PATH_MAX], head[512], *why = NULL;
	char *found = program_path(name);

	if (!found || strlen(found) >= sizeof(path)) {
		free(found);
		return NULL;
	}
	strcpy(path, found);
	free(found);
	for (int depth = 0; depth < INTERPRETERS_MAX; depth++) {
		int fd = file_open(path);
		ssize_t length = fd < 0 ? -1 : pread(fd, head, sizeof(head) - 1, 0);
		bool script;

		head[length > 0 ? length : 0] = '\0';
		script = length > 0 && script_interpreter(head, path);
		if (length >= (ssize_t)sizeof(Elf64_Ehdr) && memcmp(head, ELFMAG, SELFMAG) == 0)
			why = examine_elf(path, fd, (const Elf64_Ehdr *)head, entry);
		if (fd >= 0)
			close(fd);
		if (!script)
			break;
	}
	return why;
}

char *program_cannot_be_watched(const char *name)
{
	char *why = program_lethal_filter();
	enum enter_when entry = ENTER_NONE;

	if (why)
		return why;
	if (access("/proc/self/fd", F_OK))
		return strdup("/proc is not mounted here, without which no program can be watched");
	if (!own_limits_allow_descriptors())
		return strdup("this process may have too few files open to watch any");
	why = examine(name, &entry);
	if (!entry)
		return why;
	free(why);
	return NULL;
}

enum enter_when program_entry(const char *name)
{
	enum enter_when entry = ENTER_NONE;

	free(examine(name, &entry));
	return entry;
}

char *program_takes_no_library(const char *name)
{
	enum enter_when entry = ENTER_NONE;

	return examine(name, &entry);
}

/* Finds what the kernel must start besides the file: a script's interpreter or the dynamic
 * linker. */
static bool find_helper(const char *path, char helper[PATH_MAX])
{
	char head[512] = "";
	int fd = file_open(path);
	ssize_t length = fd < 0 ? -1 : pread(fd, head, sizeof(head) - 1, 0);
	Elf64_Phdr header;
	bool found = length > 0 && script_interpreter(head, helper);

	if (length >= (ssize_t)sizeof(Elf64_Ehdr) && memcmp(head, ELFMAG, SELFMAG) == 0 &&
	    head[EI_CLASS] == ELFCLASS64 &&
	    find_interpreter(fd, (const Elf64_Ehdr *)head, &header) > 0 &&
	    header.p_filesz < PATH_MAX) {
		length = pread(fd, helper, header.p_filesz, (off_t)header.p_offset);
		helper[length > 0 ? length : 0] = '\0';
		found = length > 0;
	}
	if (fd >= 0)
		close(fd);
	return found;
}

/* execve(2) says of a file that exists that it does not, if its helper is missing: names the helper
 * then. */
static bool tell_missing_helper(const char *name)
{
	char *path = program_path(name), helper[PATH_MAX] = "";
	bool missing = path && access(path, F_OK) == 0 && find_helper(path, helper) &&
		       access(helper, F_OK) != 0;

	if (missing)
		utf8_fprintf(stderr,
			     "trapline: %s cannot be run: it needs %s, which is not there\n", path,
			     helper);
	free(path);
	return missing;
}

int program_cannot_run(const char *name, int err)
{
	struct stat status;

	if (err == -ENOENT && tell_missing_helper(name))
		return STATUS_CANNOT_RUN;
	utf8_fprintf(stderr, "trapline: %s cannot be run: %s\n", name,
		     err == -EACCES && stat(name, &status) == 0 && S_ISDIR(status.st_mode)
			     ? "it is a directory"
			     : strerror(-err));
	return err == -ENOENT ? STATUS_NOT_FOUND : STATUS_CANNOT_RUN;
}

int program_not_watched(char **argv, int err)
{
	utf8_fprintf(stderr, "trapline: cannot start: %s%s\n", strerror(-err),
		     argv ? "; running it bare" : "");
	return argv ? program_run_bare(argv) : STATUS_FAILED;
}

int program_run_bare(char **argv)
{
	own_limits_inherit();
	execvp(argv[0], argv);
	return program_cannot_run(argv[0], -errno);
}

/* Looks for the library beside this command and where it was installed. */
static const char *find_library(const char *name)
{
	static char path[PATH_MAX];
	static const char *const folders[] = {"", "/../lib", "/../lib/x86_64-linux-gnu",
					      "/src/agent", "/src/guard"};
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length < 0)
		return name;
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%.*s%s/%s", PATH_MAX - 64, self, folders[i], name);
		if (access(path, R_OK) == 0)
			return path;
	}
	return name;
}

const char *program_library(const char *name)
{
	const char *library = find_library(name);
	const char *path = preload_path(library);

	if (path)
		return path;
	utf8_fprintf(
		stderr,
		"trapline: LD_PRELOAD cannot name %s, for the blank, colon or $ in it: move it to "
		"another folder\n",
		library);
	return library;
}

const char *program_preload_library(enum program_library library)
{
	static const char *const names[] = {
		[PROGRAM_LIBRARY_PLAIN] = PRELOAD_NAME,
		[PROGRAM_LIBRARY_HEAP] = "libtrapline-agent-heap.so",
		[PROGRAM_LIBRARY_REGIONS] = "libtrapline-agent-region.so",
		[PROGRAM_LIBRARY_GUARD] = "libtrapline-agent-guard.so",
	};

	return program_library(names[library]);
}

static struct preload preload; /* our LD_PRELOAD before program_ask_to_listen() */

bool program_ask_to_listen(void)
{
	if (preload_put(&preload, program_library("libtrapline.so.0")))
		return false;
	if (!setenv(LISTEN_VARIABLE, "1", 1))
		return true;
	preload_restore(&preload);
	return false;
}

void program_ask_no_more(void)
{
	unsetenv(LISTEN_VARIABLE);
	preload_restore(&preload);
}

pid_t program_spawn(struct control *control, char **program, enum program_library library,
		    bool patchable)
{
	enum enter_when entry = program_entry(program[0]);
	pid_t pid;

	if (entry)
		return control_spawn_entered(control, program, entry);
	if (patchable && !program_ask_to_listen())
		return -ENOMEM;
	pid = control_spawn(control, program, program_preload_library(library));
	if (patchable)
		program_ask_no_more();
	return pid;
}

/* The process that signals are passed to. The terminal's signals reach it by themselves, and this
 * process ignores them until it has ended; other signals that are sent to us are meant for it. */
static pid_t program_pid;
/* its pidfd: once it has been waited for, its id may be another process's */
static int program_fd = -1;

static void send_to_program(int signal)
{
	if (program_fd >= 0)
		raw_syscall6(SYS_pidfd_send_signal, program_fd, signal, 0, 0, 0, 0);
	else
		kill(program_pid, signal);
}

static void forward(int signal, siginfo_t *info, void *context)
{
	(void)context;
	/* Signals that the kernel itself sends go to every process of the terminal already. */
	if (program_pid > 0 && info->si_code <= 0)
		send_to_program(signal);
	if (signal == SIGTERM || signal == SIGHUP)
		abandon_when_stuck();
}

void program_forward_signals(pid_t pid)
{
	static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
	struct sigaction action = {.sa_sigaction = forward, .sa_flags = SA_RESTART | SA_SIGINFO};

	program_pid = pid;
	program_fd = (int)raw_syscall3(SYS_pidfd_open, pid, 0, 0);
	for (unsigned i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
}

static int ended_with; /* the program's wait status */

int program_exit_status(int status)
{
	ended_with = status;
	return ending_code(status);
}

void program_end_alike(int code)
{
	if (WIFEXITED(ended_with) || code != ending_code(ended_with))
		return;
	fflush(NULL);
	ending_by_signal_of(ended_with);
}

FILE *program_messages(void)
{
	static FILE *messages;

	if (messages)
		return messages;
	messages = fdopen(STDERR_FILENO, "w");
	if (messages)
		setvbuf(messages, NULL, _IOFBF, MESSAGES_BUFFER);
	else
		messages = stderr;
	return messages;
}

void program_print_count(void *context, const char *name, uint64_t value, const char *meaning)
{
	(void)context;
	fprintf(stderr, "%12llu  %-24s %s\n", (unsigned long long)value, name, meaning);
}
