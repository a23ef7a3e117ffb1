/* SPDX-License-Identifier: Apache-2.0 */
/* Finding -> JSON. Fields that are not known are left out, so readers need no markers for them. */
#include "jsonl/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "jsonl/timestamp.h"
#include "record/utf8.h"

/*
 * jansson's json_object_set_new() takes NULL values and fails then, so one failed allocation below
 * costs a field and raises `failed`; the whole encoding is then given up.
 */
struct encoder {
	bool failed;
};

static void set(struct encoder *encoder, json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value))
		encoder->failed = true;
}

static json_t *string_value(const char *text)
{
	json_t *value = json_string(text);
	char *clean;

	if (value || utf8_valid(text))
		return value;
	clean = utf8_clean(text);
	value = clean ? json_string(clean) : NULL;
	free(clean);
	return value;
}

static void set_string(struct encoder *encoder, json_t *object, const char *name, const char *text)
{
	if (text)
		set(encoder, object, name, string_value(text));
}

/* Addresses and values are strings: JSON numbers lose 64-bit integers in most readers. */
static void set_hex(struct encoder *encoder, json_t *object, const char *name, uint64_t value)
{
	set(encoder, object, name, json_sprintf("0x%" PRIx64, value));
}

static void set_integer(struct encoder *encoder, json_t *object, const char *name, uint64_t value)
{
	set(encoder, object, name, json_integer((json_int_t)value));
}

static void set_time(struct encoder *encoder, json_t *object, const char *name, uint64_t time)
{
	char text[TIMESTAMP_SIZE];

	timestamp_format(time, text);
	set(encoder, object, name, json_string(text));
}

static json_t *encode_frame(struct encoder *encoder, const struct finding_frame *frame)
{
	json_t *object = json_object();

	set_hex(encoder, object, "pc", frame->pc);
	set_string(encoder, object, "module", frame->module);
	set_string(encoder, object, "build_id", frame->build_id);
	if (frame->module)
		set_hex(encoder, object, "offset", frame->offset);
	set_string(encoder, object, "function", frame->function);
	if (frame->function_offset >= 0)
		set_integer(encoder, object, "function_offset", (uint64_t)frame->function_offset);
	if (frame->function_line)
		set_integer(encoder, object, "function_line", frame->function_line);
	set_string(encoder, object, "file", frame->file);
	if (frame->line)
		set_integer(encoder, object, "line", frame->line);
	if (frame->column)
		set_integer(encoder, object, "column", frame->column);
	set(encoder, object, "inlined", json_boolean(frame->inlined));
	return object;
}

/* A frame of which nothing but its pc is known, as in raw recordings, is the pc alone. */
static bool is_bare(const struct finding_frame *frame)
{
	return !frame->module && !frame->function && !frame->file;
}

static void set_stack(struct encoder *encoder, json_t *object, const struct finding_stack *stack)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < stack->count; i++) {
		const struct finding_frame *frame = &stack->frames[i];
		json_t *value = is_bare(frame) ? json_sprintf("0x%" PRIx64, frame->pc)
					       : encode_frame(encoder, frame);

		if (json_array_append_new(array, value))
			encoder->failed = true;
	}
	set(encoder, object, "stack", array);
}

static json_t *encode_access(struct encoder *encoder, const struct finding_access *access,
			     bool values)
{
	json_t *object = json_object();

	set_integer(encoder, object, "tid", (uint64_t)access->tid);
	set_string(encoder, object, "thread", access->thread);
	set_string(encoder, object, "op", finding_operation_name(access->operation));
	set_integer(encoder, object, "size", access->size);
	set_hex(encoder, object, "address", access->address);
	set(encoder, object, "atomic", json_boolean(access->atomic));
	set(encoder, object, "kernel", json_boolean(access->kernel));
	if (access->unseen)
		set(encoder, object, "unseen", json_true());
	if (values && access->before_known)
		set_hex(encoder, object, "before", access->before);
	if (values && access->after_known)
		set_hex(encoder, object, "after", access->after);
	if (access->time)
		set_time(encoder, object, "time", access->time);
	if (access->facts)
		set_integer(encoder, object, "facts", access->facts);
	set_stack(encoder, object, &access->stack);
	return object;
}

static json_t *encode_moment(struct encoder *encoder, const struct finding_freed *from)
{
	json_t *object = json_object();

	set_integer(encoder, object, "tid", (uint64_t)from->tid);
	set_string(encoder, object, "thread", from->thread);
	set_time(encoder, object, "time", from->time);
	if (from->stack.count)
		set_stack(encoder, object, &from->stack);
	return object;
}

static json_t *encode_object(struct encoder *encoder, const struct finding_object *from)
{
	json_t *object = json_object();

	set_string(encoder, object, "kind", finding_object_kind_name(from->kind));
	set_string(encoder, object, "name", from->name);
	set_string(encoder, object, "type", from->type);
	set_integer(encoder, object, "offset", from->offset);
	if (from->size)
		set_integer(encoder, object, "size", from->size);
	if (from->address)
		set_hex(encoder, object, "address", from->address);
	if (from->tid)
		set_integer(encoder, object, "tid", (uint64_t)from->tid);
	set_string(encoder, object, "thread", from->thread);
	set_string(encoder, object, "module", from->module);
	set_string(encoder, object, "build_id", from->build_id);
	if (from->module)
		set_hex(encoder, object, "module_offset", from->module_offset);
	set_string(encoder, object, "file", from->file);
	if (from->line)
		set_integer(encoder, object, "line", from->line);
	if (from->stack.count)
		set_stack(encoder, object, &from->stack);
	if (from->time)
		set_time(encoder, object, "time", from->time);
	if (from->freed.time)
		set(encoder, object, "freed", encode_moment(encoder, &from->freed));
	return object;
}

