/* SPDX-License-Identifier: Apache-2.0 */
#include "atomicity/macro.h"

#include "dwarf/die.h"
#include "session/asker.h"
#include "session/session.h"
#include "source/pragma.h"

#include <dwarf.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES_MAX 1024
#define DIRECTORIES_MAX 256

struct search {
	struct symbol_session *session;
	struct symbol_macros *macros;
	const char *directory[DIRECTORIES_MAX]; /* owned by the session */
	size_t directory_count;
};

const struct symbol_tokens *symbol_source_tokens(struct symbol_source *source)
{
	if (!source->tokens && source->text)
		source->tokens = symbol_tokens_read(source->text, source->length);
	return source->tokens;
}

static void add_directory(struct search *search, Dwarf_Die *die, const char *directory)
{
	char path[PATH_MAX];
	const char *kept;

	if (!directory || search->directory_count == DIRECTORIES_MAX)
		return;
	symbol_die_absolute(die, directory, path, sizeof(path));
	kept = symbol_keep(search->session, path);
	for (size_t i = 0; i < search->directory_count; i++)
		if (search->directory[i] == kept)
			return;
	search->directory[search->directory_count++] = kept;
}

/* "room/file.h" was found below a directory that has no file of its own in the table. */
static void add_parent(struct search *search, Dwarf_Die *die, const char *directory)
{
	char path[PATH_MAX];

	if (directory && snprintf(path, sizeof(path), "%s/..", directory) < (int)sizeof(path))
		add_directory(search, die, path);
}

/* Where compilers look by themselves, on this machine. */
static struct {
	bool looked;
	glob_t found;
} compilers;

void symbol_macros_prepare(void)
{
	static const char *const patterns[] = {"/usr/include",
					       "/usr/include/x86_64-linux-gnu",
					       "/usr/local/include",
					       "/usr/lib/gcc/*/*/include",
					       "/usr/lib/llvm-*/lib/clang/*/include",
					       "/usr/include/c++/*",
					       "/usr/include/x86_64-linux-gnu/c++/*"};

	if (compilers.looked)
		return;
	compilers.looked = true;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		glob(patterns[i], GLOB_APPEND, NULL, &compilers.found);
}

static void add_compiler_directories(struct search *search, Dwarf_Die *die)
{
	symbol_macros_prepare();
	for (size_t i = 0; i < compilers.found.gl_pathc; i++)
		add_directory(search, die, compilers.found.gl_pathv[i]);
}

/* Directories of the line table: those of -I that gave code or declarations. */
static void add_directories(struct search *search, Dwarf_Die *die)
{
	const char *const *directories;
	Dwarf_Files *files;
	size_t count, directory_count;

	add_directory(search, die, ".");
	if (dwarf_getsrcfiles(die, &files, &count) == 0 &&
	    dwarf_getsrcdirs(files, &directories, &directory_count) == 0)
		for (size_t i = 0; i < directory_count; i++) {
			add_directory(search, die, directories[i]);
			add_parent(search, die, directories[i]);
		}
	add_compiler_directories(search, die);
}

static bool known(const struct symbol_macros *macros, const struct symbol_source *source)
{
	for (size_t i = 0; i < macros->count; i++)
		if (macros->source[i] == source)
			return true;
	return false;
}

static bool add_source(struct search *search, const char *path)
{
	static const struct symbol_source_hint any = {0};
	struct symbol_macros *macros = search->macros;
	struct symbol_source *source;

	if (macros->count == FILES_MAX)
		return false;
	source = symbol_source_find(search->session, path, &any);
	if (!source || !source->text)
		return false;
	if (!known(macros, source))
		macros->source[macros->count++] = source;
	return true;
}

/* Which of the directories have the file. */
static void look_for(const struct symbol_session *session, const char *const *directories,
		     size_t count, const char *name, bool *present)
{
	char path[PATH_MAX];

	if (session->asker) {
		session->asker->present(directories, count, name, present);
		return;
	}
	for (size_t i = 0; i < count; i++)
		present[i] = snprintf(path, sizeof(path), "%s/%s", directories[i], name) <
				     (int)sizeof(path) &&
			     access(path, R_OK) == 0;
}

static bool include(struct search *search, const char *directory, const char *name)
{
	char path[PATH_MAX];

	return snprintf(path, sizeof(path), "%s/%s", directory, name) < (int)sizeof(path) &&
	       add_source(search, path);
}

/* The directories are a guess at what -I named, so each file of that name is read: a definition too
 * many makes an access unknown, one too few could make it plain. */
