/* SPDX-License-Identifier: Apache-2.0 */
/* A finding's memory: blocks that are only ever freed together. */
#include "record/finding.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_SIZE 4000 /* with malloc's own header just under a page */

struct finding_block {
	struct finding_block *next;
	size_t used;
	size_t size;
	_Alignas(max_align_t) char bytes[];
};

static struct finding_block *block_create(size_t size)
{
	struct finding_block *block = malloc(sizeof(*block) + size);

	if (block) {
		block->next = NULL;
		block->used = 0;
		block->size = size;
	}
	return block;
}

/* Zeroed memory of the finding. A request too large for a block of the usual size gets its own,
 * kept behind the head so that the head's free space stays in use. */
static void *allocate(struct finding *finding, size_t size, size_t alignment)
{
	struct finding_block *head = finding->blocks;
	size_t start = (head->used + alignment - 1) & ~(alignment - 1);

	if (start > head->size || size > head->size - start) {
		struct finding_block *block =
			block_create(size > BLOCK_SIZE / 2 ? size : BLOCK_SIZE);

		if (!block)
			return NULL;
		if (size > BLOCK_SIZE / 2) {
			block->next = head->next;
			head->next = block;
		} else {
			block->next = head;
			finding->blocks = block;
		}
		head = block;
		start = 0;
	}
	head->used = start + size;
	return memset(head->bytes + start, 0, size);
}

/* Makes room for one more element; the old array stays in its block until the finding dies. */
static bool grow(struct finding *finding, void **array, size_t count, size_t *capacity,
		 size_t element, size_t max)
{
	size_t wanted = *capacity ? *capacity * 2 : 2;
	void *moved;

	if (count < *capacity)
		return true;
	if (count >= max)
		return false;
	if (wanted > max)
		wanted = max;
	moved = allocate(finding, wanted * element, _Alignof(max_align_t));
	if (!moved)
		return false;
	if (count)
		memcpy(moved, *array, count * element);
	*array = moved;
	*capacity = wanted;
	return true;
}

struct finding *finding_create(const char *kind)
{
	struct finding *finding = calloc(1, sizeof(*finding));

	if (!finding)
		return NULL;
	finding->blocks = block_create(BLOCK_SIZE);
	if (!finding->blocks) {
		free(finding);
		return NULL;
	}
	finding->kind = finding_string(finding, kind);
	finding->count = 1;
	return finding;
}

