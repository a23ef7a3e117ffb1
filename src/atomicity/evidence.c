/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A statement is plain when each of its words is a keyword, or a name that debug information knows
 * and that neither is nor leads to an atomic or volatile type, or a function of the symbol tables
 * or one that compilers make instructions of, or a macro of which the same holds. One word that is
 * none of these makes it unknown.
 */
#include "atomicity/evidence.h"

#include "atomicity/declared.h"
#include "atomicity/language.h"
#include "atomicity/lent.h"
#include "atomicity/macro.h"
#include "atomicity/ordering.h"
#include "atomicity/vocabulary.h"
#include "dwarf/atomic_names.h"
#include "dwarf/die.h"
#include "dwarf/local.h"
#include "elf/names.h"
#include "session/session.h"
#include "source/pragma.h"
#include "source/statement.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#define MACRO_DEPTH_MAX 8
#define WORDS_MAX 20000		    /* looked at for one statement, macros expanded */
#define LENDING_STATEMENTS_MAX 4096 /* of functions that a statement calls */

enum verdict { HARMLESS, ATOMIC, DOUBTFUL };

struct judge {
	struct symbol_object *object;
	struct symbol_unit *unit;
	struct symbol_macros *macros;
	const struct symbol_variable *variable;
	bool rust;
	bool hides_atomic; /* debug information tells no object that is declared _Atomic */
	enum symbol_load load;
	unsigned line;	    /* of the access: its statement may have begun before */
	bool pragmas;	    /* the compiler heeds `#pragma omp atomic` and its kin */
	unsigned words;	    /* looked at */
	bool has_value;	    /* a word was a variable, parameter or member */
	bool has_volatile;  /* one that is, or leads to, a volatile */
	bool may_be_atomic; /* what was doubted could be an atomic operation of the language */
	bool has_pragma;    /* a word was, or was a macro with, a directive that makes atomic */
	Dwarf_Die function; /* the one that holds the code */
	bool function_known;
	bool function_shown; /* and the line is its own, not that of one inlined into it */
	char *reason;
};

static enum verdict doubt(struct judge *judge, const char *why, const char *word, size_t length)
{
	snprintf(judge->reason, SYMBOL_REASON_MAX, "%s: %.*s", why,
		 length > 100 ? 100 : (int)length, word);
	return DOUBTFUL;
}

static enum verdict doubt_atomic(struct judge *judge, const char *why, const char *word,
				 size_t length)
{
	judge->may_be_atomic = true;
	return doubt(judge, why, word, length);
}

static enum verdict judge_range(struct judge *judge, const struct symbol_source *source,
				const struct symbol_token *token, size_t count,
				const struct symbol_token *parameters, size_t parameter_count,
				unsigned depth);

static bool is_parameter(const struct symbol_source *source, const struct symbol_token *parameters,
			 size_t count, const char *word, size_t length)
{
	for (size_t i = 0; i < count; i++)
		if (parameters[i].kind == SYMBOL_TOKEN_NAME && parameters[i].length == length &&
		    memcmp(source->text + parameters[i].start, word, length) == 0)
			return true;
	return length == 11 && memcmp(word, "__VA_ARGS__", 11) == 0;
}

static bool is_variadic(const struct symbol_source *source, const struct symbol_token *token)
{
	return is_parameter(source, NULL, 0, source->text + token->start, token->length);
}

/* "NAME(a, b) body": parameters only when the parenthesis touches the name. */
static enum verdict judge_definition(struct judge *judge, const struct symbol_macro *macro,
				     unsigned depth)
{
	const struct symbol_source *source = macro->source;
	const struct symbol_token *token =
		&source->tokens->directive_token[macro->directive->first];
	size_t count = macro->directive->count, body = 1;

	if (count > 1 && token[1].mark == '(' && token[1].start == token[0].start + token[0].length)
		while (body < count && token[body++].mark != ')')
			;
	for (size_t i = body; i + 2 < count; i++)
		if (token[i].mark == '#' && token[i + 1].mark == '#' &&
		    !is_variadic(source, &token[i + 2]))
			return doubt(judge, "a macro that makes up names",
				     source->text + token[0].start, token[0].length);
	return judge_range(judge, source, token + body, count - body, token + 1, body - 1,
			   depth + 1);
}

