/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: from an address of a process to the file whose bytes are there.
 *
 * The list is kept by the process that asks, which alone opens files (module/module_file.h) and
 * looks at processes; a reader of files has a copy of it (reader/mirror.h) and the same functions.
 * One thread at a time, that of the session. Paths and inodes are what the kernel says; what an ELF
 * header in memory says is hostile, and a file is taken for the module's only if its build-id is
 * the same.
 *
 * This file: the modules of one address space: which file's bytes are where. Read from a live
 * process, or put together from recorded data. What was learnt is kept after the process or the
 * module is gone.
 */
#ifndef MODULE_MODULE_H
#define MODULE_MODULE_H

#include "memory/mapping.h"
#include "memory/memory.h"
#include "session/build_id.h"
#include "session/session.h"

#include <sys/types.h>

struct symbol_object;

struct symbol_module {
	const char *path; /* as the process names it; "[vdso]" for the kernel's */
	uint64_t start, end;
	uint64_t bias; /* address in the process = address in the file + bias, modulo 2^64 */
	struct symbol_build_id build_id;
	const char *build_id_text; /* hexadecimal; the empty string for none */
	bool deleted;		   /* the file was unlinked or replaced */
	bool gone;		   /* it was unloaded since */
	/* For the rooms that read files alone. */
	uint64_t id; /* in the session */
	uint64_t inode;
	bool tried, recorded;
	bool bad;	 /* a reader died of the file: it is not read again */
	bool main, held; /* in the reader: it is the program itself; its asker has it open */
	int fd;		 /* held when the path will not lead to the file; -1 otherwise */
	struct symbol_object *object;
};

struct symbol_modules;

/* The modules of process `pid`, read now. 0 or -errno (-ESRCH: gone; -EACCES: not permitted). */
int symbol_modules_of_process(struct symbol_session *session, pid_t pid,
			      struct symbol_modules **modules);

/* No modules yet: symbol_modules_add() says what was where. Needs no process. */
int symbol_modules_recorded(struct symbol_session *session, struct symbol_modules **modules);

/* What a record of a module holds. The file is looked for at `path`, then by build-id in the debug
 * directories, then by debuginfod; with a build-id, a file of another build is never used. */
struct symbol_module_record {
	const char *path;
	struct symbol_build_id build_id;
	uint64_t start, end, bias;
};
int symbol_modules_add(struct symbol_modules *modules, const struct symbol_module_record *record);

/* Read the process's map again. 1 if anything changed, 0 if not, or -errno (nothing is lost). */
int symbol_modules_refresh(struct symbol_modules *modules);

/* Has `pause` ns passed since the map was read, and long enough that reading takes no more than a
 * twentieth of the time? A map of a hundred thousand lines takes tens of milliseconds. */
bool symbol_modules_may_refresh(const struct symbol_modules *modules, uint64_t pause);

/* Of the list: another whenever that has changed. */
uint64_t symbol_modules_version(const struct symbol_modules *modules);

/* The module at `address`, or NULL. Reads the map again when there is none, at most every 100 ms
 * and as symbol_modules_may_refresh() says. */
const struct symbol_module *symbol_modules_find(struct symbol_modules *modules, uint64_t address);

/* All of them, loaded ones first by address: NULL past the end. Stable until the next refresh. */
const struct symbol_module *symbol_modules_at(const struct symbol_modules *modules, size_t index);
/* The memory map as last read; empty for recorded modules. */
const struct symbol_mappings *symbol_modules_mappings(const struct symbol_modules *modules);
/* The mapping at `address`, as last read; its path is not to be kept. */
bool symbol_modules_mapping(const struct symbol_modules *modules, uint64_t address,
			    struct symbol_mapping *mapping);
/* The process's memory while it lives; no memory for recorded modules. */
const struct symbol_memory *symbol_modules_memory(const struct symbol_modules *modules);
/* 0 for recorded modules. */
pid_t symbol_modules_pid(const struct symbol_modules *modules);
/* Whether it is the program itself (by the kernel's auxiliary vector). */
bool symbol_modules_is_main(const struct symbol_modules *modules,
			    const struct symbol_module *module);
struct symbol_session *symbol_modules_session(const struct symbol_modules *modules);
/* Its file, opened at first use; NULL when it cannot be had. For the rooms that
 * read files alone. */
struct symbol_object *symbol_module_object(struct symbol_modules *modules,
					   const struct symbol_module *module);
void symbol_modules_close(struct symbol_modules *modules);

/* Close files that no module has any more: symbol_objects_trim(). */
void symbol_modules_trim(struct symbol_session *session);

#endif
