/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that is executed gets our variables only where the dynamic linker will load the library
 * that takes them out again. Where it will not, they would show: in set-user-ID programs and those
 * with file capabilities, which see TRAPLINE_AREA; in static ones, those of another architecture or
 * of another C library, which see both, and may complain of LD_PRELOAD. Some let no library be
 * loaded before one of their own (base/first_library.h). So the file is read first,
 * and each interpreter that its first line names.
 *
 * Accepted: the file may be another by the time it is executed, and a security module may raise
 * privilege by rules that cannot be read here.
 *
 * Other threads must not find a descriptor taken that nobody opened, and locks of the process's on
 * the file go when any descriptor of it is closed (fcntl(2), F_SETLK): the reading is done by one
 * more thread, which has a table of descriptors of its own. No child does it: it would be the first
 * process of a namespace that the program has just made for its children (unshare(CLONE_NEWPID)),
 * which ends with it, and others would find it by wait(__WALL). There the kernel makes no thread
 * either (copy_process()): a program without others reads by itself then, and one with others goes
 * without us.
 */
#include "execution/enter.h"

#include "agent/arch.h"
#include "execution/image.h"
#include "agent/readable.h"
#include "agent/state.h"
#include "base/first_library.h"
#include "base/memory.h"
#include "base/own_path.h"
#include "base/syscall.h"
#include "signal/borrower.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/stat.h>

#define SHELL "/bin/sh"
#define LINKER "ld-linux" /* and what follows: glibc's dynamic linker, by its file's name */
#define HEAD 256	  /* bytes of a first line that the kernel looks at, BINPRM_BUF_SIZE */
#define INTERPRETERS_MAX 5
#define HEADERS_MAX 64
#define DYNAMIC_MAX 128
#define THREAD_STACK 16384
#define END_MOST 1000 /* looks whether the thread has ended */

struct file {
	int directory;
	const char *path;
	char next[HEAD]; /* the interpreter that `path` names */
	enum agent_entry entry;
};

/* ------------------------------------------------------------------------------------------- */
/* One file, open */

struct source {
	int fd;
	bool failed; /* to be read, or it is shorter than it says: nothing is remembered of it */
};

static bool read_at(struct source *source, void *to, size_t length, uint64_t offset)
{
	if (raw_syscall6(SYS_pread64, source->fd, (long)to, (long)length, (long)offset, 0, 0) !=
	    (long)length)
		source->failed = true;
	return !source->failed;
}

/* As the kernel judges (cap_bprm_creds_from_file()): then AT_SECURE is set. */
static bool raises_privilege(const struct stat *status)
{
	uid_t user = (uid_t)raw_syscall3(SYS_getuid, 0, 0, 0);
	uid_t becomes = status->st_mode & S_ISUID ? status->st_uid
						  : (uid_t)raw_syscall3(SYS_geteuid, 0, 0, 0);
	gid_t group = (gid_t)raw_syscall3(SYS_getgid, 0, 0, 0);
	const mode_t set_group = S_ISGID | S_IXGRP;
	gid_t group_becomes = (status->st_mode & set_group) == set_group
				      ? status->st_gid
				      : (gid_t)raw_syscall3(SYS_getegid, 0, 0, 0);

	return becomes != user || group_becomes != group;
}

/* How many bytes say which, or -errno. */
static long find_capabilities(int fd)
{
	return raw_syscall6(SYS_fgetxattr, fd, (long)"security.capability", 0, 0, 0, 0);
}

static bool has_none(long capabilities)
{
	return capabilities == 0 || capabilities == -ENODATA || capabilities == -EOPNOTSUPP;
}

static bool names_linker(struct source *source, const Elf64_Phdr *header)
{
	char path[HEAD];
	const char *name = path;
	size_t length = header->p_filesz < sizeof(path) ? header->p_filesz : sizeof(path) - 1;

	if (!read_at(source, path, length, header->p_offset))
		return false;
	path[length] = '\0';
	for (const char *at = path; *at; at++)
		if (*at == '/')
			name = at + 1;
	return strncmp(name, LINKER, sizeof(LINKER) - 1) == 0;
}

