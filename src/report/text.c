/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text.h"

#include "base/path.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/source.h"
#include "jsonl/timestamp.h"
#include "record/utf8.h"

enum style { STYLE_PLAIN, STYLE_TITLE, STYLE_FUNCTION, STYLE_FAINT, STYLE_CODE };

static const char *const style_codes[] = {
	[STYLE_PLAIN] = "\033[0m", [STYLE_TITLE] = "\033[1;31m", [STYLE_FUNCTION] = "\033[1m",
	[STYLE_FAINT] = "\033[2m", [STYLE_CODE] = "\033[36m",
};

bool text_wants_color(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no_color && *no_color) && term && strcmp(term, "dumb") && isatty(fileno(stream));
}

struct writer {
	FILE *stream;
	const struct text_options *options;
};

static void begin_line(const struct writer *writer)
{
	if (writer->options->prefix)
		fputs(writer->options->prefix, writer->stream);
}

static void style(const struct writer *writer, enum style wanted)
{
	if (writer->options->color)
		fputs(style_codes[wanted], writer->stream);
}

static void print_styled(const struct writer *writer, enum style wanted, const char *text)
{
	style(writer, wanted);
	utf8_print(writer->stream, text);
	style(writer, STYLE_PLAIN);
}

static const char *kind_title(const char *kind)
{
	if (!strcmp(kind, FINDING_DATA_RACE))
		return "data race";
	return kind;
}

static void write_rank(const struct writer *writer, const struct finding *finding)
{
	if (finding->rank && finding->certainty == FINDING_POSSIBLE)
		fprintf(writer->stream, ", rank %u", finding->rank);
}

static void write_title(const struct writer *writer, const struct finding *finding)
{
	begin_line(writer);
	style(writer, STYLE_TITLE);
	utf8_print(writer->stream, kind_title(finding->kind));
	if (finding->certainty)
		fprintf(writer->stream, ", %s", finding_class_name(finding->certainty));
	write_rank(writer, finding);
	style(writer, STYLE_PLAIN);
	if (finding->message) {
		fputs(": ", writer->stream);
		utf8_print(writer->stream, finding->message);
	}
	style(writer, STYLE_FAINT);
	fprintf(writer->stream, "  [%s]", finding->id);
	style(writer, STYLE_PLAIN);
	fputc('\n', writer->stream);
}

static const char *operation_title(const struct finding_access *access)
{
	switch (access->operation) {
	case FINDING_READ:
		return "read";
	case FINDING_WRITE:
		return "write";
	case FINDING_READ_MODIFY_WRITE:
		return "read and write";
	case FINDING_EXECUTE:
		return "execution";
	default:
		return "access";
	}
}

static void write_values(const struct writer *writer, const struct finding_access *access)
{
	if (access->before_known && access->after_known)
		fprintf(writer->stream, ", value 0x%" PRIx64 " -> 0x%" PRIx64, access->before,
			access->after);
	else if (access->before_known || access->after_known)
		fprintf(writer->stream, ", value 0x%" PRIx64,
			access->before_known ? access->before : access->after);
}

static void write_access_head(const struct writer *writer, const struct finding_access *access)
{
	begin_line(writer);
	fprintf(writer->stream, "  %s%s", access->atomic ? "atomic " : "", operation_title(access));
	if (access->size)
		fprintf(writer->stream, " of %" PRIu64 " byte%s", access->size,
			access->size == 1 ? "" : "s");
	if (access->address)
		fprintf(writer->stream, " at 0x%" PRIx64, access->address);
	fprintf(writer->stream, "%s thread ", finding_access_by(access));
	if (access->thread)
		print_styled(writer, STYLE_FUNCTION, access->thread);
	if (access->tid)
		fprintf(writer->stream, "%s%d%s", access->thread ? " (" : "", (int)access->tid,
			access->thread ? ")" : "");
	write_values(writer, access);
	fputs(":\n", writer->stream);
}

