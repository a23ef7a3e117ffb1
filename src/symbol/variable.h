/* SPDX-License-Identifier: Apache-2.0 */
/* From a data address to the variable there: global, thread-local, on a stack, or on the heap. */
#ifndef SYMBOL_VARIABLE_H
#define SYMBOL_VARIABLE_H

#include "module/module.h"
#include "symbol/stack.h"

enum symbol_variable_kind {
	SYMBOL_VARIABLE_GLOBAL,
	SYMBOL_VARIABLE_TLS,
	SYMBOL_VARIABLE_STACK,
	SYMBOL_VARIABLE_HEAP,
	SYMBOL_VARIABLE_OTHER, /* shared memory, mapped files, memory unmapped meanwhile */
};

/* A thread whose stack or thread-local variables the address may lie in. Fields that are not known
 * are 0. */
struct symbol_thread {
	pid_t tid;
	uint64_t fs_base;
	uint64_t stack_pointer;
	const struct symbol_stack_frame *frames; /* unwound, innermost first; or NULL */
	size_t frame_count;
};

/* What is at an address of data. Strings belong to the session; NULL: unknown. */
struct symbol_variable {
	enum symbol_variable_kind kind;
	const char *name; /* of the variable or symbol */
	/* where the variable starts; without a name: where its mapping does */
	uint64_t address;
	uint64_t size;	      /* 0: unknown */
	uint64_t offset;      /* distance of the address asked for from that start */
	const char *path;     /* "server.stat.conns[3].state": the innermost member there */
	const char *type;     /* of that member, in C syntax */
	uint64_t path_offset; /* distance of the address asked for from the start of that member */
	const char *file;     /* where it is declared */
	unsigned line;
	const char *module, *build_id;
	/* the file's own address; of a thread-local variable: its offset in the block */
	uint64_t module_offset;
	pid_t tid;	      /* whose stack or thread-local variable it is */
	const char *function; /* whose frame a stack variable is in, by debug information */
	size_t frame;	      /* which of that thread's frames a stack variable is in */
	bool typed;	      /* debug information was there, so the facts below are known */
	bool is_atomic, is_volatile, is_scalar;
};

/* Says what is at [address, address + size). *variable is always filled in, its kind at least. */
void symbol_variable_find(struct symbol_modules *modules, uint64_t address, uint64_t size,
			  const struct symbol_thread *threads, size_t thread_count,
			  struct symbol_variable *variable);

#endif