/* All definitions of it; *found tells whether there is any. */
static enum verdict judge_macro(struct judge *judge, const char *word, size_t length,
				unsigned depth, bool *found)
{
	struct symbol_macro macro = {0};
	enum verdict worst = HARMLESS;

	*found = false;
	if (depth >= MACRO_DEPTH_MAX)
		return HARMLESS;
	while (worst == HARMLESS && symbol_macros_next(judge->macros, word, length, &macro)) {
		*found = true;
		worst = judge_definition(judge, &macro, depth);
	}
	return worst;
}

static bool is_linked_function(struct judge *judge, const char *word, size_t length)
{
	const struct symbol_names *names = symbol_object_names(judge->object);
	char text[128];

	if (!names || length >= sizeof(text))
		return false;
	memcpy(text, word, length);
	text[length] = 0;
	return symbol_names_lookup(names, text, 0) != NULL;
}

static enum verdict judge_flags(struct judge *judge, unsigned flags, const char *word,
				size_t length)
{
	if (flags & SYMBOL_WORD_ATOMIC)
		return doubt_atomic(judge, "an atomic type is involved", word, length);
	judge->has_volatile |= !!(flags & SYMBOL_WORD_VOLATILE);
	judge->has_value |= !!(flags & SYMBOL_WORD_VALUE);
	return HARMLESS;
}

/* The unit has many things of one name, `self` say; the function's own of that name is what is
 * meant in its text. */
static unsigned word_flags(struct judge *judge, const char *word, size_t length, unsigned depth)
{
	const unsigned doubtful = SYMBOL_WORD_ATOMIC | SYMBOL_WORD_VOLATILE;
	unsigned flags = symbol_vocabulary_flags(judge->unit, word, length);
	struct symbol_local local;

	if (judge->hides_atomic && symbol_declared_atomic(judge->macros, word, length))
		return flags | SYMBOL_WORD_ATOMIC;
	if (!(flags & doubtful) || depth || !judge->function_shown)
		return flags;
	local = symbol_local_find(&judge->function, word, length);
	if (!local.found)
		return flags;
	return (flags & ~doubtful) | (local.is_atomic ? SYMBOL_WORD_ATOMIC : 0) |
	       (local.is_volatile ? SYMBOL_WORD_VOLATILE : 0);
}

static enum verdict judge_word(struct judge *judge, const char *word, size_t length, unsigned depth)
{
	enum verdict verdict;
	unsigned flags;
	bool macro;

	if (++judge->words > WORDS_MAX)
		return doubt(judge, "its macros are too large", word, length);
	if (symbol_opaque_word(word, length))
		return doubt_atomic(judge, "inline assembly", word, length);
	if (symbol_atomic_word(word, length))
		return ATOMIC;
	/* What is a keyword in one language is a name in another: types come first. */
	flags = word_flags(judge, word, length, depth);
	verdict = judge_flags(judge, flags, word, length);
	if (verdict != HARMLESS)
		return verdict;
	if (symbol_language_keyword(word, length, judge->rust) ||
	    symbol_language_builtin(word, length))
		return HARMLESS;
	verdict = judge_macro(judge, word, length, depth, &macro);
	if (verdict != HARMLESS || flags)
		return verdict;
	if (macro)
		return HARMLESS;
	/* Of the whole file's functions one may be called as a macro of this unit is. */
	if (is_linked_function(judge, word, length) ||
	    (!judge->rust && symbol_language_inlined(word, length)))
		return judge->macros->incomplete
			       ? doubt(judge, "a header was not found, and it may define this",
				       word, length)
			       : HARMLESS;
	return doubt(judge, "nothing tells what this is", word, length);
}

