/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: one process as anybody outside may see it, by its id. What /proc tells of it and of its
 * threads, who it is and whether it may be meant, and (here) its memory. Nothing is kept of it but
 * what the caller holds, and nothing is done to it; what it tells may be anything.
 *
 * This file: a watched process's address space: memory, mappings, code.
 */
#ifndef PROCESS_SPACE_H
#define PROCESS_SPACE_H

#include "insn/insn.h"
#include "module/module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct space;

int space_open(struct space **space, struct symbol_session *session, pid_t pid);
void space_close(struct space *space);

/* The file that the process executes, as the kernel names it; NULL where that is not known. */
const char *space_program(const struct space *space);

/* Its modules, for names and stacks. */
struct symbol_modules *space_modules(struct space *space);

/* Bytes read, less at the end of what is mapped, or -errno. Never through the breakpoints. */
ssize_t space_read(struct space *space, uint64_t address, void *to, size_t length);

/* Pages that the program has a reason to leave empty (userfaultfd(2)): reading one would fill it,
 * and nobody would see who touches it next. Such reads fail with -EFAULT from here on. */
void space_guard_pages(struct space *space, uint64_t address, uint64_t length);

#define SPACE_PARTS 64
struct space_part {
	uint64_t address;
	void *to;
	size_t length;
};
/* Several places in one call, at most SPACE_PARTS. How many could be read, from the first on. */
unsigned space_gather(struct space *space, const struct space_part *part, unsigned count);

/* Code at `pc`, from a cache: bytes available, at most `length`. */
size_t space_code(struct space *space, uint64_t pc, uint8_t *to, size_t length);

/* Is `address` in memory that the program can write? Looks again, bounded, at what changed. */
bool space_writable(struct space *space, uint64_t address);

/* The mapping around `address`: [*start, *end). False when there is none. */
bool space_mapping(struct space *space, uint64_t address, uint64_t *start, uint64_t *end);

/* Is `address` in memory that a file has brought, by the mappings last seen: also of a process that
 * has ended? */
bool space_is_file(struct space *space, uint64_t address);

/*
 * Is `address` the own stack's of a thread whose stack pointer is `pointer`, as far as `most` bytes
 * above that? Of stacks that the kernel or a C library has made the rest of the mapping may be;
 * of others, which stand in the heap or among globals, what lies near alone.
 */
bool space_is_own_stack(struct space *space, uint64_t pointer, uint64_t address, uint64_t most);

/* Does memory that nobody can read end where the mapping around `address` begins, as C libraries
 * put it below each thread's stack? */
bool space_guarded(struct space *space, uint64_t address);

/* Reads now what the symbol tables of the program itself, of its C library and of ours tell, unless
 * they are so large that the program would wait in vain. */
void space_prepare(struct space *space);

/* For something that is to be said once: look again now if nothing is known at `address`, and if
 * that is not too dear (symbol_modules_may_refresh()). */
void space_learn(struct space *space, uint64_t address);
/* The same whatever is known: memory may be another's by now. */
void space_renew(struct space *space);

/* Bounds of the function around `pc`. 0 or -ENOENT. */
int space_function(struct space *space, uint64_t pc, uint64_t *start, uint64_t *end);

/* The same of the whole function, wherever its frame changes (symbol/bounds.h). */
int space_whole_function(struct space *space, uint64_t pc, uint64_t *start, uint64_t *end);

/* The name of the function around `pc`, by symbol tables; or NULL. */
const char *space_function_name(struct space *space, uint64_t pc);

/* Path of the file whose code is at `pc`; NULL when it is none. Valid until the next call. */
const char *space_module(struct space *space, uint64_t pc);

/* Is `pc` in the C library, the dynamic linker, the vDSO or our own library? */
bool space_is_libc(struct space *space, uint64_t pc);

/* May the C library's functions be in the program's own code, as they are in a static one? */
bool space_is_static(const struct space *space);

/* Some executable mapping outside the C library, the program's own half of the time. */
bool space_random_code(struct space *space, uint64_t random, uint64_t *start, uint64_t *end);

/* For insn_attribute(). */
struct insn_memory space_insn_memory(struct space *space);

#endif
