/* SPDX-License-Identifier: Apache-2.0 */
#include "atomicity/ordering.h"

#include "atomicity/body.h"
#include "dwarf/atomic_names.h"
#include "source/statement.h"

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

#define DEPTH_MAX 4	/* macros and functions within each other */
#define WORDS_MAX 20000 /* looked up for one function */

struct look {
	struct symbol_macros *macros;
	unsigned words;
};

static bool word_orders(struct look *look, const struct symbol_source *source,
			const struct symbol_token *token, size_t count, unsigned depth);

static bool range_orders(struct look *look, const struct symbol_source *source,
			 const struct symbol_token *token, size_t count, unsigned depth)
{
	for (size_t i = 0; i < count; i++)
		if (token[i].kind == SYMBOL_TOKEN_NAME &&
		    word_orders(look, source, token + i, count - i, depth))
			return true;
	return false;
}

static bool macro_orders(struct look *look, const char *word, size_t length, unsigned depth)
{
	struct symbol_macro macro = {0};

	while (symbol_macros_next(look->macros, word, length, &macro))
		if (range_orders(look, macro.source,
				 &macro.source->tokens->directive_token[macro.directive->first] + 1,
				 macro.directive->count - 1, depth + 1))
			return true;
	return false;
}

/* `static inline void wmb(void) { __asm__ volatile("" ::: "memory"); }`: one statement that orders.
 * What a larger function does is its own affair: each that asks whether to go on has an atomic load
 * in it. */
static bool function_orders(struct look *look, const char *word, size_t length, unsigned depth)
{
	struct symbol_body body;

	for (size_t i = 0; symbol_body_find(look->macros, word, length, i, &body); i++) {
		const struct symbol_token *token = body.source->tokens->token + body.first;
		size_t count = body.last - body.first;

		if (count && token[count - 1].mark == ';')
			count--;
		for (size_t at = 0; at < count; at++)
			if (symbol_statement_ends(&token[at]))
				count = 0;
		if (count && token[0].kind == SYMBOL_TOKEN_NAME &&
		    word_orders(look, body.source, token, count, depth + 1))
			return true;
	}
	return false;
}

/* The first of the tokens is a name. */
static bool word_orders(struct look *look, const struct symbol_source *source,
			const struct symbol_token *token, size_t count, unsigned depth)
{
	const char *word = source->text + token->start;

	if (orders_memory(word, token->length))
		return true;
	if (symbol_opaque_word(word, token->length))
		return !symbol_ordering_empty_assembly(source, token, count);
	if (depth == DEPTH_MAX || ++look->words > WORDS_MAX)
		return false;
	return macro_orders(look, word, token->length, depth) ||
	       (count > 1 && token[1].mark == '(' &&
		function_orders(look, word, token->length, depth));
}

bool symbol_ordering_near(const struct symbol_source *source, const struct symbol_tokens *tokens,
			  unsigned line, struct symbol_macros *macros)
{
	struct look look = {.macros = macros};
	size_t first, last;

	symbol_body_around(tokens, line, &first, &last);
	return range_orders(&look, source, tokens->token + first, last - first, 0) ||
	       (last < tokens->count && flushes(source, tokens, first, last));
}
