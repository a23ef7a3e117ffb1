/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/lookup.h"

#include "base/path.h"

#include "dwarf/die.h"
#include "dwarf/line.h"
#include "dwarf/type.h"
#include "dwarf/unit.h"
#include "elf/names.h"
#include "elf/object.h"
#include "mangling/demangle.h"
#include "session/asking.h"
#include "symbol/dynamic.h"
#include "symbol/near.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Entities of one name that are looked at, at most: static functions of headers can be many. */
#define SAME_NAME_MAX 4096

static bool is_module(const struct symbol_module *module, const char *qualifier)
{
	const char *base = path_name(module->path);
	size_t length = strlen(qualifier);

	if (symbol_line_same_file(module->path, qualifier))
		return true;
	/* "libfoo.so" for libfoo.so.1.2 */
	return strncmp(base, qualifier, length) == 0 && base[length] == '.' &&
	       strstr(qualifier, ".so");
}

static bool is_file(struct symbol_object *object, const struct symbol_entity *entity,
		    const char *qualifier)
{
	char path[PATH_MAX];
	unsigned line;
	Dwarf_Die die;

	return symbol_entity_die(object->units, entity, &die) == 0 &&
	       symbol_die_declared(&die, path, sizeof(path), &line) &&
	       symbol_line_same_file(path, qualifier);
}

static const char *last_part(const char *name)
{
	const char *colon;

	while ((colon = strstr(name, "::")))
		name = colon + 2;
	return name;
}

#define NO_NAME "(anonymous namespace)"
#define OPERATOR "operator"

static bool is_of_identifier(char character)
{
	return isalnum((unsigned char)character) || character == '_';
}

static bool is_operator(const char *text, size_t at)
{
	return strncmp(text + at, OPERATOR, strlen(OPERATOR)) == 0 &&
	       (!at || !is_of_identifier(text[at - 1]));
}

/* The length of a demangled name without its parameters. */
static size_t without_parameters(const char *text)
{
	size_t i = 0;
	unsigned depth = 0; /* how many "<" of templates' arguments are open */

	while (text[i] && (text[i] != '(' || depth)) {
		if (is_operator(text, i)) {
			i += strlen(OPERATOR);
			i += strncmp(text + i, "()", 2) == 0 ? 2 : strspn(text + i, "<=>-");
			continue;
		}
		depth += text[i] == '<';
		depth -= text[i] == '>' && depth;
		i++;
		if (!depth && strncmp(text + i, NO_NAME, strlen(NO_NAME)) == 0)
			i += strlen(NO_NAME);
	}
	return i;
}

/* The length without the arguments of a template that the name ends with. */
static size_t without_arguments(const char *text, size_t length)
{
	unsigned depth = 0;
	size_t i = length;

	if (!length || text[length - 1] != '>')
		return length;
	while (i) {
		i--;
		depth += text[i] == '>';
		depth -= text[i] == '<';
		if (!depth)
			return i;
	}
	return length;
}

/* `text`: a demangled name from its parameters on. Does it name something within the function, as a
 * lambda, a function of a local class, or a static local variable? */
static bool is_within(const char *text)
{
	unsigned depth = 0;

	if (*text != '(')
		return false;
	do {
		depth += *text == '(';
		depth -= *text == ')';
		text++;
	} while (*text && depth);
	/* Behind a method's parameters may stand const, volatile, & and &&. */
	text += strspn(text, " &constvaile");
	return strncmp(text, "::", 2) == 0;
}

