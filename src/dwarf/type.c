/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/type.h"

#include "dwarf/atomic_names.h"
#include "dwarf/die.h"

#include <dwarf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MEMBERS_MAX 65536

static bool is_aggregate(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static bool is_pointer(int tag)
{
	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
	       tag == DW_TAG_rvalue_reference_type;
}

static bool is_qualifier(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_atomic_type || tag == DW_TAG_restrict_type ||
	       tag == DW_TAG_immutable_type || tag == DW_TAG_template_alias;
}

static bool is_member(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	/* Static members have no offset, and a declaration flag instead. */
	return tag == DW_TAG_inheritance ||
	       (tag == DW_TAG_member && !symbol_die_flag(die, DW_AT_external));
}

int symbol_type_strip(Dwarf_Die *type, struct symbol_type_facts *facts)
{
	for (unsigned depth = 0; depth < SYMBOL_DIE_DEPTH; depth++) {
		int tag = dwarf_tag(type);
		const char *name;

		facts->is_atomic |= tag == DW_TAG_atomic_type;
		facts->is_volatile |= tag == DW_TAG_volatile_type;
		if (!is_qualifier(tag)) {
			name = is_aggregate(tag) ? symbol_die_name(type) : NULL;
			facts->is_atomic |= name && symbol_atomic_type_name(name);
			facts->is_scalar = tag == DW_TAG_base_type || is_pointer(tag) ||
					   tag == DW_TAG_enumeration_type ||
					   tag == DW_TAG_ptr_to_member_type;
			return 0;
		}
		if (symbol_die_type(type, type) < 0)
			return -ENOENT; /* qualified void */
	}
	return -ENOENT;
}

/* Values --------------------------------------------------------------------------------------- */

static bool has_negative_enumerator(Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die child;
	Dwarf_Sword value;
	unsigned count = 0;

	if (dwarf_child(type, &child) != 0)
		return false;
	do {
		/* Forms of a fixed size do not tell a sign. */
		if (dwarf_attr(&child, DW_AT_const_value, &attribute) &&
		    (dwarf_whatform(&attribute) == DW_FORM_sdata ||
		     dwarf_whatform(&attribute) == DW_FORM_implicit_const) &&
		    dwarf_formsdata(&attribute, &value) == 0 && value < 0)
			return true;
	} while (++count < MEMBERS_MAX && dwarf_siblingof(&child, &child) == 0);
	return false;
}

/* From a structure to the first member, if there is room for no other. */
static bool enter_only_member(Dwarf_Die *type)
{
	uint64_t size = symbol_die_size(type);
	Dwarf_Die member;
	unsigned count = 0;

	if (dwarf_tag(type) == DW_TAG_union_type || dwarf_child(type, &member) != 0)
		return false;
	do {
		Dwarf_Die inner;

		if (is_member(&member) && symbol_die_type(&member, &inner) == 0 &&
		    symbol_die_size(&inner) == size) {
			*type = inner;
			return size != 0;
		}
	} while (++count < MEMBERS_MAX && dwarf_siblingof(&member, &member) == 0);
	return false;
}

/* What its DW_AT_type names has values of the same kind. */
static bool has_base(int tag)
{
	return tag == DW_TAG_array_type || tag == DW_TAG_enumeration_type ||
	       tag == DW_TAG_subrange_type;
}

struct symbol_type_values symbol_type_values(Dwarf_Die *type)
{
	struct symbol_type_values values = {0};
	struct symbol_type_facts facts = {0};
	Dwarf_Die inner = *type;

	for (unsigned depth = 0; depth < SYMBOL_DIE_DEPTH; depth++) {
		uint64_t encoding;
		int tag;

		if (symbol_type_strip(&inner, &facts) < 0)
			return values;
		tag = dwarf_tag(&inner);
		encoding = symbol_die_value(&inner, DW_AT_encoding, 0);
		values.is_pointer = is_pointer(tag);
		values.is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
		if (values.is_pointer || encoding)
			return values;
		if (is_aggregate(tag) ? enter_only_member(&inner)
				      : has_base(tag) && symbol_die_type(&inner, &inner) == 0)
			continue;
		values.is_signed = tag == DW_TAG_enumeration_type &&
				   has_negative_enumerator(&inner);
		return values;
	}
	return values;
}

/* Names ---------------------------------------------------------------------------------------- */

static void append(char *text, size_t size, const char *more)
{
	size_t length = strlen(text);

	if (length < size)
		snprintf(text + length, size - length, "%s", more);
}

static const char *prefix_of(int tag)
{
	switch (tag) {
	case DW_TAG_const_type:
		return "const ";
	case DW_TAG_volatile_type:
		return "volatile ";
	case DW_TAG_atomic_type:
		return "_Atomic ";
	default:
		return "";
	}
}

static const char *keyword_of(Dwarf_Die *type)
{
	int language = dwarf_srclang(type);

	if (language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_11 ||
	    language == DW_LANG_C_plus_plus_14 || language == DW_LANG_Rust)
		return "";
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
		return "struct ";
	case DW_TAG_union_type:
		return "union ";
	case DW_TAG_enumeration_type:
		return "enum ";
	default:
		return "";
	}
}

