/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON -> finding. Anybody's file may come in here: every field is checked for its type and range,
 * unknown fields are passed over, and whatever the finding cannot hold is an error, never cut.
 */
#include "jsonl/json.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "jsonl/timestamp.h"

/* The first failure wins; every later step sees it and does nothing. */
struct decoder {
	struct finding *finding;
	struct report_error *error;
	int code;
};

static void fail(struct decoder *decoder, const char *field, const char *wanted)
{
	if (!decoder->code)
		decoder->code = report_error(decoder->error, -EILSEQ, "field \"%s\" is not %s",
					     field, wanted);
}

static void *checked(struct decoder *decoder, void *pointer, const char *field)
{
	if (!pointer && !decoder->code)
		decoder->code =
			report_error(decoder->error, -ENOMEM,
				     "field \"%s\" does not fit: too many entries, or memory "
				     "is short",
				     field);
	return pointer;
}

/* NULL when the field is missing or null. */
static const json_t *get(const json_t *object, const char *name)
{
	const json_t *value = json_object_get(object, name);

	return json_is_null(value) ? NULL : value;
}

static const char *get_string(struct decoder *decoder, const json_t *object, const char *name)
{
	const json_t *value = get(object, name);

	if (!value)
		return NULL;
	if (!json_is_string(value)) {
		fail(decoder, name, "a string");
		return NULL;
	}
	return checked(decoder, (void *)finding_string(decoder->finding, json_string_value(value)),
		       name);
}

static uint64_t get_integer(struct decoder *decoder, const json_t *object, const char *name,
			    uint64_t max)
{
	const json_t *value = get(object, name);

	if (!value)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    (uint64_t)json_integer_value(value) > max) {
		fail(decoder, name, "a whole number in range");
		return 0;
	}
	return (uint64_t)json_integer_value(value);
}

static bool get_boolean(struct decoder *decoder, const json_t *object, const char *name)
{
	const json_t *value = get(object, name);

	if (value && !json_is_boolean(value))
		fail(decoder, name, "true or false");
	return json_is_true(value);
}

/* "0x1f", or a whole number. */
static bool parse_hex(const json_t *value, uint64_t *number)
{
	const char *text = json_string_value(value);
	char *end;

	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*number = (uint64_t)json_integer_value(value);
		return true;
	}
	if (!text || strncmp(text, "0x", 2) || strlen(text) > 18 || !text[2] ||
	    strspn(text + 2, "0123456789abcdefABCDEF") != strlen(text + 2))
		return false;
	*number = strtoull(text + 2, &end, 16);
	return !*end;
}

static bool get_hex(struct decoder *decoder, const json_t *object, const char *name,
		    uint64_t *number)
{
	const json_t *value = get(object, name);

	*number = 0;
	if (!value)
		return false;
	if (!parse_hex(value, number)) {
		fail(decoder, name, "an address or value like \"0x1f\"");
		return false;
	}
	return true;
}

/* RFC 3339 text, or nanoseconds since 1970. */
static uint64_t get_time(struct decoder *decoder, const json_t *object, const char *name)
{
	const json_t *value = get(object, name);
	uint64_t time = 0;

	if (json_is_integer(value))
		return get_integer(decoder, object, name, INT64_MAX);
	if (value && (!json_is_string(value) || timestamp_parse(json_string_value(value), &time)))
		fail(decoder, name, "a time like \"2026-11-21T03:37:17Z\"");
	return time;
}

static const json_t *get_array(struct decoder *decoder, const json_t *object, const char *name)
{
	const json_t *value = get(object, name);

	if (value && !json_is_array(value)) {
		fail(decoder, name, "an array");
		return NULL;
	}
	return value;
}

static int get_name(struct decoder *decoder, const json_t *object, const char *name,
		    int (*parse)(const char *), const char *wanted)
{
	const json_t *value = get(object, name);
	int number;

	if (!value)
		return 0;
	number = json_is_string(value) ? parse(json_string_value(value)) : -1;
	if (number < 0)
		fail(decoder, name, wanted);
	return number < 0 ? 0 : number;
}