static json_t *encode_evidence(struct encoder *encoder, const struct finding *finding)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < finding->evidence_count; i++)
		if (json_array_append_new(array, string_value(finding->evidence[i])))
			encoder->failed = true;
	return array;
}

static json_t *encode_occurrences(struct encoder *encoder, const struct finding *finding)
{
	json_t *array = json_array();
	size_t i;

	for (i = 0; i < finding->occurrence_count; i++) {
		json_t *object = json_object();

		set_time(encoder, object, "time", finding->occurrences[i].time);
		set_integer(encoder, object, "tid", (uint64_t)finding->occurrences[i].tid);
		if (json_array_append_new(array, object))
			encoder->failed = true;
	}
	return array;
}

/* A hit has its values at the top. */
static void set_hit_values(struct encoder *encoder, json_t *object,
			   const struct finding_access *access)
{
	if (access->before_known)
		set_hex(encoder, object, "old", access->before);
	if (access->after_known)
		set_hex(encoder, object, "new", access->after);
}

static void set_origin(struct encoder *encoder, json_t *object, const struct finding *finding)
{
	if (finding->pid)
		set_integer(encoder, object, "pid", (uint64_t)finding->pid);
	set_string(encoder, object, "program", finding->program);
	set_string(encoder, object, "build_id", finding->build_id);
	set_string(encoder, object, "host", finding->host);
	set_string(encoder, object, "run", finding->run);
	if (finding->time)
		set_time(encoder, object, "time", finding->time);
	if (finding->last && finding->last != finding->time)
		set_time(encoder, object, "last", finding->last);
}

static void set_accesses(struct encoder *encoder, json_t *object, const struct finding *finding,
			 bool values)
{
	json_t *accesses = json_array();
	size_t i;

	for (i = 0; i < finding->access_count; i++)
		if (json_array_append_new(accesses,
					  encode_access(encoder, &finding->accesses[i], values)))
			encoder->failed = true;
	set(encoder, object, "accesses", accesses);
}

/* A block's life by its two stacks, beside `object`, which has them as well: for findings that are
 * about the life. */
static void set_life(struct encoder *encoder, json_t *object, const struct finding *finding)
{
	const struct finding_object *block = &finding->object;
	const struct finding_freed made = {.time = block->time,
					   .tid = block->tid,
					   .thread = block->thread,
					   .stack = block->stack};

	if (block->kind != FINDING_OBJECT_HEAP || strcmp(finding->kind, FINDING_DATA_RACE) == 0 ||
	    strcmp(finding->kind, FINDING_HIT) == 0)
		return;
	if (made.stack.count)
		set(encoder, object, "allocated", encode_moment(encoder, &made));
	if (block->freed.stack.count)
		set(encoder, object, "freed", encode_moment(encoder, &block->freed));
}

/* Members of their own, and "details" tells which. None takes the place of another member. */
static void set_details(struct encoder *encoder, json_t *object, const struct finding *finding)
{
	json_t *names = json_array();

	for (size_t i = 0; i < finding->detail_count; i++) {
		const struct finding_detail *detail = &finding->details[i];

		if (json_object_get(object, detail->name))
			continue;
		set_string(encoder, object, detail->name, detail->value);
		if (json_array_append_new(names, string_value(detail->name)))
			encoder->failed = true;
	}
	set(encoder, object, "details", names);
}

json_t *json_from_finding(const struct finding *finding)
{
	bool hit = !strcmp(finding->kind, FINDING_HIT) && finding->access_count;
	struct encoder encoder = {false};
	json_t *object = json_object();

	set_integer(&encoder, object, "v", JSON_VERSION);
	set_string(&encoder, object, "kind", finding->kind);
	set_string(&encoder, object, "id", finding->id);
	if (finding->certainty)
		set_string(&encoder, object, "class", finding_class_name(finding->certainty));
	if (finding->rank)
		set_integer(&encoder, object, "rank", finding->rank);
	set_string(&encoder, object, "message", finding->message);
	set(&encoder, object, "evidence", encode_evidence(&encoder, finding));
	set_origin(&encoder, object, finding);
	set(&encoder, object, "object", encode_object(&encoder, &finding->object));
	if (hit)
		set_hit_values(&encoder, object, &finding->accesses[0]);
	set_accesses(&encoder, object, finding, !hit);
	set_integer(&encoder, object, "count", finding->count);
	if (finding->runs) {
		set_integer(&encoder, object, "runs", finding->runs);
		set_integer(&encoder, object, "hosts", finding->hosts);
		set_integer(&encoder, object, "builds", finding->builds);
	}
	if (finding->occurrence_count)
		set(&encoder, object, "occurrences", encode_occurrences(&encoder, finding));
	set_life(&encoder, object, finding);
	set_string(&encoder, object, "strategy", finding->strategy);
	if (finding->detail_count)
		set_details(&encoder, object, finding);
	if (encoder.failed) {
		json_decref(object);
		return NULL;
	}
	return object;
}
