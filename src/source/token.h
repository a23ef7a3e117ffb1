/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tokens of a C, C++ or Rust source file, roughly: enough to find a statement's extent and its
 * identifiers. Comments and preprocessor lines are left out; macro definitions are kept apart.
 */
#ifndef SOURCE_TOKEN_H
#define SOURCE_TOKEN_H

#include <stddef.h>
#include <stdint.h>

enum symbol_token_kind {
	SYMBOL_TOKEN_NAME,
	SYMBOL_TOKEN_NUMBER,
	SYMBOL_TOKEN_TEXT, /* string or character literal */
	SYMBOL_TOKEN_MARK, /* one character of punctuation */
};

struct symbol_token {
	uint32_t start, length; /* in the text */
	uint32_t line, column;	/* from 1; bytes */
	uint8_t kind;
	char mark; /* of a SYMBOL_TOKEN_MARK */
};

/* A macro as defined, an included file, a pragma: tokens [first, first + count) of
 * `directive_token`. */
struct symbol_directive {
	uint32_t first, count; /* after the directive's own name */
	uint32_t line;
	uint32_t at;  /* the token of the program text that it stands before */
	uint8_t kind; /* 'd' define, 'i' include, 'u' undef, 'p' pragma; '?' if and its kin, ':'
			 else and elif, '.' endif */
};

struct symbol_tokens {
	struct symbol_token *token; /* of the program text */
	size_t count;
	struct symbol_token *directive_token;
	size_t directive_token_count;
	struct symbol_directive *directive;
	size_t directive_count;
};

/* NULL only when out of memory. */
struct symbol_tokens *symbol_tokens_read(const char *text, size_t length);
void symbol_tokens_free(struct symbol_tokens *tokens);

#endif
