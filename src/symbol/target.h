/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an expression means in a process: an address, a chain of pointers to follow, or places in
 * the code. The chain is kept as a small program, to be evaluated again when a pointer changes.
 */
#ifndef SYMBOL_TARGET_H
#define SYMBOL_TARGET_H

#include "module/module.h"
#include "symbol/expression.h"

#define SYMBOL_TARGET_LINKS 24
#define SYMBOL_TARGET_CODE 64

enum symbol_target_kind {
	SYMBOL_TARGET_DATA,
	SYMBOL_TARGET_CODE_PLACES, /* execution of any of code[] */
	SYMBOL_TARGET_HEAP_BLOCKS, /* blocks of block_size bytes allocated from [code[0], code_end)
				    */
};

struct symbol_target {
	enum symbol_target_kind kind;
	/* where the chain begins; of a thread-local variable: its offset in the module's block */
	uint64_t start;
	bool tls;
	/* the module that has the symbol; NULL for a bare address */
	const struct symbol_module *module;
	/* address = start + offset[0]; for each further link: address = *address + offset[i]. */
	int64_t offset[SYMBOL_TARGET_LINKS + 1];
	unsigned link_count; /* pointers to follow */
	uint64_t length;     /* bytes */
	unsigned access;     /* SYMBOL_ACCESS_…, never 0 */
	uint64_t code[SYMBOL_TARGET_CODE];
	unsigned code_count;
	uint64_t code_end;
	uint64_t block_size;
	unsigned line;	  /* of a line that has no code: the line that was taken in its place */
	const char *name; /* of the symbol; owned by the session */
	const char *type; /* type of what is watched, in C syntax; NULL: unknown */
	/* what the type says of its values; both false if it is unknown */
	bool is_signed, is_pointer;
};

/*
 * 0; -EAGAIN: the name or module is not loaded (yet), with near names in `error`; -ENOENT: its
 * module is loaded and has no such name, member or line; -EINVAL: it makes no sense (an index into
 * a number, a member without debug information).
 */
int symbol_target_resolve(struct symbol_modules *modules,
			  const struct symbol_expression *expression, struct symbol_target *target,
			  char error[SYMBOL_ERROR_MAX]);

/*
 * Finds the address that the target means now. `fs_base`: the thread's, for thread-local variables.
 * pointers[] (may be NULL) receives the addresses of the target->link_count pointers that were
 * followed. 0; -EFAULT: a pointer of the chain is NULL or leads nowhere; -ENOENT: the thread does
 * not have that thread-local variable yet.
 */
int symbol_target_evaluate(struct symbol_modules *modules, const struct symbol_target *target,
			   const struct symbol_memory *memory, uint64_t fs_base, uint64_t *address,
			   uint64_t pointers[SYMBOL_TARGET_LINKS]);

#endif
