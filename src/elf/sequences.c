/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/sequences.h"

#include "elf/image.h"
#include "elf/object.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* struct rseq_cs, here since the kernel's headers of a build may be older than it. */
struct descriptor {
	uint32_t version, flags;
	uint64_t start, length, abort;
};

_Static_assert(sizeof(struct descriptor) == 32, "include/uapi/linux/rseq.h");

static int compare_range(const void *a, const void *b)
{
	const struct symbol_covered *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

/* A file that is loaded anywhere has its addresses in relocations alone. */
static void relocate(const struct symbol_section *section, const struct symbol_section *relocations,
		     struct descriptor *descriptor)
{
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= relocations->length;
	     at += sizeof(Elf64_Rela)) {
		Elf64_Rela relocation;
		uint64_t offset, addend;
		size_t field;

		memcpy(&relocation, relocations->bytes + at, sizeof(relocation));
		offset = relocation.r_offset - section->address;
		field = offset % sizeof(*descriptor);
		addend = (uint64_t)relocation.r_addend;
		if (ELF64_R_SYM(relocation.r_info) != 0 || /* else no relative one */
		    offset >= section->length - section->length % sizeof(*descriptor))
			continue;
		if (field == offsetof(struct descriptor, start))
			descriptor[offset / sizeof(*descriptor)].start = addend;
		else if (field == offsetof(struct descriptor, abort))
			descriptor[offset / sizeof(*descriptor)].abort = addend;
	}
}

static bool makes_sense(const struct symbol_image *image, const struct descriptor *descriptor)
{
	uint64_t last = descriptor->start + descriptor->length - 1;

	return descriptor->version == 0 && descriptor->length > 0 && last >= descriptor->start &&
	       symbol_image_is_code(image, descriptor->start) &&
	       symbol_image_is_code(image, last) &&
	       descriptor->abort - descriptor->start >= descriptor->length;
}

/* The same sequence may be described twice. */
static void sort(struct symbol_sequences *sequences)
{
	size_t kept = 0;

	if (sequences->count)
		qsort(sequences->range, sequences->count, sizeof(*sequences->range), compare_range);
	for (size_t i = 0; i < sequences->count; i++) {
		struct symbol_covered *last = kept ? &sequences->range[kept - 1] : NULL;

		if (!last || sequences->range[i].low >= last->high)
			sequences->range[kept++] = sequences->range[i];
		else if (sequences->range[i].high > last->high)
			last->high = sequences->range[i].high;
	}
	sequences->count = kept;
}

int symbol_sequences_parse(const struct symbol_image *image,
			   const struct symbol_section *descriptors,
			   const struct symbol_section *relocations,
			   struct symbol_sequences *sequences)
{
	size_t count = descriptors->length / sizeof(struct descriptor);
	struct descriptor *descriptor = calloc(count + 1, sizeof(*descriptor));

	*sequences = (struct symbol_sequences){calloc(count + 1, sizeof(*sequences->range)), 0};
	if (!descriptor || !sequences->range) {
		free(descriptor);
		free(sequences->range);
		*sequences = (struct symbol_sequences){0};
		return -ENOMEM;
	}
	if (count)
		memcpy(descriptor, descriptors->bytes, count * sizeof(*descriptor));
	relocate(descriptors, relocations, descriptor);
	for (size_t i = 0; i < count; i++)
		if (makes_sense(image, &descriptor[i]))
			sequences->range[sequences->count++] = (struct symbol_covered){
				descriptor[i].start, descriptor[i].start + descriptor[i].length};
	free(descriptor);
	sort(sequences);
	return 0;
}

static void sequences_free(struct symbol_sequences *sequences)
{
	free(sequences->range);
	free(sequences);
}

static const struct symbol_sequences *read_sequences(struct symbol_object *object)
{
	struct symbol_section descriptors, relocations = {0};

	if (object->sequences)
		return object->sequences;
	object->sequences_free = sequences_free;
	object->sequences = calloc(1, sizeof(*object->sequences));
	if (!object->sequences)
		return NULL;
	descriptors = symbol_section_find(object, "__rseq_cs");
	if (descriptors.length)
		relocations = symbol_section_find(object, ".rela.dyn");
	if (descriptors.length)
		symbol_sequences_parse(&object->image, &descriptors, &relocations,
				       object->sequences);
	return object->sequences;
}

bool symbol_sequence_has(struct symbol_object *object, uint64_t address)
{
	const struct symbol_sequences *sequences = read_sequences(object);
	size_t low = 0, high = sequences ? sequences->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sequences->range[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < sequences->range[low - 1].high;
}