static void write_place(const struct writer *writer, const struct finding_frame *frame)
{
	if (frame->file) {
		fputs("  ", writer->stream);
		utf8_print(writer->stream, frame->file);
		if (frame->line)
			fprintf(writer->stream, ":%u", frame->line);
		if (frame->line && frame->column)
			fprintf(writer->stream, ":%u", frame->column);
	}
	if (frame->inlined)
		fputs("  (inlined)", writer->stream);
	if (!frame->module)
		return;
	style(writer, STYLE_FAINT);
	fputs("  (", writer->stream);
	utf8_print(writer->stream, path_name(frame->module));
	fprintf(writer->stream, "+0x%" PRIx64 ")", frame->offset);
	style(writer, STYLE_PLAIN);
}

static int read_source(const struct writer *writer, const struct finding_frame *frame, char *text,
		       size_t size)
{
	const struct text_options *options = writer->options;

	return options->source
		       ? options->source(options->source_arg, frame->file, frame->line, text, size)
		       : source_line(frame->file, frame->line, text, size);
}

static void write_source(const struct writer *writer, const struct finding_frame *frame)
{
	char text[512];
	const char *start = text;

	if (!writer->options->sources || !frame->file || !frame->line ||
	    read_source(writer, frame, text, sizeof(text)))
		return;
	while (*start == ' ' || *start == '\t')
		start++;
	begin_line(writer);
	fputs("         | ", writer->stream);
	print_styled(writer, STYLE_CODE, start);
	fputc('\n', writer->stream);
}

static void write_stack(const struct writer *writer, const struct finding_stack *stack,
			const struct finding_frame *place)
{
	size_t i, shown = stack->count;

	if (writer->options->frames && shown > writer->options->frames)
		shown = writer->options->frames;
	for (i = 0; i < shown; i++) {
		const struct finding_frame *frame = &stack->frames[i];

		begin_line(writer);
		fprintf(writer->stream, "    #%-2zu ", i);
		if (frame->function)
			print_styled(writer, STYLE_FUNCTION, frame->function);
		else
			fprintf(writer->stream, "0x%" PRIx64, frame->pc);
		write_place(writer, frame);
		fputc('\n', writer->stream);
		if (frame == place)
			write_source(writer, frame);
	}
	if (shown < stack->count) {
		begin_line(writer);
		fprintf(writer->stream, "    (%zu more)\n", stack->count - shown);
	}
}

static const char *object_title(enum finding_object_kind kind)
{
	switch (kind) {
	case FINDING_OBJECT_GLOBAL:
		return "global";
	case FINDING_OBJECT_HEAP:
		return "heap block";
	case FINDING_OBJECT_STACK:
		return "stack variable";
	case FINDING_OBJECT_TLS:
		return "thread-local";
	default:
		return NULL;
	}
}

static void write_thread(const struct writer *writer, const char *name, pid_t tid)
{
	fputs(" thread ", writer->stream);
	if (name)
		utf8_print(writer->stream, name);
	if (tid)
		fprintf(writer->stream, "%s%d%s", name ? " (" : "", (int)tid, name ? ")" : "");
}

/* How long before the finding was made. */
static void write_age(const struct writer *writer, uint64_t time, uint64_t finding_time)
{
	uint64_t age = finding_time - time;

	if (!time || time > finding_time)
		return;
	if (age < 1000000000)
		fprintf(writer->stream, ", %.1f ms before", (double)age / 1e6);
	else
		fprintf(writer->stream, ", %.1f s before", (double)age / 1e9);
}

/* A frame with a stack: where the address of its variable was given away. */
static void write_object_owner(const struct writer *writer, const struct finding_object *object,
			       uint64_t finding_time)
{
	fputs(object->kind == FINDING_OBJECT_HEAP ? ", allocated by" : " of", writer->stream);
	write_thread(writer, object->thread, object->tid);
	if (object->kind == FINDING_OBJECT_STACK && object->stack.count)
		fputs(", whose address was given away", writer->stream);
	write_age(writer, object->time, finding_time);
}