static void decode_frame(struct decoder *decoder, const json_t *json, struct finding_frame *frame)
{
	if (json_is_string(json)) {
		if (!parse_hex(json, &frame->pc))
			fail(decoder, "stack", "an array of frames or addresses");
		return;
	}
	if (!json_is_object(json)) {
		fail(decoder, "stack", "an array of frames or addresses");
		return;
	}
	get_hex(decoder, json, "pc", &frame->pc);
	frame->module = get_string(decoder, json, "module");
	frame->build_id = get_string(decoder, json, "build_id");
	get_hex(decoder, json, "offset", &frame->offset);
	frame->function = get_string(decoder, json, "function");
	if (get(json, "function_offset"))
		frame->function_offset =
			(int64_t)get_integer(decoder, json, "function_offset", INT64_MAX);
	frame->function_line = (unsigned)get_integer(decoder, json, "function_line", INT_MAX);
	frame->file = get_string(decoder, json, "file");
	frame->line = (unsigned)get_integer(decoder, json, "line", INT_MAX);
	frame->column = (unsigned)get_integer(decoder, json, "column", INT_MAX);
	frame->inlined = get_boolean(decoder, json, "inlined");
}

static void decode_stack(struct decoder *decoder, const json_t *json, struct finding_stack *stack)
{
	const json_t *array = get_array(decoder, json, "stack");
	struct finding_frame *frame;
	size_t i;

	for (i = 0; i < json_array_size(array) && !decoder->code; i++) {
		frame = checked(decoder, finding_add_frame(decoder->finding, stack), "stack");
		if (frame)
			decode_frame(decoder, json_array_get(array, i), frame);
	}
}

static void decode_access(struct decoder *decoder, const json_t *json,
			  struct finding_access *access)
{
	if (!json_is_object(json)) {
		fail(decoder, "accesses", "an array of objects");
		return;
	}
	access->tid = (pid_t)get_integer(decoder, json, "tid", INT_MAX);
	access->thread = get_string(decoder, json, "thread");
	access->operation = get_name(decoder, json, "op", finding_operation_parse,
				     "\"read\", \"write\", \"rmw\", \"exec\" or \"unknown\"");
	access->size = get_integer(decoder, json, "size", INT64_MAX);
	get_hex(decoder, json, "address", &access->address);
	access->atomic = get_boolean(decoder, json, "atomic");
	access->kernel = get_boolean(decoder, json, "kernel");
	access->unseen = get_boolean(decoder, json, "unseen");
	access->before_known = get_hex(decoder, json, "before", &access->before);
	access->after_known = get_hex(decoder, json, "after", &access->after);
	access->time = get_time(decoder, json, "time");
	access->facts = (uint32_t)get_integer(decoder, json, "facts", UINT32_MAX);
	decode_stack(decoder, json, &access->stack);
}

static void decode_accesses(struct decoder *decoder, const json_t *json)
{
	const json_t *array = get_array(decoder, json, "accesses");
	struct finding_access *access;
	size_t i;

	for (i = 0; i < json_array_size(array) && !decoder->code; i++) {
		access = checked(decoder, finding_add_access(decoder->finding), "accesses");
		if (access)
			decode_access(decoder, json_array_get(array, i), access);
	}
}

static void decode_freed(struct decoder *decoder, const json_t *json, struct finding_freed *freed)
{
	if (!json)
		return;
	if (!json_is_object(json)) {
		fail(decoder, "freed", "an object");
		return;
	}
	freed->tid = (pid_t)get_integer(decoder, json, "tid", INT_MAX);
	freed->thread = get_string(decoder, json, "thread");
	freed->time = get_time(decoder, json, "time");
	decode_stack(decoder, json, &freed->stack);
}

/* Of what lies before the object it is below zero. */
static uint64_t get_offset(struct decoder *decoder, const json_t *object, const char *name)
{
	const json_t *value = get(object, name);

	if (value && !json_is_integer(value))
		fail(decoder, name, "a whole number");
	return value ? (uint64_t)json_integer_value(value) : 0;
}

