/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings -> SARIF. A result's location is the place of the first access that has one; every
 * access is a related location, the message links to them, and their stacks are result.stacks. The
 * stable id is the partial fingerprint by which services tell old results from new.
 */
#include "report/sarif.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "record/utf8.h"

struct encoder {
	const struct sarif_options *options;
	json_t *rules;
	bool failed;
};

static void set(struct encoder *encoder, json_t *object, const char *name, json_t *value)
{
	if (json_object_set_new(object, name, value))
		encoder->failed = true;
}

static void append(struct encoder *encoder, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value))
		encoder->failed = true;
}

static json_t *string_value(const char *text)
{
	char *clean = utf8_clean(text);
	json_t *value = clean ? json_string(clean) : NULL;

	free(clean);
	return value;
}

/* {"text": …} made by a stream-like callback */
static json_t *message_value(const char *text)
{
	return json_pack("{s:o}", "text", string_value(text));
}

/* Percent-encoding of all but the characters a URI's path takes as they are (RFC 3986). */
static json_t *uri_value(const char *prefix, const char *path)
{
	char *uri = malloc(strlen(prefix) + strlen(path) * 3 + 1), *to;
	json_t *value;

	if (!uri)
		return NULL;
	to = stpcpy(uri, prefix);
	for (; *path; path++) {
		if (isalnum((unsigned char)*path) || strchr("/-._~+,=@", *path))
			*to++ = *path;
		else
			to += sprintf(to, "%%%02X", (unsigned char)*path);
	}
	*to = '\0';
	value = json_string(uri);
	free(uri);
	return value;
}

static json_t *artifact_value(struct encoder *encoder, const char *path)
{
	const char *root = encoder->options->root;
	size_t length = root ? strlen(root) : 0;
	json_t *object = json_object();

	while (length && root[length - 1] == '/')
		length--;
	if (length && !strncmp(path, root, length) && path[length] == '/')
		path += length + 1;
	if (path[0] == '/') {
		set(encoder, object, "uri", uri_value("file://", path));
	} else {
		/* A first segment with a colon would read as a scheme; "./" says it is a path. */
		set(encoder, object, "uri", uri_value("", path));
		set(encoder, object, "uriBaseId", json_string("SRCROOT"));
	}
	return object;
}

static json_t *physical_value(struct encoder *encoder, const struct finding_frame *frame)
{
	json_t *physical = json_object(), *region;
	const char *path = frame->file ? frame->file : frame->module;

	set(encoder, physical, "artifactLocation", artifact_value(encoder, path));
	if (frame->file && frame->line) {
		region = json_pack("{s:I}", "startLine", (json_int_t)frame->line);
		if (frame->column)
			set(encoder, region, "startColumn", json_integer(frame->column));
		set(encoder, physical, "region", region);
	} else if (!frame->file && frame->offset <= INT64_MAX) {
		set(encoder, physical, "address",
		    json_pack("{s:I,s:s}", "relativeAddress", (json_int_t)frame->offset, "kind",
			      "instruction"));
	}
	return physical;
}

static json_t *location_value(struct encoder *encoder, const struct finding_frame *frame)
{
	json_t *location = json_object(), *logical;

	if (frame->file || frame->module)
		set(encoder, location, "physicalLocation", physical_value(encoder, frame));
	if (frame->function) {
		logical = json_pack("{s:o,s:s}", "fullyQualifiedName",
				    string_value(frame->function), "kind", "function");
		set(encoder, location, "logicalLocations", json_pack("[o]", logical));
	}
	return location;
}

static json_t *frame_value(struct encoder *encoder, const struct finding_frame *frame)
{
	json_t *object = json_object();

	set(encoder, object, "location", location_value(encoder, frame));
	if (frame->module)
		set(encoder, object, "module", string_value(frame->module));
	return object;
}

static json_t *stack_value(struct encoder *encoder, const struct finding_stack *stack,
			   const char *message)
{
	json_t *frames = json_array();
	size_t i;

	for (i = 0; i < stack->count; i++)
		append(encoder, frames, frame_value(encoder, &stack->frames[i]));
	return json_pack("{s:o,s:o}", "message", message_value(message), "frames", frames);
}

