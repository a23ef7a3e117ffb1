/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the reader of files can be asked: for each public function that needs a file one structure
 * of its arguments and results, how both travel, and the function itself.
 */
#ifndef READER_QUESTIONS_H
#define READER_QUESTIONS_H

#include "atomicity/atomicity.h"
#include "reader/packet.h"
#include "symbol/copies.h"
#include "symbol/lookup.h"
#include "symbol/place.h"
#include "symbol/stack.h"
#include "symbol/target.h"
#include "symbol/variable.h"

enum symbol_question {
	SYMBOL_ASK_PLACE,
	SYMBOL_ASK_BOUNDS,
	SYMBOL_ASK_BOUNDS_WHOLE,
	SYMBOL_ASK_FUNCTION_NAME,
	SYMBOL_ASK_ATOMICITY,
	SYMBOL_ASK_VARIABLE,
	SYMBOL_ASK_COMPILERS,
	SYMBOL_ASK_STACK,
	SYMBOL_ASK_TARGET,
	SYMBOL_ASK_TLS,
	SYMBOL_ASK_LOOKUP,
	SYMBOL_ASK_COPIES,
	SYMBOL_ASK_PRODUCER,
	SYMBOL_ASK_IMPORT_NAME,
	SYMBOL_ASK_SOURCE_LINE,
	SYMBOL_QUESTION_COUNT
};

struct symbol_ask_place {
	uint64_t pc;
	bool return_address;
	size_t max, count;
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
};

struct symbol_ask_bounds {
	uint64_t pc, start, end;
	int result;
};

/* symbol_function_name(), symbol_import_name(), symbol_producer() */
struct symbol_ask_text {
	uint64_t pc;
	const char *text;
};

struct symbol_ask_atomicity {
	uint64_t pc;
	enum symbol_load load;
	bool known; /* the variable is */
	struct symbol_variable variable;
	enum symbol_atomicity answer;
	char reason[SYMBOL_REASON_MAX];
};

#define SYMBOL_ASK_THREADS 4

struct symbol_ask_variable {
	uint64_t address, size;
	size_t count;
	struct symbol_thread threads[SYMBOL_ASK_THREADS];
	struct symbol_stack_frame frames[SYMBOL_ASK_THREADS][SYMBOL_STACK_MAX];
	struct symbol_variable variable;
};

struct symbol_ask_compilers {
	uint64_t pc;
	const void *text; /* NULL: none */
	size_t length;
};

struct symbol_ask_stack {
	struct symbol_stack_source source;
	bool has_memory;
	size_t max, count;
	bool complete;
	struct symbol_stack_frame frames[SYMBOL_STACK_MAX];
};

struct symbol_ask_target {
	struct symbol_expression expression;
	struct symbol_target target;
	int result;
	char error[SYMBOL_ERROR_MAX];
};

struct symbol_ask_tls {
	const struct symbol_module *module;
	uint64_t fs_base, start;
	int result;
};

struct symbol_ask_lookup {
	const char *qualifier, *name;
	struct symbol_found found; /* without its type, which is the reader's own */
	int result;
	char error[SYMBOL_ERROR_MAX];
};

struct symbol_ask_copies {
	const struct symbol_module *module;
	const char *name;
	struct symbol_copies copies;
	int result;
};

#define SYMBOL_ASK_LINE_TEXT 4096

struct symbol_ask_source_line {
	const char *path;
	unsigned number;
	int result;
	char text[SYMBOL_ASK_LINE_TEXT];
};

union symbol_any_question {
	struct symbol_ask_place place;
	struct symbol_ask_bounds bounds;
	struct symbol_ask_text text;
	struct symbol_ask_atomicity atomicity;
	struct symbol_ask_variable variable;
	struct symbol_ask_compilers compilers;
	struct symbol_ask_stack stack;
	struct symbol_ask_target target;
	struct symbol_ask_tls tls;
	struct symbol_ask_lookup lookup;
	struct symbol_ask_copies copies;
	struct symbol_ask_source_line source_line;
};

struct symbol_question_kind {
	void (*arguments)(struct symbol_packet *packet, void *question);
	void (*run)(struct symbol_modules *modules, void *question);
	void (*results)(struct symbol_packet *packet, void *question);
};

extern const struct symbol_question_kind symbol_question_kinds[SYMBOL_QUESTION_COUNT];

#endif
