/* SPDX-License-Identifier: Apache-2.0 */
#include "atomicity/body.h"

#include <stdlib.h>
#include <string.h>

#define BODIES_MAX (1u << 16)
#define BODY_TOKENS_MAX 8192
#define UNCLOSED_MAX 256   /* pairs that do not end: it is no source, or made to take time */
#define HEAD_TOKENS_MAX 64 /* between the parameters and the block: attributes, initialisers */

struct definition {
	const char *name; /* in the source's text */
	uint32_t length;
	struct symbol_body body;
};

struct symbol_bodies {
	struct definition *definition; /* ordered by name */
	size_t count, room;
};

static size_t behind_pair(const struct symbol_tokens *tokens, size_t at, size_t end, char open,
			  char close)
{
	size_t depth = 0;

	for (; at < end; at++) {
		depth += tokens->token[at].mark == open;
		if (tokens->token[at].mark == close && --depth == 0)
			return at + 1;
	}
	return 0;
}

static size_t bounded(const struct symbol_tokens *tokens, size_t at, size_t most)
{
	return tokens->count - at < most ? tokens->count : at + most;
}

/* Where the block begins of a function whose name is the token `at`; 0: it is no definition. */
static size_t block_of(const struct symbol_tokens *tokens, size_t at, unsigned *unclosed)
{
	size_t end = bounded(tokens, at, BODY_TOKENS_MAX);
	size_t head = behind_pair(tokens, at + 1, end, '(', ')');

	if (!head) {
		++*unclosed;
		return 0;
	}
	end = bounded(tokens, head, HEAD_TOKENS_MAX);
	for (; head < end; head++) {
		char mark = tokens->token[head].mark;

		if (mark == '{')
			return head;
		if (mark == ';' || mark == '}' || mark == '=')
			return 0;
	}
	return 0;
}

static bool add(struct symbol_bodies *bodies, const struct definition *definition)
{
	if (bodies->count == bodies->room) {
		size_t room = bodies->room ? bodies->room * 2 : 256;
		struct definition *grown =
			room > BODIES_MAX
				? NULL
				: realloc(bodies->definition, room * sizeof(*bodies->definition));

		if (!grown)
			return false;
		bodies->definition = grown;
		bodies->room = room;
	}
	bodies->definition[bodies->count++] = *definition;
	return true;
}

static int compare_names(const char *a, size_t a_length, const char *b, size_t b_length)
{
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return memcmp(a, b, a_length);
}

/* Of a function whose own block is too large. */
static bool is_statement(const struct symbol_source *source, const struct symbol_token *token)
{
	static const char *const words[] = {"if", "for", "while", "switch", "catch"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (compare_names(words[i], strlen(words[i]), source->text + token->start,
				  token->length) == 0)
			return true;
	return false;
}

/* Blocks that belong to no function, of a class or a namespace, are searched as well. */
static void read_source(struct symbol_bodies *bodies, const struct symbol_source *source)
{
	const struct symbol_tokens *tokens = source->tokens;
	unsigned unclosed = 0;

	for (size_t at = 0; at + 1 < tokens->count && unclosed < UNCLOSED_MAX; at++) {
		const struct symbol_token *token = &tokens->token[at];
		size_t open, behind;

		if (token->kind != SYMBOL_TOKEN_NAME || token[1].mark != '(' ||
		    is_statement(source, token))
			continue;
		open = block_of(tokens, at, &unclosed);
		behind = open ? behind_pair(tokens, open, bounded(tokens, open, BODY_TOKENS_MAX),
					    '{', '}')
			      : 0;
		unclosed += open && !behind;
		if (!behind)
			continue;
		if (!add(bodies, &(struct definition){source->text + token->start,
						      token->length,
						      {source, open + 1, behind - 1}}))
			return;
		at = behind - 1;
	}
}

static int compare(const void *a, const void *b)
{
	const struct definition *x = a, *y = b;

	return compare_names(x->name, x->length, y->name, y->length);
}

static struct symbol_bodies *read_all(const struct symbol_macros *macros)
{
	struct symbol_bodies *bodies = calloc(1, sizeof(*bodies));

	for (size_t i = 0; bodies && i < macros->count; i++)
		if (symbol_source_tokens(macros->source[i]))
			read_source(bodies, macros->source[i]);
	if (bodies && bodies->count)
		qsort(bodies->definition, bodies->count, sizeof(*bodies->definition), compare);
	return bodies;
}

static void bodies_free(struct symbol_bodies *bodies)
{
	free(bodies->definition);
	free(bodies);
}

bool symbol_body_find(struct symbol_macros *macros, const char *name, size_t length, size_t which,
		      struct symbol_body *body)
{
	size_t low = 0, high;

	if (!macros->bodies) {
		macros->bodies_free = bodies_free;
		macros->bodies = read_all(macros);
	}
	if (!macros->bodies)
		return false;
	high = macros->bodies->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct definition *found = &macros->bodies->definition[middle];

		if (compare_names(found->name, found->length, name, length) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	low += which;
	if (low >= macros->bodies->count ||
	    compare_names(macros->bodies->definition[low].name,
			  macros->bodies->definition[low].length, name, length) != 0)
		return false;
	*body = macros->bodies->definition[low].body;
	return true;
}

static size_t token_of_line(const struct symbol_tokens *tokens, unsigned line)
{
	size_t at = 0;

	while (at < tokens->count && tokens->token[at].line < line)
		at++;
	return at;
}

/* The outermost block around the line that follows a parenthesis. */
void symbol_body_around(const struct symbol_tokens *tokens, unsigned line, size_t *first,
			size_t *last)
{
	size_t at = token_of_line(tokens, line), closed = 0, depth = 0;

	*first = at;
	while (at-- > 0) {
		if (tokens->token[at].mark == '}') {
			closed++;
		} else if (tokens->token[at].mark == '{' && closed) {
			closed--;
		} else if (tokens->token[at].mark == '{' && at > 0 &&
			   tokens->token[at - 1].mark == ')') {
			*first = at;
		}
	}
	for (at = *first; at < tokens->count; at++) {
		depth += tokens->token[at].mark == '{';
		if (tokens->token[at].mark == '}' && (depth == 0 || --depth == 0))
			break;
	}
	*last = at;
}