/* Is it something that compilers make for another entity and name after it? */
static bool is_made_for_another(const char *text)
{
	static const char *const beginnings[] = {"non-virtual thunk to ",
						 "virtual thunk to ",
						 "covariant return thunk to ",
						 "guard variable for ",
						 "vtable for ",
						 "VTT for ",
						 "construction vtable for ",
						 "typeinfo for ",
						 "typeinfo name for ",
						 "reference temporary #",
						 "TLS wrapper function for ",
						 "TLS init function for "};

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (strncmp(text, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

/* What stands behind the last "::" that is not in a template's arguments. */
static const char *last_identifier(const char *name)
{
	const char *last = name;
	unsigned depth = 0;

	for (; *name; name++) {
		depth += *name == '<';
		depth -= *name == '>' && depth;
		if (!depth && name[0] == ':' && name[1] == ':')
			last = name + 2;
	}
	return last;
}

/* May the linkage name be that of `name`? Demangling takes long, and linkage names have identifiers
 * as they are: one that lacks the last identifier of `name` need not be demangled. Operators,
 * destructors and the abbreviated constructors of std::string and its like are written otherwise
 * there. */
static bool may_be(const char *linkage, const char *name)
{
	const char *last = last_identifier(name);
	size_t length = 0;

	if (is_operator(last, 0) || (strncmp(linkage, "_ZNS", 4) == 0 && linkage[4] != 't'))
		return true;
	while (is_of_identifier(last[length]))
		length++;
	return !length || memmem(linkage, strlen(linkage), last, length);
}

/* Does the linkage name, demangled and without parameters, end with `name`, of which outer scopes
 * may be missing? A part of a function that the compiler put elsewhere does not count. */
static bool is_scoped(const char *linkage, const char *name)
{
	char text[SYMBOL_DEMANGLED_MAX];
	size_t length = strlen(name), whole;
	const char *at;

	if (!linkage || strstr(linkage, ".cold") || !length || !may_be(linkage, name) ||
	    symbol_demangle(linkage, text, sizeof(text)) < 0)
		return false;
	if (strncmp(text, NO_NAME, strlen(NO_NAME)) == 0)
		whole = strlen(NO_NAME) + without_parameters(text + strlen(NO_NAME));
	else
		whole = without_parameters(text);
	if (is_within(text + whole))
		return false;
	if (name[length - 1] != '>')
		whole = without_arguments(text, whole);
	at = whole >= length ? text + whole - length : NULL;
	return at && strncmp(at, name, length) == 0 &&
	       (at == text || ((at[-1] == ':' || at[-1] == ' ') && !is_made_for_another(text)));
}

static void add_overload(struct symbol_found *found, uint64_t address)
{
	unsigned i = 0;

	while (i < SYMBOL_OVERLOADS && found->overload[i] && found->overload[i] != address)
		i++;
	if (i < SYMBOL_OVERLOADS)
		found->overload[i] = address;
}

static void fill_entity(struct symbol_object *object, const struct symbol_module *module,
			const struct symbol_entity *entity, struct symbol_found *found)
{
	Dwarf_Die die;
	Dwarf_Addr low, high;

	memset(found, 0, sizeof(*found));
	found->module = module;
	found->function = entity->function;
	found->tls = entity->tls;
	found->address = entity->address + (entity->tls ? 0 : module->bias);
	found->size = entity->size;
	if (symbol_entity_die(object->units, entity, &die) < 0)
		return;
	if (!entity->function)
		found->typed = symbol_die_type(&die, &found->type) == 0;
	else if (symbol_die_entry(&die, &low, &high) == 0 && high > entity->address)
		found->size = high - entity->address;
}

#define OTHERS_SHOWN 3

/* Static entities of one name in several files. Copies of one from a header count as one: all have
 * the header as their file. */
struct homonyms {
	char meant[PATH_MAX]; /* file of the one that is taken */
	char others[SYMBOL_ERROR_MAX / 2];
	unsigned count; /* how many others there are */
};

static bool file_of(struct symbol_object *object, const struct symbol_entity *entity,
		    char path[PATH_MAX])
{
	unsigned line;
	Dwarf_Die die;

	return symbol_entity_die(object->units, entity, &die) == 0 &&
	       symbol_die_declared(&die, path, PATH_MAX, &line);
}

static void add_homonym(struct homonyms *homonyms, const char *path, const char *name)
{
	const char *shown = path_name(path);
	size_t used = strlen(homonyms->others);

	if (strcmp(shown, path_name(homonyms->meant)) == 0)
		shown = path;
	if (homonyms->count++ < OTHERS_SHOWN)
		snprintf(homonyms->others + used, sizeof(homonyms->others) - used, "%s%.80s:%.80s",
			 used ? ", " : "", shown, name);
}

static void note_homonyms(struct symbol_object *object, const struct symbol_entity *best,
			  const char *name, char note[SYMBOL_ERROR_MAX])
{
	struct homonyms homonyms = {.count = 0};
	const struct symbol_entity *entity;
	char path[PATH_MAX];

	if (best->external || !file_of(object, best, homonyms.meant))
		return;
	for (size_t i = 0; i < SAME_NAME_MAX; i++) {
		entity = symbol_units_lookup(object->units, name, i);
		if (!entity)
			break;
		if (entity != best && entity->function == best->function && !entity->external &&
		    file_of(object, entity, path) && strcmp(path, homonyms.meant) != 0)
			add_homonym(&homonyms, path, name);
	}
	if (homonyms.count)
		snprintf(note, SYMBOL_ERROR_MAX, "that of %.100s is meant; %u other%s: %s%s",
			 path_name(homonyms.meant), homonyms.count, homonyms.count == 1 ? "" : "s",
			 homonyms.others, homonyms.count > OTHERS_SHOWN ? ", …" : "");
}

/* A variable is preferred to a function, and among equals one that other files can see, which is
 * sorted first. */
static bool find_entity(struct symbol_object *object, const struct symbol_module *module,
			const char *file, const char *name, struct symbol_found *found,
			char note[SYMBOL_ERROR_MAX])
{
	const char *last = last_part(name);
	const struct symbol_entity *best = NULL, *entity;
	struct symbol_found functions = {.module = module};

	if (symbol_units_index_all(object) < 0)
		return false;
	for (size_t i = 0; i < SAME_NAME_MAX; i++) {
		entity = symbol_units_lookup(object->units, last, i);
		if (!entity)
			break;
		if ((file && !is_file(object, entity, file)) ||
		    (last != name && !is_scoped(entity->linkage, name)))
			continue;
		if (entity->function && entity->address)
			add_overload(&functions, entity->address + module->bias);
		if (!best || (best->function && !entity->function))
			best = entity;
	}
	if (!best)
		return false;
	if (!file && last == name)
		note_homonyms(object, best, name, note);
	fill_entity(object, module, best, found);
	if (best->function)
		memcpy(found->overload, functions.overload, sizeof(functions.overload));
	return true;
}

static void fill_name(const struct symbol_module *module, const struct symbol_name *name,
		      struct symbol_found *found)
{
	*found = (struct symbol_found){
		.module = module,
		.address = name->address + (name->kind == SYMBOL_NAME_TLS ? 0 : module->bias),
		.size = name->size,
		.function = name->kind == SYMBOL_NAME_CODE,
		.tls = name->kind == SYMBOL_NAME_TLS,
	};
}

/* Compares names as people write them, so each is demangled. */
static bool find_written(struct symbol_object *object, const struct symbol_module *module,
			 const char *text, struct symbol_found *found)
{
	const struct symbol_names *names = symbol_object_names(object);
	bool any = false;

	for (size_t i = 0; names && i < names->first[SYMBOL_NAME_UNDEFINED]; i++) {
		const struct symbol_name *name = &names->name[i];

		if (!is_scoped(name->name, text))
			continue;
		if (!any)
			fill_name(module, name, found);
		any = true;
		if (!found->function)
			return true;
		if (name->kind == SYMBOL_NAME_CODE)
			add_overload(found, name->address + module->bias);
	}
	return any;
}

static bool find_name(struct symbol_object *object, const struct symbol_module *module,
		      const char *text, struct symbol_found *found)
{
	const struct symbol_names *names = symbol_object_names(object);
	const struct symbol_name *name;

	if (!names)
		return false;
	for (size_t i = 0; (name = symbol_names_lookup(names, text, i)); i++)
		if (name->kind != SYMBOL_NAME_UNDEFINED) {
			fill_name(module, name, found);
			return true;
		}
	return strstr(text, "::") && find_written(object, module, text, found);
}

static void offer_all(struct symbol_object *object, struct symbol_near *near)
{
	const struct symbol_names *names = symbol_object_names(object);

	if (symbol_units_index_all(object) == 0)
		for (size_t i = 0; i < object->units->named_count; i++)
			symbol_near_offer(near, object->units->named[i]->name);
	for (size_t i = 0; names && i < names->first[SYMBOL_NAME_UNDEFINED]; i++)
		symbol_near_offer(near, names->name[i].name);
}

static int not_found(struct symbol_modules *modules, const char *qualifier, const char *name,
		     bool module_seen, char *error)
{
	struct symbol_near near = {.wanted = last_part(name)};
	const struct symbol_module *module;
	char text[SYMBOL_ERROR_MAX / 2];

	for (size_t i = 0; (module = symbol_modules_at(modules, i)); i++) {
		struct symbol_object *object = symbol_module_object(modules, module);

		if (object && !module->gone && (!module_seen || is_module(module, qualifier)))
			offer_all(object, &near);
	}
	symbol_near_format(&near, text, sizeof(text));
	snprintf(error, SYMBOL_ERROR_MAX, "nothing called '%.100s' %s%.100s%s%s", name,
		 qualifier ? "in '" : "is loaded", qualifier ? qualifier : "", qualifier ? "'" : "",
		 text);
	return module_seen ? -ENOENT : -EAGAIN;
}

/* If a library's variable lives in the program (symbol_dynamic_bound()), takes that address. */
static void use_copy(struct symbol_modules *modules, struct symbol_found *found)
{
	struct symbol_object *library = symbol_module_object(modules, found->module);
	uint64_t own = found->address - found->module->bias, bound;
	const struct symbol_module *module;

	if (found->function || found->tls || symbol_modules_is_main(modules, found->module))
		return;
	for (size_t i = 0; (module = symbol_modules_at(modules, i)); i++) {
		struct symbol_object *program = NULL;

		if (!module->gone && symbol_modules_is_main(modules, module))
			program = symbol_module_object(modules, module);
		if (!program || !symbol_dynamic_bound(library, own, program, &bound))
			continue;
		found->module = module;
		found->address = bound + module->bias;
		return;
	}
}

/* Prefers the program's own variable, though it has no debug information, to that of a library that
 * has some. */
static void prefer_program(struct symbol_modules *modules, const char *name,
			   struct symbol_found *found)
{
	const struct symbol_module *module;
	struct symbol_object *program;

	for (size_t i = 0; (module = symbol_modules_at(modules, i)); i++) {
		if (module->gone || !symbol_modules_is_main(modules, module))
			continue;
		program = symbol_module_object(modules, module);
		if (module == found->module || (program && find_name(program, module, name, found)))
			return;
	}
}

int symbol_lookup(struct symbol_modules *modules, const char *qualifier, const char *name,
		  struct symbol_found *found, char error[SYMBOL_ERROR_MAX])
{
	const struct symbol_module *module;
	bool module_seen = false;
	int result;

	if (SYMBOL_ASK(symbol_modules_session(modules), lookup, modules, qualifier, name, found,
		       error, &result))
		return result;
	for (size_t i = 0; qualifier && (module = symbol_modules_at(modules, i)); i++)
		module_seen |= !module->gone && is_module(module, qualifier);
	error[0] = '\0';
	/* Debug information of all modules is asked first, since it has types. */
	for (int pass = 0; pass < 3; pass++) {
		for (size_t i = 0; (module = symbol_modules_at(modules, i)); i++) {
			struct symbol_object *object = symbol_module_object(modules, module);

			if (!object || module->gone ||
			    (module_seen && !is_module(module, qualifier)))
				continue;
			if (pass == 0 && find_entity(object, module, module_seen ? NULL : qualifier,
						     name, found, error)) {
				use_copy(modules, found);
				if (!qualifier)
					prefer_program(modules, name, found);
				return 0;
			}
			if (pass && (module_seen || !qualifier) &&
			    (pass == 1 ? find_name : find_written)(object, module, name, found)) {
				use_copy(modules, found);
				return 0;
			}
		}
	}
	return not_found(modules, qualifier, name, module_seen, error);
}