static void append_type(Dwarf_Die *type, char *text, size_t size, unsigned depth)
{
	int tag = type ? dwarf_tag(type) : DW_TAG_unspecified_type;
	const char *name = type ? symbol_die_name(type) : NULL;
	Dwarf_Die target;
	bool has_target = type && symbol_die_type(type, &target) == 0;

	if (depth > 16 || !type) {
		append(text, size, type ? "…" : "void");
	} else if (is_pointer(tag)) {
		if (name) {
			append(text, size, name); /* Rust names its pointers */
			return;
		}
		append_type(has_target ? &target : NULL, text, size, depth + 1);
		append(text, size, tag == DW_TAG_pointer_type ? " *" : " &");
	} else if (tag == DW_TAG_array_type) {
		append_type(has_target ? &target : NULL, text, size, depth + 1);
		append(text, size, "[]");
	} else if (tag == DW_TAG_subroutine_type) {
		append_type(has_target ? &target : NULL, text, size, depth + 1);
		append(text, size, " ()");
	} else if (name) {
		append(text, size, keyword_of(type));
		append(text, size, name);
	} else if (is_qualifier(tag)) {
		append(text, size, prefix_of(tag));
		append_type(has_target ? &target : NULL, text, size, depth + 1);
	} else {
		append(text, size, keyword_of(type));
		append(text, size, "{…}");
	}
}

void symbol_type_name(Dwarf_Die *type, char *text, size_t size)
{
	text[0] = 0;
	append_type(type, text, size, 0);
}

/* Members -------------------------------------------------------------------------------------- */

int symbol_type_element(Dwarf_Die *type, Dwarf_Die *element)
{
	int tag = dwarf_tag(type);

	if (tag != DW_TAG_array_type && !is_pointer(tag))
		return -ENOENT;
	return symbol_die_type(type, element);
}

struct extent {
	uint64_t start, length; /* bytes */
	bool bits;		/* a bit-field: others may share its bytes */
};

/* Of a bit-field: the bytes that it has a bit in. */
static struct extent bits_extent(uint64_t first, uint64_t bits)
{
	return (struct extent){first / 8, (first % 8 + bits + 7) / 8, true};
}

/* DWARF 4 and before count the bits from the most significant one of a unit of storage. */
static struct extent member_extent(Dwarf_Die *member, Dwarf_Die *type)
{
	uint64_t bits = symbol_die_value(member, DW_AT_bit_size, 0);
	uint64_t first = symbol_die_value(member, DW_AT_data_bit_offset, UINT64_MAX);
	uint64_t below = symbol_die_value(member, DW_AT_bit_offset, UINT64_MAX);
	uint64_t location = symbol_die_value(member, DW_AT_data_member_location, 0);
	uint64_t unit = symbol_die_size(type);

	if (first != UINT64_MAX)
		return bits ? bits_extent(first, bits)
			    : (struct extent){.start = first / 8, .length = unit};
	if (bits && dwarf_hasattr_integrate(member, DW_AT_bit_offset))
		return bits_extent(8 * location +
					   8 * symbol_die_value(member, DW_AT_byte_size, unit) -
					   below - bits,
				   bits);
	return bits ? bits_extent(8 * location, bits)
		    : (struct extent){.start = location, .length = unit};
}

/* The member that holds bytes [offset, offset + size); in a union the smallest that does. None
 * where bit-fields share them: which of them is meant, an access does not tell. */
static bool find_member(Dwarf_Die *type, uint64_t offset, uint64_t size, Dwarf_Die *found,
			uint64_t *start)
{
	bool apart = dwarf_tag(type) != DW_TAG_union_type;
	unsigned count = 0, touched = 0;
	struct extent best = {.length = UINT64_MAX};
	Dwarf_Die member, member_type;

	if (dwarf_child(type, &member) != 0)
		return false;
	do {
		struct extent extent;

		if (!is_member(&member) || symbol_die_type(&member, &member_type) < 0)
			continue;
		extent = member_extent(&member, &member_type);
		touched += extent.start < offset + size && offset < extent.start + extent.length;
		if (offset < extent.start || offset - extent.start >= extent.length ||
		    extent.length >= best.length)
			continue;
		if (offset - extent.start + size > extent.length && best.length != UINT64_MAX)
			continue;
		best = extent;
		*found = member;
	} while (++count < MEMBERS_MAX && dwarf_siblingof(&member, &member) == 0);
	*start = best.start;
	return best.length != UINT64_MAX && !(best.bits && apart && touched > 1);
}

