/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/metadata.h"

#include "elf/image.h"
#include "elf/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEATURE_ATOMICS 1u
#define FEATURE_STACK_SIZE 4u

struct cursor {
	const struct symbol_section *section;
	size_t at;
	bool failed;
};

static uint64_t take_fixed(struct cursor *cursor)
{
	uint32_t value = 0;

	if (cursor->section->length - cursor->at < sizeof(value)) {
		cursor->failed = true;
		return 0;
	}
	memcpy(&value, cursor->section->bytes + cursor->at, sizeof(value));
	cursor->at += sizeof(value);
	return value;
}

static uint64_t take_uleb(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 63; shift += 7) {
		uint8_t byte;

		if (cursor->at >= cursor->section->length)
			break;
		byte = cursor->section->bytes[cursor->at++];
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->failed = true;
	return 0;
}

static uint64_t take_address(struct cursor *cursor)
{
	uint64_t base = cursor->section->address + cursor->at;

	return base + (uint64_t)(int64_t)(int32_t)take_fixed(cursor);
}

static int compare_address(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int compare_covered(const void *a, const void *b)
{
	const struct symbol_covered *x = a, *y = b;

	return (x->low > y->low) - (x->low < y->low);
}

static int parse_atomics(const struct symbol_image *image, const struct symbol_section *section,
			 struct symbol_metadata *metadata)
{
	struct cursor cursor = {section, 0, false};
	size_t count = section->length / 4;

	metadata->atomic = malloc((count + 1) * sizeof(*metadata->atomic));
	if (!metadata->atomic)
		return -ENOMEM;
	if (section->length % 4)
		return -EINVAL;
	while (metadata->atomic_count < count) {
		uint64_t address = take_address(&cursor);

		if (cursor.failed || !symbol_image_is_code(image, address))
			return -EINVAL;
		metadata->atomic[metadata->atomic_count++] = address;
	}
	qsort(metadata->atomic, metadata->atomic_count, sizeof(*metadata->atomic), compare_address);
	return 0;
}

static int parse_covered(const struct symbol_image *image, const struct symbol_section *section,
			 uint64_t (*take)(struct cursor *), struct symbol_metadata *metadata)
{
	struct cursor cursor = {section, 0, false};

	metadata->covered_count = 0;
	while (cursor.at < section->length) {
		uint64_t low = take_address(&cursor);
		uint64_t size = take(&cursor);
		uint64_t features = take(&cursor);

		if (features & FEATURE_STACK_SIZE)
			take(&cursor);
		if (cursor.failed || size == 0 || features > 7 ||
		    !symbol_image_is_code(image, low) ||
		    !symbol_image_is_code(image, low + size - 1))
			return -EINVAL;
		if (features & FEATURE_ATOMICS)
			metadata->covered[metadata->covered_count++] =
				(struct symbol_covered){low, low + size};
	}
	if (metadata->covered_count)
		qsort(metadata->covered, metadata->covered_count, sizeof(*metadata->covered),
		      compare_covered);
	return 0;
}

static void clear(struct symbol_metadata *metadata)
{
	free(metadata->atomic);
	free(metadata->covered);
	memset(metadata, 0, sizeof(*metadata));
}

int symbol_metadata_parse(const struct symbol_image *image, const struct symbol_section *atomics,
			  const struct symbol_section *covered, struct symbol_metadata *metadata)
{
	int error;

	memset(metadata, 0, sizeof(*metadata));
	/* The shortest entry is 6 bytes long. */
	metadata->covered = malloc((covered->length / 6 + 1) * sizeof(*metadata->covered));
	error = metadata->covered ? parse_atomics(image, atomics, metadata) : -ENOMEM;
	if (!error && parse_covered(image, covered, take_uleb, metadata) < 0)
		error = parse_covered(image, covered, take_fixed, metadata);
	if (error)
		clear(metadata);
	return error;
}

struct symbol_section symbol_section_find(struct symbol_object *object, const char *name)
{
	uint64_t address = 0;
	Elf_Data *data = symbol_object_section(object, name, &address);

	return (struct symbol_section){data ? data->d_buf : NULL,
				       data && data->d_buf ? data->d_size : 0, address};
}

static void metadata_free(struct symbol_metadata *metadata)
{
	clear(metadata);
	free(metadata);
}

static const struct symbol_metadata *read_metadata(struct symbol_object *object)
{
	struct symbol_section atomics, covered;

	if (object->metadata)
		return object->metadata;
	object->metadata_free = metadata_free;
	object->metadata = calloc(1, sizeof(*object->metadata));
	if (!object->metadata)
		return NULL;
	atomics = symbol_section_find(object, "sanmd_atomics");
	covered = symbol_section_find(object, "sanmd_covered");
	if (covered.length)
		symbol_metadata_parse(&object->image, &atomics, &covered, object->metadata);
	return object->metadata;
}

static bool is_covered(const struct symbol_metadata *metadata, uint64_t address)
{
	size_t low = 0, high = metadata->covered_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (metadata->covered[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < metadata->covered[low - 1].high;
}

enum symbol_metadata_verdict symbol_metadata_judge(struct symbol_object *object, uint64_t address)
{
	const struct symbol_metadata *metadata = read_metadata(object);

	if (!metadata || !is_covered(metadata, address))
		return SYMBOL_METADATA_ABSENT;
	if (metadata->atomic_count && bsearch(&address, metadata->atomic, metadata->atomic_count,
					      sizeof(address), compare_address))
		return SYMBOL_METADATA_ATOMIC;
	return SYMBOL_METADATA_PLAIN;
}
