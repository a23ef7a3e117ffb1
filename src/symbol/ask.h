/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each public function that needs a file asks the reader of files first, by the function here that
 * has its name: true when the reader answered. Else there is none, and the caller does the work; or
 * it failed, and the caller does what can be done without files.
 */
#ifndef SYMBOL_ASK_H
#define SYMBOL_ASK_H

#include "symbol/atomicity.h"
#include "symbol/copies.h"
#include "symbol/lookup.h"
#include "symbol/place.h"
#include "symbol/stack.h"
#include "symbol/target.h"

bool symbol_ask_place(struct symbol_modules *modules, uint64_t pc, bool return_address,
		      struct symbol_frame *frames, size_t max, size_t *count);
/* `whole`: symbol_bounds_whole(), else symbol_bounds_find(). */
bool symbol_ask_bounds(struct symbol_modules *modules, bool whole, uint64_t pc, uint64_t *start,
		       uint64_t *end, int *result);
bool symbol_ask_bounds_name(struct symbol_modules *modules, uint64_t pc, const char **name);
bool symbol_ask_producer(struct symbol_modules *modules, uint64_t pc, const char **producer);
bool symbol_ask_atomicity(struct symbol_modules *modules, uint64_t pc,
			  const struct symbol_variable *variable, bool load, char *reason,
			  enum symbol_atomicity *answer);
bool symbol_ask_variable(struct symbol_modules *modules, uint64_t address, uint64_t size,
			 const struct symbol_thread *threads, size_t thread_count,
			 struct symbol_variable *variable);
bool symbol_ask_compilers(struct symbol_modules *modules, uint64_t pc, const char **text,
			  size_t *length);
bool symbol_ask_stack(struct symbol_modules *modules, const struct symbol_stack_source *source,
		      struct symbol_stack_frame *frames, size_t max, bool *complete, size_t *count);
bool symbol_ask_target(struct symbol_modules *modules, const struct symbol_expression *expression,
		       struct symbol_target *target, char *error, int *result);
bool symbol_ask_tls(struct symbol_modules *modules, const struct symbol_module *module,
		    uint64_t fs_base, uint64_t *start, int *result);
bool symbol_ask_lookup(struct symbol_modules *modules, const char *qualifier, const char *name,
		       struct symbol_found *found, char *error, int *result);
bool symbol_ask_copies(struct symbol_modules *modules, const struct symbol_module *module,
		       const char *name, struct symbol_copies *copies, int *result);
bool symbol_ask_source_line(struct symbol_session *session, const char *path, unsigned number,
			    char *text, size_t size, int *result);

/* The modules are closed. */
void symbol_ask_forget(struct symbol_modules *modules);
/* Whether a reader of this session died of the module's file. */
bool symbol_reader_died_of(const struct symbol_session *session,
			   const struct symbol_module *module);

#endif
