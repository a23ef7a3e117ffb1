/* SPDX-License-Identifier: Apache-2.0 */
#include "atomicity/ordering.h"

#include "dwarf/atomic_names.h"

#include <string.h>

static bool is_text(const struct symbol_source *source, const struct symbol_token *token,
		    const char *text)
{
	return token->length == strlen(text) &&
	       memcmp(source->text + token->start, text, token->length) == 0;
}

size_t symbol_ordering_empty_assembly(const struct symbol_source *source,
				      const struct symbol_token *token, size_t count)
{
	size_t at = 1, depth = 0, empty;

	if (!count || token[0].kind != SYMBOL_TOKEN_NAME ||
	    !symbol_opaque_word(source->text + token[0].start, token[0].length))
		return 0;
	while (at < count && token[at].kind == SYMBOL_TOKEN_NAME) /* volatile, inline */
		at++;
	if (at + 1 >= count || token[at].mark != '(' || !is_text(source, &token[at + 1], "\"\""))
		return 0;
	empty = at + 2;
	for (; at < count; at++) {
		depth += token[at].mark == '(';
		depth -= token[at].mark == ')';
		if (!depth)
			return empty;
		if (is_text(source, &token[at], "\"memory\""))
			return 0;
	}
	return 0;
}

static bool contains(const char *word, size_t length, const char *part)
{
	return memmem(word, length, part, strlen(part)) != NULL;
}

static bool ends_with(const char *word, size_t length, const char *end)
{
	size_t rest = strlen(end);

	return length > rest && memcmp(word + length - rest, end, rest) == 0;
}

static bool orders_memory(const char *word, size_t length)
{
	static const char *const words[] = {"mb",	  "rmb",    "wmb",    "pause", "cpu_relax",
					    "spin_pause", "mfence", "lfence", "sfence"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (length == strlen(words[i]) && memcmp(word, words[i], length) == 0)
			return true;
	if (contains(word, length, "barrier") || contains(word, length, "fence") ||
	    contains(word, length, "BARRIER") || contains(word, length, "FENCE") ||
	    (length > 4 && memcmp(word, "smp_", 4) == 0) || ends_with(word, length, "_mb") ||
	    ends_with(word, length, "_rmb") || ends_with(word, length, "_wmb") ||
	    (length > 4 && memcmp(word, "_mm_", 4) == 0))
		return true;
	return symbol_atomic_word(word, length) && !contains(word, length, "volatile");
}

/* The outermost block around a token that follows a parenthesis: its function's body. */
static size_t body_around(const struct symbol_tokens *tokens, size_t at)
{
	size_t body = at, closed = 0;

	while (at-- > 0) {
		if (tokens->token[at].mark == '}') {
			closed++;
		} else if (tokens->token[at].mark == '{' && closed) {
			closed--;
		} else if (tokens->token[at].mark == '{' && at > 0 &&
			   tokens->token[at - 1].mark == ')') {
			body = at;
		}
	}
	return body;
}

static size_t token_of_line(const struct symbol_tokens *tokens, unsigned line)
{
	size_t at = 0;

	while (at < tokens->count && tokens->token[at].line < line)
		at++;
	return at;
}

/* `#pragma omp flush` between the tokens [first, last). */
static bool flushes(const struct symbol_source *source, const struct symbol_tokens *tokens,
		    size_t first, size_t last)
{
	for (size_t i = 0; i < tokens->directive_count; i++) {
		const struct symbol_directive *directive = &tokens->directive[i];
		const struct symbol_token *token = &tokens->directive_token[directive->first];

		if (directive->kind == 'p' && directive->at > first && directive->at < last &&
		    directive->count >= 2 && is_text(source, &token[0], "omp") &&
		    is_text(source, &token[1], "flush"))
			return true;
	}
	return false;
}

bool symbol_ordering_near(const struct symbol_source *source, const struct symbol_tokens *tokens,
			  unsigned line)
{
	size_t body = body_around(tokens, token_of_line(tokens, line)), at = body, depth = 0;

	for (; at < tokens->count; at++) {
		const struct symbol_token *token = &tokens->token[at];
		const char *word = source->text + token->start;

		depth += token->mark == '{';
		if (token->mark == '}' && (depth == 0 || --depth == 0))
			return flushes(source, tokens, body, at);
		if (token->kind != SYMBOL_TOKEN_NAME)
			continue;
		if (orders_memory(word, token->length))
			return true;
		if (symbol_opaque_word(word, token->length) &&
		    !symbol_ordering_empty_assembly(source, token, tokens->count - at))
			return true;
	}
	return false;
}