/* ".load(" or "->load(": a method that is an atomic operation if what it is called on is atomic. */
static bool is_method(const struct symbol_source *source, const struct symbol_token *token,
		      size_t at, size_t count)
{
	if (at == 0 || at + 1 >= count || token[at + 1].mark != '(' ||
	    (token[at - 1].mark != '.' && token[at - 1].mark != '>'))
		return false;
	return symbol_atomic_method(source->text + token[at].start, token[at].length);
}

static enum verdict judge_range(struct judge *judge, const struct symbol_source *source,
				const struct symbol_token *token, size_t count,
				const struct symbol_token *parameters, size_t parameter_count,
				unsigned depth)
{
	for (size_t i = 0; i < count; i++) {
		const char *word = source->text + token[i].start;
		enum verdict verdict;
		size_t skipped;

		if (symbol_pragma_here(source, token + i, count - i)) {
			judge->has_pragma = true;
			return ATOMIC;
		}
		if (token[i].kind != SYMBOL_TOKEN_NAME ||
		    is_parameter(source, parameters, parameter_count, word, token[i].length))
			continue;
		skipped = symbol_ordering_empty_assembly(source, token + i, count - i);
		if (skipped) {
			i += skipped - 1;
			continue;
		}
		if (is_method(source, token, i, count))
			return doubt_atomic(judge, "may be an atomic operation", word,
					    token[i].length);
		/* A Rust macro, or a lifetime. */
		if (judge->rust && i + 1 < count && token[i + 1].mark == '!' &&
		    !(i + 2 < count && token[i + 2].mark == '='))
			return doubt(judge, "a macro", word, token[i].length);
		verdict = judge_word(judge, word, token[i].length, depth);
		if (verdict != HARMLESS)
			return verdict;
	}
	return HARMLESS;
}

/*
 * A statement with an atomic operation in it has plain accesses too, as a rule ("x = load(&y)").
 * When the variable is known and named only outside the operations' arguments, it is one of those;
 * of one with members the member, since an operation may lead to another one by a pointer.
 */
static bool variable_is_outside(struct judge *judge, const struct symbol_source *source,
				const struct symbol_token *token, size_t count)
{
	size_t size = 0;
	const char *name = judge->variable && judge->variable->typed
				   ? symbol_variable_member(judge->variable, &size)
				   : NULL;
	bool outside = false;

	for (size_t i = 0; name && i < count; i++) {
		const char *word = source->text + token[i].start;
		enum verdict verdict;
		unsigned depth = 0;

		if (token[i].kind != SYMBOL_TOKEN_NAME)
			continue;
		if (size == token[i].length && memcmp(name, word, size) == 0) {
			outside = true;
			continue;
		}
		verdict = judge_word(judge, word, token[i].length, 0);
		if (verdict == DOUBTFUL)
			return false;
		if (verdict == HARMLESS)
			continue;
		if (i + 1 >= count || token[i + 1].mark != '(')
			return false; /* not a call: a qualifier, or an operand we don't follow */
		for (i++; i < count; i++) {
			depth += token[i].mark == '(';
			depth -= token[i].mark == ')';
			if (depth == 0)
				break;
			if (token[i].kind == SYMBOL_TOKEN_NAME && size == token[i].length &&
			    memcmp(name, source->text + token[i].start, size) == 0)
				return false;
		}
	}
	return outside;
}

/*
 * C11 and C++11 know no synchronisation by volatile. Older code makes locks and queues of volatiles
 * with fences of its own around them, which is meant to be atomic: then its function shows them.
 */
