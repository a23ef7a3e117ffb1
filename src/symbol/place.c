/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/place.h"

#include "dwarf/die.h"
#include "dwarf/unit.h"
#include "elf/names.h"
#include "elf/object.h"
#include "mangling/demangle.h"
#include "session/asking.h"
#include "session/session.h"
#include "symbol/place_cache.h"
#include "symbol/variant.h"

#include <dwarf.h>
#include <limits.h>
#include <string.h>

/* The function with code of its own at [0], then the inlined ones, inwards. */
struct chain {
	Dwarf_Die die[SYMBOL_INLINE_MAX];
	unsigned count;
};

static bool is_scope(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine ||
	       tag == DW_TAG_try_block || tag == DW_TAG_catch_block || tag == DW_TAG_with_stmt;
}

/* The child scope with code at `address`; false if there is none. */
static bool find_scope(Dwarf_Die *parent, uint64_t address, Dwarf_Die *scope)
{
	if (dwarf_child(parent, scope) != 0)
		return false;
	do {
		if (is_scope(dwarf_tag(scope)) && dwarf_haspc(scope, address) == 1)
			return true;
	} while (dwarf_siblingof(scope, scope) == 0);
	return false;
}

static void find_chain(Dwarf_Die *function, uint64_t address, struct chain *chain)
{
	Dwarf_Die scope, parent = *function;

	chain->die[0] = *function;
	chain->count = 1;
	for (unsigned depth = 0; depth < 4 * SYMBOL_INLINE_MAX; depth++) {
		if (!find_scope(&parent, address, &scope))
			break;
		if (dwarf_tag(&scope) == DW_TAG_inlined_subroutine &&
		    chain->count < SYMBOL_INLINE_MAX)
			chain->die[chain->count++] = scope;
		parent = scope;
	}
}

static void set_name(struct symbol_session *session, const char *name, const char *linkage,
		     struct symbol_frame *frame)
{
	char text[SYMBOL_DEMANGLED_MAX];

	frame->linkage = symbol_keep(session, linkage ? linkage : name);
	if (linkage && symbol_demangle(linkage, text, sizeof(text)) == 0)
		frame->function = symbol_keep(session, text);
	else if (name)
		frame->function = symbol_keep(session, name);
	else
		frame->function = frame->linkage;
}

static void set_file(struct symbol_session *session, Dwarf_Die *unit, const char *file,
		     struct symbol_frame *frame)
{
	char path[PATH_MAX];

	if (!file)
		return;
	symbol_die_absolute(unit, file, path, sizeof(path));
	frame->file = symbol_keep(session, path);
}

/* Code that the compiler made up has line 0: takes the nearest line before it in the same
 * function. */
static Dwarf_Line *real_line(Dwarf_Lines *lines, Dwarf_Line *line, uint64_t function_low,
			     int *number)
{
	size_t count = 0, index = 0;
	Dwarf_Addr address;

	if (dwarf_lineno(line, number) != 0)
		return NULL;
	if (*number)
		return line;
	while (dwarf_onesrcline(lines, count))
		if (dwarf_onesrcline(lines, count++) == line)
			index = count - 1;
	while (index-- > 0) {
		Dwarf_Line *earlier = dwarf_onesrcline(lines, index);

		if (dwarf_lineaddr(earlier, &address) != 0 || address < function_low)
			break;
		if (dwarf_lineno(earlier, number) == 0 && *number)
			return earlier;
	}
	*number = 0;
	return line;
}

static void set_line(struct symbol_session *session, Dwarf_Die *unit, uint64_t address,
		     uint64_t function_low, struct symbol_frame *frame)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address), *real;
	Dwarf_Lines *lines;
	size_t count;
	int number = 0, column = 0;

	if (!line || dwarf_getsrclines(unit, &lines, &count) != 0)
		return;
	real = real_line(lines, line, function_low, &number);
	if (!real || number == 0)
		return;
	set_file(session, unit, dwarf_linesrc(real, NULL, NULL), frame);
	dwarf_linecol(real, &column);
	frame->line = (unsigned)number;
	frame->column = column > 0 ? (unsigned)column : 0;
	frame->line_guessed = real != line;
}

/* The frame around an inlined function is at the place where that was called. */
static void set_call_site(struct symbol_session *session, Dwarf_Die *unit, Dwarf_Die *inlined,
			  struct symbol_frame *frame)
{
	uint64_t file = symbol_die_value(inlined, DW_AT_call_file, UINT64_MAX);
	Dwarf_Files *files;
	size_t count;

	frame->line = (unsigned)symbol_die_value(inlined, DW_AT_call_line, 0);
	frame->column = (unsigned)symbol_die_value(inlined, DW_AT_call_column, 0);
	if (file != UINT64_MAX && dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
		set_file(session, unit, dwarf_filesrc(files, file, NULL, NULL), frame);
}

static unsigned declared_line(Dwarf_Die *function)
{
	int line;

	return dwarf_decl_line(function, &line) == 0 && line > 0 ? (unsigned)line : 0;
}

static size_t find_by_dwarf(struct symbol_object *object, uint64_t address,
			    struct symbol_frame *frames)
{
	struct symbol_unit *unit = symbol_units_find(object, address);
	struct chain chain = {.count = 0};
	Dwarf_Die unit_die, root, function;
	Dwarf_Addr low = 0, entry = 0, end;
	bool entered = false; /* the address is in the part that is entered, not in a cold one */
	size_t count;