/* "write of 8 bytes by thread worker-1 in stats_add" */
static char *access_text(const struct finding_access *access)
{
	const struct finding_frame *frame = finding_place_frame(access);
	char *text = NULL, size[40] = "", thread[48] = "an unnamed thread";

	if (access->size)
		snprintf(size, sizeof(size), " of %" PRIu64 " byte%s", access->size,
			 access->size == 1 ? "" : "s");
	if (access->thread)
		snprintf(thread, sizeof(thread), "thread %.40s", access->thread);
	if (asprintf(&text, "%s%s%s%s %s%s%s", access->atomic ? "atomic " : "",
		     access->operation == FINDING_UNKNOWN_OPERATION
			     ? "access"
			     : finding_operation_name(access->operation),
		     size, finding_access_by(access), thread,
		     frame && frame->function ? " in " : "",
		     frame && frame->function ? frame->function : "") < 0)
		return NULL;
	return text;
}

static const char *rule_text(const char *kind)
{
	if (!strcmp(kind, FINDING_DATA_RACE))
		return "Two threads access the same memory at the same time, at least one of them "
		       "writes, and nothing orders them.";
	if (!strcmp(kind, FINDING_HIT))
		return "A watched place was accessed.";
	return "A finding of a Trapline tool.";
}

/* The rule's index; rules are few, so the search is linear. */
static json_int_t rule_index(struct encoder *encoder, const char *kind)
{
	json_t *rule, *id = string_value(kind);
	size_t i;

	for (i = 0; i < json_array_size(encoder->rules); i++) {
		rule = json_array_get(encoder->rules, i);
		if (json_equal(json_object_get(rule, "id"), id)) {
			json_decref(id);
			return (json_int_t)i;
		}
	}
	rule = json_pack("{s:o,s:o}", "id", id, "shortDescription", message_value(rule_text(kind)));
	append(encoder, encoder->rules, rule);
	return (json_int_t)i;
}

static const char *level(const struct finding *finding)
{
	if (finding->certainty == FINDING_DEFINITE)
		return "error";
	if (finding->certainty == FINDING_LIKELY)
		return "warning";
	return "note";
}

/* Square brackets link to related locations by id, so those of names are escaped. */
static void print_escaped(FILE *stream, const char *text)
{
	for (; *text; text++) {
		if (strchr("[]\\", *text))
			fputc('\\', stream);
		fputc(*text, stream);
	}
}

/* "Data race on counter: [write …](0) and [read …](1)." */
static json_t *result_message(const struct finding *finding)
{
	char *text = NULL, *access;
	size_t size, i;
	FILE *stream = open_memstream(&text, &size);
	json_t *value;

	if (!stream)
		return NULL;
	print_escaped(stream,
		      strcmp(finding->kind, FINDING_DATA_RACE) ? finding->kind : "Data race");
	if (finding->object.name) {
		fputs(" on ", stream);
		print_escaped(stream, finding->object.name);
	}
	for (i = 0; i < finding->access_count; i++) {
		access = access_text(&finding->accesses[i]);
		fputs(i ? " and [" : ": [", stream);
		print_escaped(stream, access ? access : "access");
		fprintf(stream, "](%zu)", i);
		free(access);
	}
	if (finding->message) {
		fputs(": ", stream);
		print_escaped(stream, finding->message);
	}
	fputc('.', stream);
	value = fclose(stream) ? NULL : message_value(text);
	free(text);
	return value;
}

static json_t *related_value(struct encoder *encoder, const struct finding_access *access,
			     size_t id)
{
	const struct finding_frame *frame = finding_place_frame(access);
	json_t *location = frame ? location_value(encoder, frame) : json_object();
	char *text = access_text(access);

	set(encoder, location, "id", json_integer((json_int_t)id));
	set(encoder, location, "message", text ? message_value(text) : NULL);
	free(text);
	return location;
}

static void append_block_stack(struct encoder *encoder, json_t *stacks,
			       const struct finding_stack *stack, const char *message)
{
	if (stack->count)
		append(encoder, stacks, stack_value(encoder, stack, message));
}