static enum symbol_atomicity judge_volatile(struct judge *judge, const struct symbol_source *source)
{
	if (symbol_ordering_near(source, source->tokens, judge->line, judge->macros)) {
		snprintf(judge->reason, SYMBOL_REASON_MAX,
			 "a volatile in a function that orders memory itself");
		return SYMBOL_ATOMICITY_ORDERED;
	}
	snprintf(judge->reason, SYMBOL_REASON_MAX,
		 "line %u of the source is an ordinary access to a volatile, which orders nothing",
		 judge->line);
	return SYMBOL_ATOMICITY_VOLATILE;
}

static bool heads_atomic_block(const struct judge *judge, const struct symbol_source *source,
			       const struct symbol_token *token, size_t count)
{
	char reason[SYMBOL_REASON_MAX];
	bool macro;

	for (size_t i = 0; i < count; i++) {
		struct judge probe = *judge;

		probe.reason = reason;
		if (symbol_pragma_here(source, token + i, count - i))
			return true;
		if (token[i].kind != SYMBOL_TOKEN_NAME)
			continue;
		judge_macro(&probe, source->text + token[i].start, token[i].length, 0, &macro);
		if (probe.has_pragma)
			return true;
	}
	return false;
}

#define BLOCKS_MAX 3 /* `atomic compare capture` allows an if within its block */

/* `_Pragma("omp atomic capture") { v = x; x++; }`, which a macro may hide. */
static bool in_atomic_block(const struct judge *judge, const struct symbol_source *source,
			    size_t at)
{
	const struct symbol_tokens *tokens = source->tokens;

	for (unsigned depth = 0; depth < BLOCKS_MAX; depth++) {
		size_t open = symbol_pragma_block(tokens, at), head = open;

		if (open == at)
			return false;
		while (head > 0 && !symbol_statement_ends(&tokens->token[head - 1]))
			head--;
		if (heads_atomic_block(judge, source, tokens->token + head, open - head))
			return true;
		at = open;
	}
	return false;
}

/* What a directive makes of the statement; one around it, or in it, counts for all of it. */
static enum symbol_pragma directive_over(const struct judge *judge,
					 const struct symbol_source *source,
					 const struct symbol_statement *statement)
{
	enum symbol_pragma form;

	if (!judge->pragmas)
		return SYMBOL_PRAGMA_NONE;
	form = symbol_pragma_over(source, source->tokens, statement);
	if (form == SYMBOL_PRAGMA_NONE &&
	    (judge->has_pragma || in_atomic_block(judge, source, statement->first)))
		form = SYMBOL_PRAGMA_MIXED;
	return form;
}

/* `#pragma omp atomic read` makes the one access atomic; `v` of `v = x;` is as plain as ever. */
static bool directive_spares(const struct judge *judge, enum symbol_pragma form,
			     const struct symbol_source *source, const struct symbol_token *token,
			     size_t count)
{
	return form != SYMBOL_PRAGMA_MIXED && judge->variable && judge->variable->typed &&
	       judge->variable->name &&
	       !symbol_pragma_names(form, source, token, count, judge->variable->name);
}

static bool is_directive(void *arg, const struct symbol_source *source,
			 const struct symbol_token *token, size_t count)
{
	const struct judge *judge = arg;

	if (symbol_macros_hold_directives(judge->macros))
		return heads_atomic_block(judge, source, token, count);
	for (size_t i = 0; i < count; i++)
		if (symbol_pragma_here(source, token + i, count - i))
			return true;
	return false;
}

static struct symbol_source *read_source(void *arg, const char *path)
{
	static const struct symbol_source_hint any = {0};
	const struct judge *judge = arg;
	struct symbol_source *source = symbol_source_find(judge->object->session, path, &any);

	return source && source->text && symbol_source_tokens(source) ? source : NULL;
}

/* Methods of containers are called as those of atomics are (clear(), swap()): those that load count
 * alone, for nothing else is an operand of another instruction. */