static void decode_object(struct decoder *decoder, const json_t *json)
{
	struct finding_object *object = &decoder->finding->object;

	if (!json)
		return;
	if (!json_is_object(json)) {
		fail(decoder, "object", "an object");
		return;
	}
	object->kind = get_name(decoder, json, "kind", finding_object_kind_parse,
				"\"global\", \"heap\", \"stack\", \"tls\" or \"other\"");
	object->name = get_string(decoder, json, "name");
	object->type = get_string(decoder, json, "type");
	object->offset = get_offset(decoder, json, "offset");
	object->size = get_integer(decoder, json, "size", INT64_MAX);
	get_hex(decoder, json, "address", &object->address);
	object->tid = (pid_t)get_integer(decoder, json, "tid", INT_MAX);
	object->thread = get_string(decoder, json, "thread");
	object->module = get_string(decoder, json, "module");
	object->build_id = get_string(decoder, json, "build_id");
	get_hex(decoder, json, "module_offset", &object->module_offset);
	object->file = get_string(decoder, json, "file");
	object->line = (unsigned)get_integer(decoder, json, "line", INT_MAX);
	decode_stack(decoder, json, &object->stack);
	object->time = get_time(decoder, json, "time");
	decode_freed(decoder, get(json, "freed"), &object->freed);
}

static void decode_evidence(struct decoder *decoder, const json_t *json)
{
	const json_t *array = get_array(decoder, json, "evidence");
	size_t i;

	for (i = 0; i < json_array_size(array) && !decoder->code; i++) {
		const char *text = json_string_value(json_array_get(array, i));

		if (!text)
			fail(decoder, "evidence", "an array of strings");
		else if (finding_add_evidence(decoder->finding, text))
			checked(decoder, NULL, "evidence");
	}
}

static void decode_details(struct decoder *decoder, const json_t *json)
{
	const json_t *names = get_array(decoder, json, "details");

	for (size_t i = 0; i < json_array_size(names) && !decoder->code; i++) {
		const char *name = json_string_value(json_array_get(names, i));
		const char *value = name ? json_string_value(json_object_get(json, name)) : NULL;

		if (!value || finding_add_detail(decoder->finding, name, value) == -EINVAL)
			fail(decoder, "details", "an array of the names of members that are text");
	}
}

static void decode_occurrences(struct decoder *decoder, const json_t *json)
{
	const json_t *array = get_array(decoder, json, "occurrences");
	size_t i;

	for (i = 0; i < json_array_size(array) && !decoder->code; i++) {
		const json_t *entry = json_array_get(array, i);

		if (!json_is_object(entry)) {
			fail(decoder, "occurrences", "an array of objects");
			return;
		}
		finding_add_occurrence(decoder->finding, get_time(decoder, entry, "time"),
				       (pid_t)get_integer(decoder, entry, "tid", INT_MAX), false);
	}
}

static void decode_origin(struct decoder *decoder, const json_t *json)
{
	struct finding *finding = decoder->finding;
	uint64_t last;

	finding->pid = (pid_t)get_integer(decoder, json, "pid", INT_MAX);
	finding->program = get_string(decoder, json, "program");
	finding->build_id = get_string(decoder, json, "build_id");
	finding->host = get_string(decoder, json, "host");
	finding->run = get_string(decoder, json, "run");
	finding->time = get_time(decoder, json, "time");
	last = get_time(decoder, json, "last");
	if (last > finding->last)
		finding->last = last;
}

static void decode_hit_values(struct decoder *decoder, const json_t *json)
{
	struct finding_access *access = decoder->finding->accesses;
	uint64_t value;

	if (!decoder->finding->access_count)
		return;
	if (get_hex(decoder, json, "old", &value)) {
		access->before = value;
		access->before_known = true;
	}
	if (get_hex(decoder, json, "new", &value)) {
		access->after = value;
		access->after_known = true;
	}
}

static void decode_id(struct decoder *decoder, const json_t *json)
{
	const char *id = get_string(decoder, json, "id");

	if (!id || !*id)
		return;
	if (strlen(id) != FINDING_ID_SIZE - 1 ||
	    strspn(id, "0123456789abcdef") != FINDING_ID_SIZE - 1)
		fail(decoder, "id", "16 hexadecimal digits");
	else
		memcpy(decoder->finding->id, id, FINDING_ID_SIZE);
}