static bool find_include(struct search *search, const struct symbol_source *from, const char *name)
{
	const char *directories[DIRECTORIES_MAX + 1], *slash = strrchr(from->opened, '/');
	bool present[DIRECTORIES_MAX + 1], found = false;
	char own[PATH_MAX];
	size_t count = 0;

	if (name[0] == '/')
		return add_source(search, name);
	if (slash && snprintf(own, sizeof(own), "%.*s", (int)(slash - from->opened), from->opened) <
			     (int)sizeof(own))
		directories[count++] = own;
	for (size_t i = 0; i < search->directory_count; i++)
		if (search->directory[i])
			directories[count++] = search->directory[i];
	look_for(search->session, directories, count, name, present);
	for (size_t i = 0; i < count; i++)
		if (present[i])
			found |= include(search, directories[i], name);
	/* Given sources stand elsewhere than the directories that were recorded. */
	return found || (search->session->source_directories[0] && add_source(search, name));
}

/* The name between quotes or angle brackets; false for a computed include. */
static bool included_name(const struct symbol_source *source, const struct symbol_tokens *tokens,
			  const struct symbol_directive *directive, char *name, size_t size)
{
	const struct symbol_token *first = &tokens->directive_token[directive->first];
	const char *text = source->text + first->start + 1;
	size_t length;

	if (directive->count == 0)
		return false;
	if (first->kind == SYMBOL_TOKEN_TEXT && first->length > 2)
		length = first->length - 2;
	else if (first->mark == '<')
		length = strcspn(text, ">\n");
	else
		return false;
	if (length >= size)
		return false;
	memcpy(name, text, length);
	name[length] = 0;
	return true;
}

/* Headers of the system name many that other systems have, under conditions. */
static bool is_programs(const struct symbol_source *source)
{
	static const char system[] = "/usr/";

	return strncmp(source->opened, system, strlen(system)) != 0;
}

static void read_includes(struct search *search, struct symbol_source *source)
{
	const struct symbol_tokens *tokens = symbol_source_tokens(source);
	char name[PATH_MAX];

	for (size_t i = 0; tokens && i < tokens->directive_count; i++) {
		const struct symbol_directive *directive = &tokens->directive[i];

		if (directive->kind != 'i')
			continue;
		if (!included_name(source, tokens, directive, name, sizeof(name)) ||
		    !find_include(search, source, name))
			search->macros->incomplete |= is_programs(source);
	}
}

static void macros_free(struct symbol_macros *macros)
{
	if (macros->bodies)
		macros->bodies_free(macros->bodies);
	if (macros->declared)
		macros->declared_free(macros->declared);
	free(macros->source);
	free(macros);
}

struct symbol_macros *symbol_unit_macros(struct symbol_session *session, struct symbol_unit *unit,
					 Dwarf_Die *die)
{
	struct search search = {.session = session};
	const char *name = symbol_die_name(die);
	char path[PATH_MAX];

	if (unit->macros)
		return unit->macros;
	unit->macros_free = macros_free;
	unit->macros = search.macros = calloc(1, sizeof(*unit->macros));
	if (!unit->macros)
		return NULL;
	unit->macros->source = calloc(FILES_MAX, sizeof(struct symbol_source *));
	if (!unit->macros->source || !name)
		return unit->macros;
	symbol_die_absolute(die, name, path, sizeof(path));
	add_directories(&search, die);
	add_source(&search, path);
	for (size_t i = 0; i < unit->macros->count; i++)
		read_includes(&search, unit->macros->source[i]);
	return unit->macros;
}

static bool names_macro(const struct symbol_source *source,
			const struct symbol_directive *directive, const char *name, size_t length)
{
	const struct symbol_token *token;

	if (directive->kind != 'd' || directive->count == 0)
		return false;
	token = &source->tokens->directive_token[directive->first];
	return token->length == length && memcmp(source->text + token->start, name, length) == 0;
}

bool symbol_macros_next(const struct symbol_macros *macros, const char *name, size_t length,
			struct symbol_macro *macro)
{
	for (; macro->next_source < macros->count;
	     macro->next_source++, macro->next_directive = 0) {
		struct symbol_source *source = macros->source[macro->next_source];
		const struct symbol_tokens *tokens = symbol_source_tokens(source);

		while (tokens && macro->next_directive < tokens->directive_count) {
			const struct symbol_directive *directive =
				&tokens->directive[macro->next_directive++];

			if (!names_macro(source, directive, name, length))
				continue;
			macro->source = source;
			macro->directive = directive;
			return true;
		}
	}
	return false;
}

static bool holds_directive(struct symbol_source *source)
{
	const struct symbol_tokens *tokens = symbol_source_tokens(source);

	for (size_t i = 0; tokens && i < tokens->directive_count; i++) {
		const struct symbol_directive *directive = &tokens->directive[i];
		const struct symbol_token *token = &tokens->directive_token[directive->first];

		for (size_t j = 0; directive->kind == 'd' && j < directive->count; j++)
			if (symbol_pragma_here(source, token + j, directive->count - j))
				return true;
	}
	return false;
}

bool symbol_macros_hold_directives(struct symbol_macros *macros)
{
	if (!macros->searched)
		for (size_t i = 0; i < macros->count && !macros->directives; i++)
			macros->directives = holds_directive(macros->source[i]);
	macros->searched = true;
	return macros->directives;
}
