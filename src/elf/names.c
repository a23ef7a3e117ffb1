/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/names.h"

#include "elf/object.h"
#include "session/session.h"

#include <stdlib.h>
#include <string.h>

static int kind_of(const struct symbol_object *object, const GElf_Sym *symbol, GElf_Addr address)
{
	if (symbol->st_shndx == SHN_UNDEF)
		return SYMBOL_NAME_UNDEFINED;
	/* A number, not a place: the linker's version definitions are such. */
	if (symbol->st_shndx == SHN_ABS)
		return -1;
	switch (GELF_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return SYMBOL_NAME_CODE;
	case STT_OBJECT:
	case STT_COMMON:
		return SYMBOL_NAME_DATA;
	case STT_TLS:
		return SYMBOL_NAME_TLS;
	case STT_NOTYPE: /* labels of assembly code, and the linker's marks */
		return symbol_image_is_code(&object->image, address) ? SYMBOL_NAME_CODE : -1;
	default:
		return -1;
	}
}

static int compare_address(const void *a, const void *b)
{
	const struct symbol_name *x = a, *y = b;

	if (x->kind != y->kind)
		return x->kind - y->kind;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* The last of several at one address is found first: prefer stated sizes, then globals,
	 * then fewer leading underscores, then any fixed order. */
	if (!x->size != !y->size)
		return x->size ? 1 : -1;
	if (x->global != y->global)
		return x->global - y->global;
	if (strspn(x->name, "_") != strspn(y->name, "_"))
		return strspn(x->name, "_") > strspn(y->name, "_") ? -1 : 1;
	return -strcmp(x->name, y->name);
}

static const struct symbol_names
	*sorting; /* qsort() passes no argument; one thread, see session.h */

static int compare_name(const void *a, const void *b)
{
	const struct symbol_name *x = &sorting->name[*(const uint32_t *)a];
	const struct symbol_name *y = &sorting->name[*(const uint32_t *)b];
	int order = strcmp(x->name, y->name);

	return order ? order : (x > y) - (x < y);
}

/* `text` without a symbol version ("memcpy@@GLIBC_2.14"). */
static const char *keep_name(struct symbol_object *object, const char *text)
{
	const char *version = strchr(text, '@');
	const char *kept;
	char *copy;

	if (!version || version == text)
		return symbol_keep(object->session, text);
	copy = strndup(text, (size_t)(version - text));
	kept = copy ? symbol_keep(object->session, copy) : NULL;
	free(copy);
	return kept;
}

static void read_symbols(struct symbol_object *object, struct symbol_names *names, int total)
{
	for (int i = 1; i < total; i++) {
		GElf_Sym symbol;
		GElf_Addr address, bias;
		GElf_Word section;
		Elf *elf;
		const char *text = dwfl_module_getsym_info(object->module, i, &symbol, &address,
							   &section, &elf, &bias);
		int kind = text && *text ? kind_of(object, &symbol, address) : -1;

		if (kind < 0)
			continue;
		if (kind == SYMBOL_NAME_TLS)
			address = symbol.st_value;
		names->name[names->count] = (struct symbol_name){
			.address = address,
			.size = symbol.st_size,
			.name = keep_name(object, text),
			.kind = (uint8_t)kind,
			.global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL,
		};
		names->count += names->name[names->count].name != NULL;
	}
}

static void index_names(struct symbol_names *names)
{
	size_t at = 0;

	if (names->count)
		qsort(names->name, names->count, sizeof(*names->name), compare_address);
	for (int kind = 0; kind <= SYMBOL_NAME_KINDS; kind++) {
		while (at < names->count && names->name[at].kind < kind)
			at++;
		names->first[kind] = at;
	}
	names->order = malloc((names->count + 1) * sizeof(*names->order));
	if (!names->order)
		return;
	for (size_t i = 0; i < names->count; i++)
		names->order[i] = (uint32_t)i;
	sorting = names;
	qsort(names->order, names->count, sizeof(*names->order), compare_name);
}

const struct symbol_names *symbol_object_names(struct symbol_object *object)
{
	int total;

	if (object->names)
		return object->names;
	object->names = calloc(1, sizeof(*object->names));
	if (!object->names)
		return NULL;
	total = dwfl_module_getsymtab(object->module);
	if (total > 1) {
		object->names->name = calloc((size_t)total, sizeof(*object->names->name));
		if (object->names->name)
			read_symbols(object, object->names, total);
	}
	index_names(object->names);
	return object->names;
}

bool symbol_names_add(struct symbol_object *object, const struct symbol_name *more, size_t count)
{
	struct symbol_names *names = object->names;
	struct symbol_name *grown;

	if (!names || !count)
		return false;
	grown = realloc(names->name, (names->count + count) * sizeof(*grown));
	if (!grown)
		return false;
	names->name = grown;
	for (size_t i = 0; i < count; i++) {
		grown[names->count] = more[i];
		grown[names->count].name = keep_name(object, more[i].name);
		names->count += grown[names->count].name != NULL;
	}
	free(names->order);
	names->order = NULL;
	index_names(names);
	return true;
}

/* Symbols can nest and overlap; how far back an enclosing one is looked for. */
#define NESTING_MAX 16

const struct symbol_name *symbol_names_find(const struct symbol_names *names,
					    enum symbol_name_kind kind, uint64_t address)
{
	size_t first = names->first[kind], low = first, high = names->first[kind + 1];

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->name[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i-- > first && low - i <= NESTING_MAX;) {
		const struct symbol_name *name = &names->name[i];

		if (address - name->address < name->size)
			return name;
		/* A label of assembly code begins a function; one among data says nothing of what
		 * follows it. */
		if (name->size == 0 && i + 1 == low && kind == SYMBOL_NAME_CODE)
			return name;
	}
	return NULL;
}

const struct symbol_name *symbol_names_lookup(const struct symbol_names *names, const char *text,
					      size_t index)
{
	size_t low = 0, high = names->count;

	if (!names->order)
		return NULL;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(names->name[names->order[middle]].name, text) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (index >= names->count - low)
		return NULL;
	if (strcmp(names->name[names->order[low + index]].name, text) != 0)
		return NULL;
	return &names->name[names->order[low + index]];
}

void symbol_names_free(struct symbol_names *names)
{
	if (!names)
		return;
	free(names->name);
	free(names->order);
	free(names);
}