static void decode_all(struct decoder *decoder, const json_t *json)
{
	struct finding *finding = decoder->finding;
	uint64_t count;

	finding->rank = (unsigned)get_integer(decoder, json, "rank", UINT_MAX);
	finding->certainty = get_name(decoder, json, "class", finding_class_parse,
				      "\"definite\", \"likely\" or \"possible\"");
	finding->message = get_string(decoder, json, "message");
	count = get_integer(decoder, json, "count", INT64_MAX);
	finding->count = count ? count : 1;
	finding->runs = (unsigned)get_integer(decoder, json, "runs", INT_MAX);
	finding->hosts = (unsigned)get_integer(decoder, json, "hosts", INT_MAX);
	finding->builds = (unsigned)get_integer(decoder, json, "builds", INT_MAX);
	decode_occurrences(decoder, json);
	decode_origin(decoder, json);
	decode_evidence(decoder, json);
	decode_details(decoder, json);
	finding->strategy = get_string(decoder, json, "strategy");
	decode_object(decoder, get(json, "object"));
	decode_accesses(decoder, json);
	decode_hit_values(decoder, json);
	decode_id(decoder, json);
}

static int check_version(const json_t *json, struct report_error *error)
{
	const json_t *version;

	if (!json_is_object(json))
		return report_error(error, -EILSEQ, "this is not a JSON object");
	version = json_object_get(json, "v");
	if (!json_is_integer(version))
		return report_error(error, -EILSEQ,
				    "there is no \"v\": this is not a file of findings");
	if (json_integer_value(version) != JSON_VERSION)
		return report_error(error, -EILSEQ,
				    "format version %" JSON_INTEGER_FORMAT
				    " is not known; use a newer trapline",
				    json_integer_value(version));
	if (!json_is_string(json_object_get(json, "kind")))
		return report_error(error, -EILSEQ, "field \"kind\" is not a string");
	return 0;
}

int json_to_finding(const json_t *json, struct finding **finding, struct report_error *error)
{
	struct decoder decoder = {.error = error};

	*finding = NULL;
	decoder.code = check_version(json, error);
	if (decoder.code)
		return decoder.code;
	decoder.finding = finding_create(json_string_value(json_object_get(json, "kind")));
	if (!decoder.finding || !decoder.finding->kind) {
		finding_destroy(decoder.finding);
		return report_error(error, -ENOMEM, "memory is short");
	}
	decode_all(&decoder, json);
	if (decoder.code) {
		finding_destroy(decoder.finding);
		return decoder.code;
	}
	*finding = decoder.finding;
	return 0;
}

static void decode_module(struct decoder *decoder, const json_t *json,
			  struct record_modules *modules)
{
	const json_t *path = get(json, "path"), *build_id = get(json, "build_id");
	uint64_t start, end, bias;
	int err;

	if (!json_is_string(path) || (build_id && !json_is_string(build_id))) {
		fail(decoder, "modules", "an array of objects with a \"path\"");
		return;
	}
	get_hex(decoder, json, "start", &start);
	get_hex(decoder, json, "end", &end);
	get_hex(decoder, json, "bias", &bias);
	if (decoder->code)
		return;
	err = record_modules_add(modules, json_string_value(path), json_string_value(build_id),
				 start, end, bias);
	if (err == -EINVAL)
		fail(decoder, "end", "past \"start\"");
	else if (err)
		checked(decoder, NULL, "modules");
}

int json_to_modules(const json_t *json, struct record_modules **modules, struct report_error *error)
{
	struct decoder decoder = {.error = error};
	const json_t *array, *run;
	size_t i;

	*modules = NULL;
	decoder.code = check_version(json, error);
	if (decoder.code)
		return decoder.code;
	run = get(json, "run");
	array = get_array(&decoder, json, "modules");
	*modules = record_modules_create(json_string_value(run),
					 (pid_t)get_integer(&decoder, json, "pid", INT_MAX));
	checked(&decoder, *modules, "modules");
	for (i = 0; i < json_array_size(array) && !decoder.code; i++)
		decode_module(&decoder, json_array_get(array, i), *modules);
	if (decoder.code) {
		record_modules_destroy(*modules);
		*modules = NULL;
	}
	return decoder.code;
}