static bool loads(const struct symbol_source *source, const struct symbol_token *token,
		  size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (token[i].kind == SYMBOL_TOKEN_NAME &&
		    (memmem(source->text + token[i].start, token[i].length, "load", 4) ||
		     memmem(source->text + token[i].start, token[i].length, "LOAD", 4)))
			return true;
	return false;
}

static bool is_operation(void *arg, const struct symbol_source *source,
			 const struct symbol_token *token, size_t count)
{
	struct judge *judge = arg, probe = *judge;
	char reason[SYMBOL_REASON_MAX];
	enum verdict verdict;

	probe.reason = reason;
	verdict = judge_range(&probe, source, token, count, NULL, 0, 0);
	judge->words = probe.words;
	return judge->words > WORDS_MAX || verdict == ATOMIC ||
	       (verdict == DOUBTFUL && probe.may_be_atomic && loads(source, token, count));
}

/* Is the line perhaps shown for a load that another, atomic statement makes? */
static bool is_lent(struct judge *judge, const struct symbol_source *source,
		    const struct symbol_statement *statement)
{
	Dwarf_Die unit;
	unsigned left = LENDING_STATEMENTS_MAX;
	const struct symbol_lent lent = {.left = &left,
					 .unit = &unit,
					 .function = &judge->function,
					 .variable = judge->variable,
					 .is_directive = is_directive,
					 .is_operation = is_operation,
					 .macros = judge->macros,
					 .read = read_source,
					 .arg = judge};

	if (judge->load == SYMBOL_LOAD_NONE || !judge->function_known ||
	    symbol_unit_die(judge->object, judge->unit, &unit) != 0)
		return false;
	if (judge->pragmas && !judge->rust && symbol_lent(&lent, source, statement)) {
		snprintf(judge->reason, SYMBOL_REASON_MAX,
			 "a directive in its function makes loads atomic that may go by its line");
		return true;
	}
	if (judge->load == SYMBOL_LOAD_OPERAND &&
	    symbol_lent_value(&lent, source, statement, judge->line)) {
		snprintf(judge->reason, SYMBOL_REASON_MAX,
			 "it may be the load of an atomic operation whose value its line uses");
		return true;
	}
	return false;
}

static enum symbol_atomicity judge_statement(struct judge *judge,
					     const struct symbol_source *source,
					     const struct symbol_statement *statement)
{
	const struct symbol_token *token = source->tokens->token + statement->first;
	size_t count = statement->last - statement->first;
	enum verdict verdict = judge_range(judge, source, token, count, NULL, 0, 0);
	enum symbol_pragma form = directive_over(judge, source, statement);

	if (form != SYMBOL_PRAGMA_NONE && !directive_spares(judge, form, source, token, count)) {
		snprintf(judge->reason, SYMBOL_REASON_MAX,
			 "a directive makes its statement atomic");
		return SYMBOL_ATOMICITY_MIXED;
	}
	if (verdict == DOUBTFUL)
		return judge->may_be_atomic ? SYMBOL_ATOMICITY_MIXED : SYMBOL_ATOMICITY_UNKNOWN;
	if (verdict == ATOMIC &&
	    (judge->has_pragma || !variable_is_outside(judge, source, token, count))) {
		snprintf(judge->reason, SYMBOL_REASON_MAX, "its statement has an atomic operation");
		return SYMBOL_ATOMICITY_MIXED;
	}
	if (verdict == HARMLESS && !judge->has_value) {
		snprintf(judge->reason, SYMBOL_REASON_MAX, "its statement names no variable");
		return SYMBOL_ATOMICITY_UNKNOWN;
	}
	if (is_lent(judge, source, statement))
		return SYMBOL_ATOMICITY_MIXED;
	if (judge->hides_atomic && judge->macros->incomplete) {
		snprintf(judge->reason, SYMBOL_REASON_MAX,
			 "a header was not found, and it may declare this _Atomic");
		return SYMBOL_ATOMICITY_UNKNOWN;
	}
	if (judge->has_volatile || (judge->variable && judge->variable->is_volatile))
		return judge_volatile(judge, source);
	snprintf(judge->reason, SYMBOL_REASON_MAX,
		 "line %u of the source is a plain access, and nothing in it is atomic",
		 judge->line);
	return SYMBOL_ATOMICITY_PLAIN;
}