/* A race's memory may have been given to somebody else since; a detector of blocks knows. */
static void write_freed(const struct writer *writer, const struct finding *finding)
{
	const struct finding_freed *freed = &finding->object.freed;
	bool frame = finding->object.kind == FINDING_OBJECT_STACK;
	bool doubtful = strcmp(finding->kind, FINDING_DATA_RACE) == 0;

	if (!freed->time)
		return;
	begin_line(writer);
	fputs(frame ? "  its frame returned in" : "  freed by", writer->stream);
	write_thread(writer, freed->thread, freed->tid);
	write_age(writer, freed->time, finding->time);
	if (frame)
		fputs(", to:\n", writer->stream);
	else
		fputs(doubtful ? ", and perhaps another block since:\n" : ":\n", writer->stream);
	write_stack(writer, &freed->stack, NULL);
}

static bool object_known(const struct finding_object *object)
{
	return object->name || object->address || object->stack.count ||
	       object->kind != FINDING_OBJECT_OTHER;
}

/* Memory whose variable or block is not known: no more than where it lies. */
static const char *memory_title(enum finding_object_kind kind)
{
	switch (kind) {
	case FINDING_OBJECT_GLOBAL:
		return "static data";
	case FINDING_OBJECT_HEAP:
		return "heap memory";
	case FINDING_OBJECT_STACK:
		return "memory on the stack";
	case FINDING_OBJECT_TLS:
		return "thread-local memory";
	default:
		return NULL;
	}
}

static void write_object_title(const struct writer *writer, const struct finding_object *object)
{
	bool known = object->name || object->size;
	const char *title = known ? object_title(object->kind) : memory_title(object->kind);

	if (title)
		fprintf(writer->stream, " %s", title);
	if (known || object->kind != FINDING_OBJECT_GLOBAL || !object->module)
		return;
	fputs(" of ", writer->stream);
	utf8_print(writer->stream, path_name(object->module));
	fprintf(writer->stream, "+0x%" PRIx64, object->module_offset);
}

/* Of what lies before it, less than nothing. */
static void write_offset(const struct writer *writer, uint64_t offset)
{
	if ((int64_t)offset < 0)
		fprintf(writer->stream, " - %" PRIu64, -offset);
	else
		fprintf(writer->stream, " + %" PRIu64, offset);
}

static void write_object(const struct writer *writer, const struct finding *finding)
{
	const struct finding_object *object = &finding->object;
	bool named = object->name && !finding_object_is_named_by_size(object);

	if (!object_known(object))
		return;
	begin_line(writer);
	fputs("  object:", writer->stream);
	write_object_title(writer, object);
	if (named) {
		fputc(' ', writer->stream);
		print_styled(writer, STYLE_FUNCTION, object->name);
	}
	if (object->offset && (named || (object->kind == FINDING_OBJECT_HEAP && object->size)))
		write_offset(writer, object->offset);
	if (object->type) {
		fputs(" of type ", writer->stream);
		utf8_print(writer->stream, object->type);
	}
	if (object->size)
		fprintf(writer->stream, ", %" PRIu64 " byte%s", object->size,
			object->size == 1 ? "" : "s");
	if (object->address)
		fprintf(writer->stream, " at 0x%" PRIx64, object->address);
	if (object->tid || object->thread)
		write_object_owner(writer, object, finding->time);
	if (object->file) {
		fputs(", declared at ", writer->stream);
		utf8_print(writer->stream, object->file);
		fprintf(writer->stream, ":%u", object->line);
	}
	fputc('\n', writer->stream);
	write_stack(writer, &object->stack, NULL);
	write_freed(writer, finding);
}

static void write_evidence(const struct writer *writer, const struct finding *finding)
{
	size_t i;

	for (i = 0; i < finding->evidence_count; i++) {
		begin_line(writer);
		fputs(i ? "       " : "  why: ", writer->stream);
		utf8_print(writer->stream, finding->evidence[i]);
		fputc('\n', writer->stream);
	}
}

static void write_details(const struct writer *writer, const struct finding *finding)
{
	for (size_t i = 0; i < finding->detail_count; i++) {
		begin_line(writer);
		fprintf(writer->stream, "  %s: ", finding->details[i].name);
		utf8_print(writer->stream, finding->details[i].value);
		fputc('\n', writer->stream);
	}
}