static bool enter_member(Dwarf_Die *type, uint64_t *offset, uint64_t size, char *path,
			 size_t path_size)
{
	Dwarf_Die member;
	const char *name;
	uint64_t start;

	if (!find_member(type, *offset, size, &member, &start) ||
	    symbol_die_type(&member, type) < 0)
		return false;
	*offset -= start;
	name = dwarf_tag(&member) == DW_TAG_inheritance ? NULL : symbol_die_name(&member);
	if (name) {
		append(path, path_size, ".");
		append(path, path_size, name);
	}
	return true;
}

/* Elements per dimension are in DW_TAG_subrange_type children; the flat index is split by them. */
static unsigned array_dimensions(Dwarf_Die *type, uint64_t *counts, unsigned max)
{
	Dwarf_Die range;
	unsigned dimensions = 0;

	if (dwarf_child(type, &range) != 0)
		return 0;
	do {
		uint64_t count = symbol_die_value(&range, DW_AT_count, UINT64_MAX);
		uint64_t last = symbol_die_value(&range, DW_AT_upper_bound, UINT64_MAX);

		if (dwarf_tag(&range) == DW_TAG_subrange_type && dimensions < max)
			counts[dimensions++] = count != UINT64_MAX  ? count
					       : last != UINT64_MAX ? last + 1
								    : 0;
	} while (dwarf_siblingof(&range, &range) == 0);
	return dimensions;
}

static bool enter_element(Dwarf_Die *type, uint64_t *offset, char *path, size_t path_size)
{
	uint64_t counts[8], index, stride = 1, element_size;
	unsigned dimensions = array_dimensions(type, counts, 8);
	Dwarf_Die element;
	char text[32];

	if (symbol_die_type(type, &element) < 0)
		return false;
	element_size = symbol_die_size(&element);
	if (element_size == 0)
		return false;
	index = *offset / element_size;
	*offset %= element_size;
	for (unsigned i = 1; i < dimensions; i++)
		stride *= counts[i] ? counts[i] : 1;
	for (unsigned i = 0; i < (dimensions ? dimensions : 1); i++) {
		if (stride == 0)
			break;
		snprintf(text, sizeof(text), "[%llu]", (unsigned long long)(index / stride));
		append(path, path_size, text);
		index %= stride;
		if (i + 1 < dimensions)
			stride /= counts[i + 1] ? counts[i + 1] : 1;
	}
	*type = element;
	return true;
}

void symbol_type_member_at(Dwarf_Die *type, uint64_t offset, uint64_t size, char *path,
			   size_t path_size, uint64_t *start, struct symbol_type_facts *facts)
{
	uint64_t at = offset;

	*start = 0;
	for (unsigned depth = 0; depth < SYMBOL_DIE_DEPTH; depth++) {
		Dwarf_Die inner = *type;
		bool entered;

		if (symbol_type_strip(&inner, facts) < 0)
			return;
		/* The insides of an atomic object are its implementation's. */
		if (facts->is_atomic)
			return;
		if (is_aggregate(dwarf_tag(&inner)))
			entered = enter_member(&inner, &at, size, path, path_size);
		else if (dwarf_tag(&inner) == DW_TAG_array_type)
			entered = enter_element(&inner, &at, path, path_size);
		else
			return;
		if (!entered)
			return;
		*type = inner;
		*start = offset - at;
	}
}

static int named_member(Dwarf_Die *type, const char *name, struct symbol_type_member *found,
			unsigned depth)
{
	struct symbol_type_facts facts = {0};
	Dwarf_Die member, stripped = *type, inner;
	unsigned count = 0;

	if (depth > 8 || symbol_type_strip(&stripped, &facts) < 0 ||
	    !is_aggregate(dwarf_tag(&stripped)) || dwarf_child(&stripped, &member) != 0)
		return -ENOENT;
	do {
		const char *text;
		struct extent extent;

		if (!is_member(&member) || symbol_die_type(&member, &inner) < 0)
			continue;
		text = dwarf_tag(&member) == DW_TAG_inheritance ? NULL : symbol_die_name(&member);
		if (text && strcmp(text, name) != 0)
			continue;
		extent = member_extent(&member, &inner);
		if (text)
			*found =
				(struct symbol_type_member){.length = extent.length, .type = inner};
		else if (named_member(&inner, name, found, depth + 1) < 0)
			continue;
		found->offset += extent.start;
		return 0;
	} while (++count < MEMBERS_MAX && dwarf_siblingof(&member, &member) == 0);
	return -ENOENT;
}

int symbol_type_member_named(Dwarf_Die *type, const char *name, struct symbol_type_member *member)
{
	return named_member(type, name, member, 0);
}

struct symbol_type_facts symbol_type_reaches(Dwarf_Die *type)
{
	struct symbol_type_facts facts = {0};
	Dwarf_Die inner = *type;

	for (unsigned depth = 0; depth < 8; depth++)
		if (symbol_type_strip(&inner, &facts) < 0 ||
		    symbol_type_element(&inner, &inner) < 0)
			break;
	return facts;
}