/* The dynamic linker itself, executed by name, has no interpreter and a name of its own. */
static bool is_linker(struct source *source, const Elf64_Phdr *header)
{
	Elf64_Dyn entry;

	for (unsigned i = 0; i < DYNAMIC_MAX && (i + 1) * sizeof(entry) <= header->p_filesz; i++) {
		if (!read_at(source, &entry, sizeof(entry), header->p_offset + i * sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return false;
		if (entry.d_tag == DT_SONAME)
			return true;
	}
	return false;
}

static bool is_loaded_by_linker(struct source *source, const Elf64_Ehdr *header)
{
	Elf64_Phdr program, dynamic = {0};

	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != agent_arch.machine)
		return false;
	for (unsigned i = 0; i < header->e_phnum && i < HEADERS_MAX; i++) {
		if (!read_at(source, &program, sizeof(program),
			     header->e_phoff + i * sizeof(program)))
			return false;
		if (program.p_type == PT_INTERP)
			return names_linker(source, &program);
		if (program.p_type == PT_DYNAMIC)
			dynamic = program;
	}
	return is_linker(source, &dynamic);
}

/* The interpreter of a first line, as the kernel reads it (fs/binfmt_script.c). */
static bool find_interpreter(const char head[HEAD], char next[HEAD])
{
	const char *at = head + 2;
	size_t length;

	while (*at == ' ' || *at == '\t')
		at++;
	length = strcspn(at, " \t\n");
	if (!length)
		return false;
	memmove(next, at, length);
	next[length] = '\0';
	return true;
}

/* An error that passes is not remembered. */
static void judge(struct file *file, const struct stat *status, long capabilities, bool loaded,
		  bool failed)
{
	if (has_none(capabilities) && !failed)
		image_note(status, loaded ? IMAGE_OPEN : IMAGE_CLOSED);
	/* Capabilities are no more than root has. */
	if (loaded && !raises_privilege(status) &&
	    !(capabilities > 0 && raw_syscall3(SYS_getuid, 0, 0, 0) != 0))
		file->entry = AGENT_ENTRY_OPEN;
}

/* True when it is known already. */
static bool recall(struct file *file)
{
	struct stat status;
	enum image_kind kind;

	if (raw_syscall6(SYS_newfstatat, file->directory, (long)file->path, (long)&status,
			 AT_EMPTY_PATH, 0, 0))
		return false;
	kind = image_recall(&status);
	if (kind == IMAGE_OPEN && !raises_privilege(&status))
		file->entry = AGENT_ENTRY_OPEN;
	return kind != IMAGE_UNKNOWN;
}

/* True when file->next is to be looked at in its stead. */
static bool examine(struct file *file, int fd)
{
	struct source source = {.fd = fd};
	char head[HEAD] = "";
	struct stat status;
	Elf64_Ehdr header;
	bool loaded;
	long length;

	if (raw_syscall3(SYS_fstat, fd, (long)&status, 0) || !S_ISREG(status.st_mode))
		return false;
	length = raw_syscall6(SYS_pread64, fd, (long)head, sizeof(head) - 1, 0, 0, 0);
	if (length <= 0)
		return false;
	if (head[0] == '#' && head[1] == '!')
		return find_interpreter(head, file->next);
	if (memcmp(head, ELFMAG, SELFMAG) != 0) {
		/* execvp() hands it to the shell. */
		strcpy(file->next, SHELL);
		return true;
	}
	memcpy(&header, head, sizeof(header));
	source.failed = length < (long)sizeof(header);
	loaded = is_loaded_by_linker(&source, &header) && !first_library_is_needed(fd);
	judge(file, &status, find_capabilities(fd), loaded, source.failed);
	return false;
}

/* ------------------------------------------------------------------------------------------- */
/* Files by name */

/* Never waits: what is no regular file is not read. */
static int open_at(int directory, const char *path)
{
	const long flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

	return (int)raw_syscall6(SYS_openat, directory, (long)path, flags, 0, 0, 0);
}

/* The kernel reads the path first: where it says that there is no such file, the path can be read
 * and may be empty. */
static int open_file(const struct file *file)
{
	char path[OWN_PATH_SIZE];
	int fd = open_at(file->directory, file->path);

	if (fd != -ENOENT || file->directory < 0 || *file->path)
		return fd;
	return open_at(AT_FDCWD, own_path(path, file->directory));
}

/* By its real user's rights: capabilities that are kept across setuid(2) are lost by execve(2). And
 * by opening it, which landlock(7) and security modules may forbid where access(2) knows nothing of
 * them: the dynamic linker would complain on the program's standard error. */
static bool can_read_library(void)
{
	int fd;

	if (raw_syscall3(SYS_faccessat, AT_FDCWD, (long)agent_state.library, R_OK))
		return false;
	fd = open_at(AT_FDCWD, agent_state.library);
	if (fd >= 0)
		raw_close(fd);
	/* All descriptors are taken, of which those that the execution closes are free then. */
	return fd >= 0 || fd == -EMFILE || fd == -ENFILE;
}

static void check_library(struct file *file)
{
	if (file->entry == AGENT_ENTRY_OPEN && !can_read_library())
		file->entry = AGENT_ENTRY_UNREADABLE;
}

static int look(void *argument)
{
	struct file *file = argument;
	bool more = true;

	for (int depth = 0; more && depth < INTERPRETERS_MAX && !recall(file); depth++) {
		int fd = open_file(file);

		if (fd < 0)
			break;
		more = examine(file, fd);
		raw_close(fd);
		file->directory = AT_FDCWD;
		file->path = file->next;
	}
	check_library(file);
	return 0;
}

/* Has another image set a filter, which may forbid threads? The controller tells once it watches.
 * Until then who has made threads may have them; one that has none reads by itself, which takes its
 * locks on that very file. */
static bool may_be_restricted(const struct area_process *process)
{
	return process && atomic_load(&process->state) == AREA_PROCESS_WATCHED
		       ? atomic_load(&process->quiet) != 0
		       : __libc_single_threaded != 0;
}

/* Who may have no thread of ours. */
static bool is_alone(void)
{
	return agent_state.quiet || borrower_is() || may_be_restricted(agent_state.process);
}

/* What it shares with a thread of libc's, but for the descriptors. src/process/restriction.c makes
 * one like it. */
#define LOOKS (CLONE_VM | CLONE_VFORK | CLONE_SIGHAND | CLONE_THREAD)

/* Waits until the kernel no longer counts the thread as the program's, since some calls fail in a
 * process of several threads. It has left the program's memory by the time that clone() returns;
 * the rest of its end takes microseconds. */
static void wait_for_end(int thread)
{
	for (int i = 0; i < END_MOST && raw_syscall3(SYS_tgkill, raw_getpid(), thread, 0) != -ESRCH;
	     i++)
		raw_syscall3(SYS_sched_yield, 0, 0, 0);
}

/* Handlers do not run in it. */
static void look_from_thread(struct file *file)
{
	static int (*libc_clone)(int (*)(void *), void *, int, void *, ...);
	uint64_t all = ~0ull, before;
	char *stack = page_allocate(THREAD_STACK);
	/* At its lowest bytes, for it inherits the watches and must meet none on the program's own
	 * stack: with its signals blocked that hit would be lost. */
	struct file *own = (struct file *)stack;
	int thread;

	if (!stack)
		return;
	if (!libc_clone)
		*(void **)&libc_clone = dlsym(RTLD_NEXT, "clone");
	raw_sigprocmask(SIG_SETMASK, &all, &before);
	*own = *file;
	thread = libc_clone(look, stack + THREAD_STACK, LOOKS, own);
	if (thread > 0)
		wait_for_end(thread);
	else if (__libc_single_threaded)
		look(own);
	file->entry = own->entry;
	raw_sigprocmask(SIG_SETMASK, &before, NULL);
	page_free(stack, THREAD_STACK);
}

/* Handlers of the program's, which would find one more descriptor, or leave it by a jump, do not
 * run. Ours does: a hit on this stack would be lost. */
static void look_by_itself(struct file *file, bool is_recalled)
{
	uint64_t blocked = ~(1ull << (SIGTRAP - 1)), before;

	raw_sigprocmask(SIG_BLOCK, &blocked, &before);
	if (is_recalled)
		check_library(file);
	else
		look(file);
	raw_sigprocmask(SIG_SETMASK, &before, NULL);
}

enum agent_entry agent_can_enter(int directory, const char *path)
{
	struct file file = {.directory = directory, .path = path};
	bool alone, is_recalled;

	if (!path)
		return AGENT_ENTRY_NONE;
	alone = is_alone();
	is_recalled = !alone && __libc_single_threaded && recall(&file);
	if (alone || is_recalled)
		look_by_itself(&file, is_recalled);
	else
		look_from_thread(&file);
	return file.entry;
}

static bool is_executable(const char *path)
{
	struct stat status;

	return raw_syscall6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&status, 0, 0, 0) == 0 &&
	       S_ISREG(status.st_mode) &&
	       raw_syscall3(SYS_faccessat, AT_FDCWD, (long)path, X_OK) == 0;
}

enum agent_entry agent_can_enter_file(const char *file)
{
	const char *folders = getenv("PATH"), *end;
	char path[PATH_MAX];
	size_t length;

	if (!file || !readable_length(file, sizeof(path), &length))
		return AGENT_ENTRY_NONE;
	if (length == sizeof(path) || strchr(file, '/'))
		return agent_can_enter(AT_FDCWD, file);
	for (folders = folders ? folders : "/bin:/usr/bin";; folders = end + 1) {
		length = strcspn(folders, ":");
		end = folders + length;
		if (length + 1 + strlen(file) < sizeof(path)) {
			memcpy(path, folders, length);
			if (length)
				path[length++] = '/';
			strcpy(path + length, file);
			if (is_executable(path))
				return agent_can_enter(AT_FDCWD, path);
		}
		if (!*end)
			return AGENT_ENTRY_NONE;
	}
}