static void write_origin(const struct writer *writer, const struct finding *finding)
{
	char first[TIMESTAMP_SIZE], last[TIMESTAMP_SIZE];

	begin_line(writer);
	style(writer, STYLE_FAINT);
	fprintf(writer->stream, "  seen %" PRIu64 " time%s", finding->count,
		finding->count == 1 ? "" : "s");
	if (finding->time) {
		timestamp_format_short(finding->time, first);
		fprintf(writer->stream, ", %s", first);
	}
	if (finding->last > finding->time) {
		timestamp_format_short(finding->last, last);
		fprintf(writer->stream, " to %s", last);
	}
	if (finding->runs > 1)
		fprintf(writer->stream, ", in %u runs (%u host%s, %u build%s)", finding->runs,
			finding->hosts, finding->hosts == 1 ? "" : "s", finding->builds,
			finding->builds == 1 ? "" : "s");
	if (finding->program) {
		fputs(", in ", writer->stream);
		utf8_print(writer->stream, finding->program);
		if (finding->pid)
			fprintf(writer->stream, " (%d)", (int)finding->pid);
	}
	if (finding->host) {
		fputs(" on ", writer->stream);
		utf8_print(writer->stream, finding->host);
	}
	if (finding->strategy) {
		fputs(", by ", writer->stream);
		utf8_print(writer->stream, finding->strategy);
	}
	style(writer, STYLE_PLAIN);
	fputc('\n', writer->stream);
}

void text_write(FILE *stream, const struct finding *finding, const struct text_options *options)
{
	struct writer writer = {stream, options};
	size_t i;

	write_title(&writer, finding);
	for (i = 0; i < finding->access_count; i++) {
		write_access_head(&writer, &finding->accesses[i]);
		write_stack(&writer, &finding->accesses[i].stack,
			    finding_place_frame(&finding->accesses[i]));
	}
	write_object(&writer, finding);
	write_evidence(&writer, finding);
	write_details(&writer, finding);
	write_origin(&writer, finding);
	begin_line(&writer);
	fputc('\n', stream);
}

static void write_short_place(FILE *stream, const struct finding_access *access)
{
	const struct finding_frame *frame = finding_place_frame(access);

	if (frame && frame->function)
		utf8_print(stream, frame->function);
	else if (frame && frame->module)
		utf8_print(stream, path_name(frame->module));
	else
		fputc('?', stream);
	if (frame && frame->file) {
		fputc(' ', stream);
		utf8_print(stream, path_name(frame->file));
	}
	if (frame && frame->file && frame->line)
		fprintf(stream, ":%u", frame->line);
	else if (frame && frame->module && !frame->file)
		fprintf(stream, "+0x%" PRIx64, frame->offset);
}

void text_write_summary(FILE *stream, const struct finding *finding,
			const struct text_options *options)
{
	struct writer writer = {stream, options};
	size_t i;

	begin_line(&writer);
	style(&writer, STYLE_FAINT);
	fprintf(stream, "%s ", finding->id);
	style(&writer, STYLE_PLAIN);
	if (finding->certainty)
		fprintf(stream, " %-8s", finding_class_name(finding->certainty));
	fprintf(stream, " %8" PRIu64 "x  ", finding->count);
	utf8_print(stream, kind_title(finding->kind));
	write_rank(&writer, finding);
	fputs(": ", stream);
	for (i = 0; i < finding->access_count; i++) {
		fputs(i ? " / " : "", stream);
		write_short_place(stream, &finding->accesses[i]);
	}
	if (!finding->access_count && finding->message)
		utf8_print(stream, finding->message);
	if (finding->object.name) {
		fputs(", on ", stream);
		utf8_print(stream, finding->object.name);
	}
	fputc('\n', stream);
}

void text_write_heading(FILE *stream, const char *object, size_t count,
			const struct text_options *options)
{
	struct writer writer = {stream, options};

	begin_line(&writer);
	style(&writer, STYLE_FUNCTION);
	utf8_print(stream, object);
	style(&writer, STYLE_PLAIN);
	fprintf(stream, ": %zu findings of class possible, what deserves a look first\n", count);
	begin_line(&writer);
	fputc('\n', stream);
}
