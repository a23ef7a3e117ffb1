/* SPDX-License-Identifier: Apache-2.0 */
/* A hit as one line, with --stack followed by its frames. */
#include "watch/line.h"

#include "record/utf8.h"
#include "watch/place.h"
#include "watch/state.h"
#include "watch/wanted.h"

void value_text(const struct wanted *wanted, bool known, uint64_t value, char *text, size_t size)
{
	if (!known)
		snprintf(text, size, "?");
	else if (wanted->is_pointer)
		snprintf(text, size, "0x%llx", (unsigned long long)value);
	else if (wanted->is_signed)
		snprintf(text, size, "%lld", (long long)value);
	else
		snprintf(text, size, "%llu", (unsigned long long)value);
}

static void print_value(FILE *to, const struct wanted *wanted, bool known, uint64_t value)
{
	char text[32];

	value_text(wanted, known, value, text, sizeof(text));
	fputs(text, to);
}

static void print_values(FILE *to, const struct wanted *wanted, const struct finding_access *access)
{
	if (access->operation == FINDING_EXECUTE)
		return;
	fputs("  ", to);
	if (access->operation != FINDING_READ) {
		print_value(to, wanted, access->before_known, access->before);
		fputs(" → ", to);
	}
	print_value(to, wanted, access->after_known, access->after);
}

/* Says which block it is, and which part of the whole was touched. */
static void print_part(FILE *to, const struct finding_object *object)
{
	if (object->kind == FINDING_OBJECT_HEAP)
		fprintf(to, " [0x%llx+%llu]", (unsigned long long)object->address,
			(unsigned long long)object->offset);
	else if (object->offset)
		fprintf(to, " [+%llu]", (unsigned long long)object->offset);
}

static void print_place(FILE *to, const struct finding_frame *frame)
{
	if (frame->file && frame->line) {
		fputc(' ', to);
		utf8_print(to, frame->file);
		fprintf(to, ":%u", frame->line);
	} else if (frame->module) {
		fputs(" (", to);
		utf8_print(to, frame->module);
		fprintf(to, "+0x%llx)", (unsigned long long)frame->offset);
	}
}

static void print_stack(FILE *to, const struct finding_access *access)
{
	for (size_t i = 0; i < access->stack.count; i++) {
		const struct finding_frame *frame = &access->stack.frames[i];

		fprintf(to, "      #%zu ", i);
		utf8_print(to, frame->function);
		print_place(to, frame);
		fputs(frame->inlined ? " (inlined)\n" : "\n", to);
	}
}

static void print_remark(FILE *to, const char *text)
{
	fputs("  (", to);
	utf8_print(to, text);
	fputc(')', to);
}

void line_print(const struct watch *watch, const struct finding *finding,
		const struct wanted *wanted, uint64_t time)
{
	const struct finding_access *access = &finding->accesses[0];
	FILE *to = watch->options.lines;
	uint64_t since = time > watch->started ? time - watch->started : 0;
	char place[512];

	place_text(access, place, sizeof(place));
	fprintf(to, "%4llu.%06llu  ", (unsigned long long)(since / 1000000000u),
		(unsigned long long)(since / 1000 % 1000000));
	utf8_print(to, access->thread);
	fprintf(to, "/%d  %-5s %s", (int)access->tid, finding_operation_name(access->operation),
		wanted->text);
	print_part(to, &finding->object);
	print_values(to, wanted, access);
	fputs("  ", to);
	utf8_print(to, place);
	if (access->kernel)
		fputs("  (by a system call)", to);
	for (size_t i = 0; i < finding->evidence_count; i++)
		print_remark(to, finding->evidence[i]);
	fputc('\n', to);
	if (watch->options.stack)
		print_stack(to, access);
	fflush(to);
}