void finding_destroy(struct finding *finding)
{
	struct finding_block *block, *next;

	if (!finding)
		return;
	for (block = finding->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(finding);
}

const char *finding_string(struct finding *finding, const char *text)
{
	size_t size;
	char *copy;

	if (!text)
		return NULL;
	size = strlen(text) + 1;
	copy = allocate(finding, size, 1);
	return copy ? memcpy(copy, text, size) : NULL;
}

const char *finding_format(struct finding *finding, const char *format, ...)
{
	va_list arguments;
	char *text;
	int length;

	va_start(arguments, format);
	length = vsnprintf(NULL, 0, format, arguments);
	va_end(arguments);
	if (length < 0)
		return NULL;
	text = allocate(finding, (size_t)length + 1, 1);
	if (!text)
		return NULL;
	va_start(arguments, format);
	vsnprintf(text, (size_t)length + 1, format, arguments);
	va_end(arguments);
	return text;
}

struct finding_access *finding_add_access(struct finding *finding)
{
	if (!grow(finding, (void **)&finding->accesses, finding->access_count,
		  &finding->access_capacity, sizeof(*finding->accesses), FINDING_ACCESSES_MAX))
		return NULL;
	return &finding->accesses[finding->access_count++];
}

struct finding_frame *finding_add_frame(struct finding *finding, struct finding_stack *stack)
{
	struct finding_frame *frame;

	if (!grow(finding, (void **)&stack->frames, stack->count, &stack->capacity,
		  sizeof(*stack->frames), FINDING_FRAMES_MAX))
		return NULL;
	frame = &stack->frames[stack->count++];
	frame->function_offset = -1;
	return frame;
}

int finding_add_evidence(struct finding *finding, const char *text)
{
	const char *copy;
	size_t i;

	for (i = 0; i < finding->evidence_count; i++)
		if (!strcmp(finding->evidence[i], text))
			return 0;
	if (!grow(finding, (void **)&finding->evidence, finding->evidence_count,
		  &finding->evidence_capacity, sizeof(*finding->evidence), FINDING_EVIDENCE_MAX))
		return finding->evidence_count >= FINDING_EVIDENCE_MAX ? -E2BIG : -ENOMEM;
	copy = finding_string(finding, text);
	if (!copy)
		return -ENOMEM;
	finding->evidence[finding->evidence_count++] = copy;
	return 0;
}

static bool is_detail_name(const char *name)
{
	return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

const char *finding_detail(const struct finding *finding, const char *name)
{
	for (size_t i = 0; i < finding->detail_count; i++)
		if (!strcmp(finding->details[i].name, name))
			return finding->details[i].value;
	return NULL;
}

int finding_add_detail(struct finding *finding, const char *name, const char *value)
{
	struct finding_detail detail = {finding_string(finding, name),
					finding_string(finding, value)};

	if (!detail.name || !detail.value)
		return -ENOMEM;
	if (!is_detail_name(name))
		return -EINVAL;
	for (size_t i = 0; i < finding->detail_count; i++)
		if (!strcmp(finding->details[i].name, name)) {
			finding->details[i] = detail;
			return 0;
		}
	if (!grow(finding, (void **)&finding->details, finding->detail_count,
		  &finding->detail_capacity, sizeof(*finding->details), FINDING_DETAILS_MAX))
		return finding->detail_count >= FINDING_DETAILS_MAX ? -E2BIG : -ENOMEM;
	finding->details[finding->detail_count++] = detail;
	return 0;
}

/* Keeps every second of a full sample, so that it goes on to cover the whole run. */
static void thin_out(struct finding *finding)
{
	size_t i;

	for (i = 0; i < finding->occurrence_count / 2; i++)
		finding->occurrences[i] = finding->occurrences[2 * i];
	finding->occurrence_count = i;
	finding->occurrence_stride *= 2;
}

void finding_add_occurrence(struct finding *finding, uint64_t time, pid_t tid, bool counts)
{
	if (counts)
		finding->count++;
	if (time > finding->last)
		finding->last = time;
	if (!finding->occurrence_stride)
		finding->occurrence_stride = 1;
	if (++finding->occurrence_skip < finding->occurrence_stride)
		return;
	finding->occurrence_skip = 0;
	if (finding->occurrence_count == FINDING_OCCURRENCES_MAX)
		thin_out(finding);
	if (!grow(finding, (void **)&finding->occurrences, finding->occurrence_count,
		  &finding->occurrence_capacity, sizeof(*finding->occurrences),
		  FINDING_OCCURRENCES_MAX))
		return;
	finding->occurrences[finding->occurrence_count++] = (struct finding_occurrence){time, tid};
}

static const char *const class_names[] = {
	[FINDING_UNCLASSED] = "",
	[FINDING_POSSIBLE] = "possible",
	[FINDING_LIKELY] = "likely",
	[FINDING_DEFINITE] = "definite",
};

static const char *const operation_names[] = {
	[FINDING_UNKNOWN_OPERATION] = "unknown",
	[FINDING_READ] = "read",
	[FINDING_WRITE] = "write",
	[FINDING_READ_MODIFY_WRITE] = "rmw",
	[FINDING_EXECUTE] = "exec",
};

static const char *const object_kind_names[] = {
	[FINDING_OBJECT_OTHER] = "other", [FINDING_OBJECT_GLOBAL] = "global",
	[FINDING_OBJECT_HEAP] = "heap",	  [FINDING_OBJECT_STACK] = "stack",
	[FINDING_OBJECT_TLS] = "tls",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int parse_name(const char *const *names, size_t count, const char *name)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return (int)i;
	return -1;
}

bool finding_is_of_flow(const char *kind)
{
	static const char *const kinds[] = {
		"flow-edge",	 "flow-step",	  "flow-end",	     "true-sharing",
		"false-sharing", "dead-store",	  "silent-store",    "redundant-load",
		"dead-stores",	 "silent-stores", "redundant-loads", "open-stores",
		"open-loads",	 "unread-memory",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	return false;
}

const char *finding_class_name(enum finding_class certainty)
{
	return (size_t)certainty < COUNT(class_names) ? class_names[certainty] : "";
}

const char *finding_access_by(const struct finding_access *access)
{
	if (access->unseen)
		return " by code that was not seen; what follows is the allocation, by";
	return access->kernel ? " by the kernel for" : " by";
}

const char *finding_operation_name(enum finding_operation operation)
{
	return (size_t)operation < COUNT(operation_names) ? operation_names[operation] : "unknown";
}

const char *finding_object_kind_name(enum finding_object_kind kind)
{
	return (size_t)kind < COUNT(object_kind_names) ? object_kind_names[kind] : "other";
}

int finding_class_parse(const char *name)
{
	return parse_name(class_names, COUNT(class_names), name);
}

int finding_operation_parse(const char *name)
{
	return parse_name(operation_names, COUNT(operation_names), name);
}

bool finding_object_is_named_by_size(const struct finding_object *object)
{
	char name[32];

	snprintf(name, sizeof(name), "%" PRIu64 "-byte block", object->size);
	return object->kind == FINDING_OBJECT_HEAP && object->name && !strcmp(object->name, name);
}

int finding_object_kind_parse(const char *name)
{
	return parse_name(object_kind_names, COUNT(object_kind_names), name);
}