static void set_accesses(struct encoder *encoder, json_t *result, const struct finding *finding)
{
	json_t *related = json_array(), *stacks = json_array();
	size_t i;

	for (i = 0; i < finding->access_count; i++) {
		const struct finding_access *access = &finding->accesses[i];
		char *text = access_text(access);

		append(encoder, related, related_value(encoder, access, i));
		append(encoder, stacks,
		       stack_value(encoder, &access->stack, text ? text : "access"));
		free(text);
	}
	set(encoder, result, "relatedLocations", related);
	/* The schema wants the stacks of a result to differ; two threads may be at one place. */
	if (i == 2 && json_equal(json_array_get(stacks, 0), json_array_get(stacks, 1)))
		json_array_remove(stacks, 1);
	if (i > 2) {
		json_decref(stacks);
		return;
	}
	append_block_stack(encoder, stacks, &finding->object.stack, "allocation of the block");
	append_block_stack(encoder, stacks, &finding->object.freed.stack, "release of the block");
	set(encoder, result, "stacks", stacks);
}

static void set_location(struct encoder *encoder, json_t *result, const struct finding *finding)
{
	const struct finding_frame *frame, *best = NULL;
	json_t *locations = json_array();
	size_t i;

	for (i = 0; i < finding->access_count; i++) {
		frame = finding_place_frame(&finding->accesses[i]);
		if (frame && (!best || (!best->file && frame->file)))
			best = frame;
	}
	if (best)
		append(encoder, locations, location_value(encoder, best));
	set(encoder, result, "locations", locations);
}

static json_t *properties_value(struct encoder *encoder, const struct finding *finding)
{
	json_t *properties = json_object(), *evidence = json_array();
	size_t i;

	if (finding->certainty)
		set(encoder, properties, "class",
		    json_string(finding_class_name(finding->certainty)));
	for (i = 0; i < finding->evidence_count; i++)
		append(encoder, evidence, string_value(finding->evidence[i]));
	set(encoder, properties, "evidence", evidence);
	if (finding->program)
		set(encoder, properties, "program", string_value(finding->program));
	if (finding->host)
		set(encoder, properties, "host", string_value(finding->host));
	return properties;
}

static json_t *result_value(struct encoder *encoder, const struct finding *finding)
{
	json_t *result = json_object();

	set(encoder, result, "ruleId", string_value(finding->kind));
	set(encoder, result, "ruleIndex", json_integer(rule_index(encoder, finding->kind)));
	set(encoder, result, "level", json_string(level(finding)));
	/* SARIF's goes from 0 to 100, the highest first. */
	if (finding->rank && finding->rank <= 100)
		set(encoder, result, "rank", json_integer(100 - (json_int_t)finding->rank));
	set(encoder, result, "message", result_message(finding));
	set_location(encoder, result, finding);
	set_accesses(encoder, result, finding);
	set(encoder, result, "partialFingerprints",
	    json_pack("{s:s}", "traplineId/v1", finding->id));
	set(encoder, result, "occurrenceCount", json_integer((json_int_t)finding->count));
	set(encoder, result, "properties", properties_value(encoder, finding));
	return result;
}

static json_t *log_value(struct encoder *encoder, const struct finding_set *findings)
{
	json_t *results = json_array(), *driver, *run;
	size_t i;

	encoder->rules = json_array();
	for (i = 0; i < findings->count; i++)
		append(encoder, results, result_value(encoder, findings->findings[i]));
	driver = json_pack("{s:s,s:s,s:o}", "name", "Trapline", "version",
			   encoder->options->version, "rules", encoder->rules);
	run = json_pack("{s:{s:o},s:s,s:o}", "tool", "driver", driver, "columnKind",
			"utf16CodeUnits", "results", results);
	return json_pack("{s:s,s:s,s:[o]}", "$schema", SARIF_SCHEMA_URI, "version", "2.1.0", "runs",
			 run);
}

int sarif_write(FILE *stream, const struct finding_set *findings,
		const struct sarif_options *options)
{
	struct encoder encoder = {.options = options};
	json_t *log = log_value(&encoder, findings);
	int err = 0;

	if (!log || encoder.failed)
		err = -ENOMEM;
	else if (json_dumpf(log, stream, JSON_INDENT(1) | JSON_ENSURE_ASCII) ||
		 fputc('\n', stream) == EOF)
		err = -EIO;
	json_decref(log);
	return err;
}
