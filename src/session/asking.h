/* SPDX-License-Identifier: Apache-2.0 */
/* Where a session has a reader of files (reader/reader.h), each public function that needs a
 * file asks it first, by the function of the same name in this table. The functions that ask
 * stand in rooms below the reader's, so the table is handed down to them in the session. */
#ifndef SESSION_ASKING_H
#define SESSION_ASKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol_copies;
struct symbol_expression;
struct symbol_found;
struct symbol_frame;
struct symbol_module;
struct symbol_modules;
struct symbol_session;
struct symbol_stack_frame;
struct symbol_stack_source;
struct symbol_target;
struct symbol_thread;
struct symbol_variable;

/* Each returns true if the reader answered. False: there is no reader, and the caller does the
 * work; or the reader failed, and the caller does what can be done without files. */
struct symbol_asking {
	bool (*place)(struct symbol_modules *modules, uint64_t pc, bool return_address,
		      struct symbol_frame *frames, size_t max, size_t *count);
	/* `whole` asks for symbol_bounds_whole(), otherwise for symbol_bounds_find(). */
	bool (*bounds)(struct symbol_modules *modules, bool whole, uint64_t pc, uint64_t *start,
		       uint64_t *end, int *result);
	bool (*function_name)(struct symbol_modules *modules, uint64_t pc, const char **name);
	bool (*import_name)(struct symbol_modules *modules, uint64_t slot, const char **name);
	bool (*producer)(struct symbol_modules *modules, uint64_t pc, const char **producer);
	bool (*atomicity)(struct symbol_modules *modules, uint64_t pc,
			  const struct symbol_variable *variable, int load, char *reason,
			  int *answer); /* enum symbol_load; enum symbol_atomicity */
	bool (*variable)(struct symbol_modules *modules, uint64_t address, uint64_t size,
			 const struct symbol_thread *threads, size_t thread_count,
			 struct symbol_variable *variable);
	bool (*compilers)(struct symbol_modules *modules, uint64_t pc, const char **text,
			  size_t *length);
	bool (*stack)(struct symbol_modules *modules, const struct symbol_stack_source *source,
		      struct symbol_stack_frame *frames, size_t max, bool *complete, size_t *count);
	bool (*target)(struct symbol_modules *modules, const struct symbol_expression *expression,
		       struct symbol_target *target, char *error, int *result);
	bool (*tls)(struct symbol_modules *modules, const struct symbol_module *module,
		    uint64_t fs_base, uint64_t *start, int *result);
	bool (*lookup)(struct symbol_modules *modules, const char *qualifier, const char *name,
		       struct symbol_found *found, char *error, int *result);
	bool (*copies)(struct symbol_modules *modules, const struct symbol_module *module,
		       const char *name, struct symbol_copies *copies, int *result);
	bool (*source_line)(struct symbol_session *session, const char *path, unsigned number,
			    char *text, size_t size, int *result);

	/* The modules are closed. */
	void (*forget)(struct symbol_modules *modules);
};

/* Asks one question; also false where this process reads the files itself. */
#define SYMBOL_ASK(session, question, ...) \
	((session)->asking && (session)->asking->question(__VA_ARGS__))

#endif
