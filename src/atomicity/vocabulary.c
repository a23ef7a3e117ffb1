/* SPDX-License-Identifier: Apache-2.0 */
#include "atomicity/vocabulary.h"

#include "base/text.h"
#include "dwarf/die.h"
#include "dwarf/type.h"
#include "dwarf/unit.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX (1u << 22)
#define IMPORTS_MAX 4096

struct word {
	const char *name; /* in the mapped DWARF */
	uint32_t length;
	uint8_t flags;
};

struct symbol_vocabulary {
	struct word *word; /* open addressing */
	size_t slots, used;
	unsigned imports;
};

static struct word *find_slot(struct word *word, size_t slots, const char *name, size_t length)
{
	size_t at = text_hash(name, length) & (slots - 1);

	while (word[at].name &&
	       (word[at].length != length || memcmp(word[at].name, name, length) != 0))
		at = (at + 1) & (slots - 1);
	return &word[at];
}

static bool grow(struct symbol_vocabulary *vocabulary)
{
	size_t slots = vocabulary->slots ? vocabulary->slots * 2 : 1024;
	struct word *word = slots > WORDS_MAX ? NULL : calloc(slots, sizeof(*word));

	if (!word)
		return false;
	for (size_t i = 0; i < vocabulary->slots; i++)
		if (vocabulary->word[i].name)
			*find_slot(word, slots, vocabulary->word[i].name,
				   vocabulary->word[i].length) = vocabulary->word[i];
	free(vocabulary->word);
	vocabulary->word = word;
	vocabulary->slots = slots;
	return true;
}

static void add(struct symbol_vocabulary *vocabulary, const char *name, unsigned flags)
{
	/* "vector<int>" is written "vector" too; "operator++" never is. */
	size_t length = strcspn(name, "<");
	struct word *word;

	if (vocabulary->used * 2 >= vocabulary->slots && !grow(vocabulary))
		return;
	word = find_slot(vocabulary->word, vocabulary->slots, name, length);
	vocabulary->used += word->name == NULL;
	word->name = name;
	word->length = (uint32_t)length;
	word->flags |= (uint8_t)flags;
}

static unsigned value_flags(Dwarf_Die *die)
{
	struct symbol_type_facts facts = {0};
	Dwarf_Die type;

	if (symbol_die_type(die, &type) == 0)
		facts = symbol_type_reaches(&type);
	return SYMBOL_WORD_VALUE | (facts.is_atomic ? SYMBOL_WORD_ATOMIC : 0) |
	       (facts.is_volatile ? SYMBOL_WORD_VOLATILE : 0);
}

static unsigned flags_of(Dwarf_Die *die)
{
	struct symbol_type_facts facts = {0};
	Dwarf_Die type;

	switch (dwarf_tag(die)) {
	case DW_TAG_variable:
	case DW_TAG_formal_parameter:
	case DW_TAG_member:
		return value_flags(die);
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
		/* One that hands out an atomic is as good as its name. */
		if (symbol_die_type(die, &type) == 0)
			facts = symbol_type_reaches(&type);
		return SYMBOL_WORD_FUNCTION | (facts.is_atomic ? SYMBOL_WORD_ATOMIC : 0) |
		       (facts.is_volatile ? SYMBOL_WORD_VOLATILE : 0);
	case DW_TAG_typedef:
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		facts = symbol_type_reaches(die);
		return SYMBOL_WORD_OTHER | (facts.is_atomic ? SYMBOL_WORD_ATOMIC : 0) |
		       (facts.is_volatile ? SYMBOL_WORD_VOLATILE : 0);
	default:
		return SYMBOL_WORD_OTHER;
	}
}

static void walk(struct symbol_vocabulary *vocabulary, Dwarf_Die *parent, unsigned depth);

/* Partial units of dwz and of link-time optimisation. */
static void walk_import(struct symbol_vocabulary *vocabulary, Dwarf_Die *die, unsigned depth)
{
	Dwarf_Attribute attribute;
	Dwarf_Die imported;

	if (++vocabulary->imports <= IMPORTS_MAX && dwarf_attr(die, DW_AT_import, &attribute) &&
	    dwarf_formref_die(&attribute, &imported))
		walk(vocabulary, &imported, depth + 1);
}

static void walk(struct symbol_vocabulary *vocabulary, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth > SYMBOL_DIE_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		const char *name = symbol_die_name(&die);

		if (dwarf_tag(&die) == DW_TAG_imported_unit)
			walk_import(vocabulary, &die, depth);
		if (name)
			add(vocabulary, name, flags_of(&die));
		walk(vocabulary, &die, depth + 1);
	} while (dwarf_siblingof(&die, &die) == 0);
}

static void vocabulary_free(struct symbol_vocabulary *vocabulary)
{
	free(vocabulary->word);
	free(vocabulary);
}

unsigned symbol_vocabulary_flags(struct symbol_unit *unit, const char *name, size_t length)
{
	struct symbol_vocabulary *vocabulary = unit->vocabulary;
	Dwarf_Die root;

	if (!vocabulary) {
		unit->vocabulary_free = vocabulary_free;
		vocabulary = unit->vocabulary = calloc(1, sizeof(*vocabulary));
		if (vocabulary && symbol_unit_root(unit, &root) == 0)
			walk(vocabulary, &root, 0);
	}
	if (!vocabulary || !vocabulary->slots)
		return 0;
	return find_slot(vocabulary->word, vocabulary->slots, name, length)->flags;
}
