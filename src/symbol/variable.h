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

/* A thread whose stack or thread-local variables the address may be in. Unknown fields are 0. */
struct symbol_thread {
	pid_t tid;
	uint64_t fs_base;
	uint64_t stack_pointer;
	const struct symbol_stack_frame *frames; /* unwound, innermost first; or NULL */
	size_t frame_count;
};

/* Strings belong to the session; NULL: unknown. */
struct symbol_variable {
	enum symbol_variable_kind kind;
	const char *name;     /* of the variable or symbol */
	uint64_t address;     /* where it starts; of an unnamed one: of its mapping */
	uint64_t size;	      /* 0: unknown */
	uint64_t offset;      /* of the address asked for from its start */
	const char *path;     /* "server.stat.conns[3].state": the innermost member there */
	const char *type;     /* of that member, in C syntax */
	uint64_t path_offset; /* of the address asked for from that member's start */
	const char *file;     /* where it is declared */
	unsigned line;
	const char *module, *build_id;
	uint64_t module_offset; /* the file's own address; of a TLS variable: in its block */
	pid_t tid;		/* of a stack or TLS variable: whose */
	const char *function;	/* of a stack variable: whose frame, by debug information */
	size_t frame;		/* of a stack variable: index in that thread's frames */
	bool typed;		/* from debug information; the facts below are then known */
	bool is_atomic, is_volatile, is_scalar;
};

/* What is at [address, address + size). Always fills *variable (kind at least). */
void symbol_variable_find(struct symbol_modules *modules, uint64_t address, uint64_t size,
			  const struct symbol_thread *threads, size_t thread_count,
			  struct symbol_variable *variable);

#endif