static const char *unusable(const struct symbol_object *object, const struct symbol_frame *frame,
			    const struct symbol_source *source,
			    const struct symbol_source_hint *hint)
{
	if (!frame->file || frame->line == 0)
		return "no line information";
	if (!source || !source->text)
		return "its source cannot be read";
	if (source->given && !symbol_source_fits(source->text, source->length, hint))
		return "its source is of another version";
	if (!source->given && object->modified && source->modified > object->modified) {
		symbol_count(object->session, SYMBOL_STATISTIC_SOURCES_NEWER);
		return "its source changed after the build";
	}
	return NULL;
}

/*
 * Code that the compiler made up has no line, and the one that is told is that of the code before
 * it. It is part of what stands there, as the LOCK CMPXCHG of a loop is that LLVM makes of an
 * atomic addition to a double; or of what stands behind. So an atomic statement makes it doubtful,
 * and a plain one tells nothing.
 */
static enum symbol_atomicity judge_without_line(struct judge *judge,
						const struct symbol_source *source,
						const struct symbol_statement *statement)
{
	enum symbol_atomicity answer = judge_statement(judge, source, statement);

	if (answer == SYMBOL_ATOMICITY_ATOMIC || answer == SYMBOL_ATOMICITY_MIXED)
		return answer;
	snprintf(judge->reason, SYMBOL_REASON_MAX, "made up by the compiler");
	return SYMBOL_ATOMICITY_UNKNOWN;
}

enum symbol_atomicity symbol_evidence_from_source(struct symbol_object *object, uint64_t address,
						  const struct symbol_frame *frame,
						  const struct symbol_variable *variable,
						  enum symbol_load load,
						  char reason[SYMBOL_REASON_MAX])
{
	const struct symbol_source_hint hint = {frame->line, frame->function, frame->function_line};
	struct symbol_source *source =
		frame->file ? symbol_source_find(object->session, frame->file, &hint) : NULL;
	const char *why = unusable(object, frame, source, &hint);
	const struct symbol_tokens *tokens = why ? NULL : symbol_source_tokens(source);
	struct judge judge = {.object = object,
			      .variable = variable,
			      .load = load,
			      .line = frame->line,
			      .reason = reason};
	struct symbol_statement statement;
	Dwarf_Die die;

	judge.unit = symbol_units_find(object, address);
	if (!why && (!judge.unit || symbol_unit_root(judge.unit, &die) < 0))
		why = "no debug information";
	if (!why && !symbol_language_is_read(&die))
		why = "its language is not known here";
	if (!why &&
	    (!tokens || symbol_statement_find(tokens, frame->line, frame->column, &statement) < 0))
		why = "its line has no statement";
	if (why) {
		snprintf(reason, SYMBOL_REASON_MAX, "%s", why);
		return SYMBOL_ATOMICITY_UNKNOWN;
	}
	judge.rust = symbol_language_is_rust(&die);
	judge.hides_atomic = symbol_language_hides_atomic(&die);
	judge.function_known = symbol_unit_function(judge.unit, address, &judge.function) == 0;
	judge.function_shown = judge.function_known && !frame->inlined;
	judge.macros = symbol_unit_macros(object->session, judge.unit, &die);
	if (!judge.macros) {
		snprintf(reason, SYMBOL_REASON_MAX, "out of memory");
		return SYMBOL_ATOMICITY_UNKNOWN;
	}
	judge.pragmas = symbol_pragma_heeded(symbol_die_producer(&die));
	return frame->line_guessed ? judge_without_line(&judge, source, &statement)
				   : judge_statement(&judge, source, &statement);
}