	if (!unit || symbol_unit_die(object, unit, &unit_die) < 0 ||
	    symbol_unit_root(unit, &root) < 0)
		return 0;
	/* Assemblers describe labels as functions; the symbol table knows their proper names. */
	if (dwarf_srclang(&root) != DW_LANG_Mips_Assembler &&
	    symbol_unit_function(unit, address, &function) == 0) {
		find_chain(&function, address, &chain);
		if (symbol_die_part(&function, address, &low, &end) < 0)
			low = address;
		entered = symbol_die_entry(&function, &entry, &end) == 0 && entry >= low &&
			  entry <= address;
	}
	count = chain.count ? chain.count : 1;
	set_line(object->session, &unit_die, address, low, &frames[0]);
	for (unsigned i = 0; i < chain.count; i++) {
		Dwarf_Die *die = &chain.die[chain.count - 1 - i];

		set_name(object->session, symbol_die_name(die), symbol_die_linkage(die),
			 &frames[i]);
		frames[i].function_line = declared_line(die);
		frames[i].inlined = i + 1 < chain.count;
		if (frames[i].inlined)
			set_call_site(object->session, &root, die, &frames[i + 1]);
	}
	if (chain.count)
		frames[count - 1].function_offset = entered ? address - entry
							    : SYMBOL_OFFSET_UNKNOWN;
	return count;
}

/* Takes the symbol tables' name where debug information has none for the outermost frame. */
static void find_by_table(struct symbol_object *object, uint64_t address,
			  struct symbol_frame *frame)
{
	const struct symbol_names *names = symbol_object_names(object);
	const struct symbol_name *name = names ? symbol_names_find(names, SYMBOL_NAME_CODE, address)
					       : NULL;

	if (!name)
		return;
	set_name(object->session, NULL, name->name, frame);
	frame->function_offset = address - name->address;
}

static size_t find_in_object(struct symbol_object *object, uint64_t address,
			     struct symbol_frame *frames)
{
	const struct symbol_place_entry *known = symbol_place_cache_find(object->places, address);
	size_t count;

	if (known) {
		symbol_count(object->session, SYMBOL_STATISTIC_PLACES_CACHED);
		memcpy(frames, known->frames, known->count * sizeof(*frames));
		return known->count;
	}
	memset(frames, 0, SYMBOL_INLINE_MAX * sizeof(*frames));
	count = find_by_dwarf(object, address, frames);
	if (count == 0)
		count = 1;
	if (!frames[count - 1].function)
		find_by_table(object, address, &frames[count - 1]);
	if (!frames[count - 1].function)
		symbol_count(object->session, SYMBOL_STATISTIC_PLACES_UNNAMED);
	object->places_free = symbol_place_cache_free;
	if (symbol_place_cache_add(&object->places, address, frames, count))
		symbol_count(object->session, SYMBOL_STATISTIC_CACHE_FLUSHES);
	return count;
}

size_t symbol_place_find(struct symbol_modules *modules, uint64_t pc, bool return_address,
			 struct symbol_frame *frames, size_t max)
{
	struct symbol_session *session = symbol_modules_session(modules);
	uint64_t address = pc - (return_address && pc > 0);
	struct symbol_frame found[SYMBOL_INLINE_MAX] = {0};
	const struct symbol_module *module;
	struct symbol_object *object;
	size_t count = 1;

	if (SYMBOL_ASK(symbol_modules_session(modules), place, modules, pc, return_address, frames,
		       max, &count))
		return count;
	module = symbol_modules_find(modules, address);
	object = module ? symbol_module_object(modules, module) : NULL;
	symbol_count(session, SYMBOL_STATISTIC_PLACES);
	if (object)
		count = find_in_object(object, address - module->bias, found);
	if (object && !found[count - 1].function && symbol_variants_learn(modules, module)) {
		symbol_place_cache_free(object->places);
		object->places = NULL;
		count = find_in_object(object, address - module->bias, found);
	}
	if (!object)
		symbol_count(session, SYMBOL_STATISTIC_PLACES_OUTSIDE);
	/* If there are too many frames the outermost are left out: their names are the least
	 * informative. */
	if (count > max)
		count = max;
	for (size_t i = 0; i < count; i++) {
		frames[i] = found[i];
		frames[i].pc = pc;
		frames[i].module = module ? module->path : NULL;
		frames[i].build_id = module ? module->build_id_text : "";
		frames[i].module_offset = module ? pc - module->bias : 0;
		if (!frames[i].inlined && return_address && frames[i].function &&
		    frames[i].function_offset != SYMBOL_OFFSET_UNKNOWN)
			frames[i].function_offset++;
	}
	return count;
}
