/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/describe.h"

#include <stdio.h>
#include <string.h>

#define TEXT 256
#define DETAILS 6

struct text {
	char message[TEXT], name[TEXT], bytes[TEXT], decided[TEXT], size[TEXT];
	struct tl_detail detail[DETAILS];
	size_t details;
};

static void add_detail(struct text *text, const char *name, const char *value)
{
	if (text->details < DETAILS)
		text->detail[text->details++] = (struct tl_detail){name, value};
}

static unsigned first_byte(uint8_t bytes)
{
	return bytes ? (unsigned)__builtin_ctz(bytes) : 0;
}

static const char *sink_name(const struct shadow_found *found)
{
	static const char *const name[] = {"nothing",	"branch", "jump target",
					   "address",	"index",  "system call argument",
					   "bytes sent"};

	return name[found->sink < sizeof(name) / sizeof(*name) ? found->sink : 0];
}

/* "parse (parse.c:12)", as far as known. */
static void name_place(struct tl_host *host, const struct tl_services *services, pid_t pid,
		       uint64_t pc, char *text, size_t size)
{
	struct tl_frame frames[8];
	int count = services->symbolise(host, pid, pc, frames, 8);

	if (count > 0 && frames[0].function && frames[0].file)
		snprintf(text, size, "%s (%s:%u)", frames[0].function, frames[0].file,
			 frames[0].line);
	else if (count > 0 && frames[0].function)
		snprintf(text, size, "%s", frames[0].function);
	else
		snprintf(text, size, "0x%llx", (unsigned long long)pc);
}

static void name_function(struct tl_host *host, const struct tl_services *services,
			  const struct origin *origin, struct text *text)
{
	struct tl_frame frames[8];
	int count = services->symbolise(host, origin->pid, origin->frame, frames, 8);

	if (count > 0 && frames[count - 1].function)
		snprintf(text->name, TEXT, "%s", frames[count - 1].function);
	else
		snprintf(text->name, TEXT, "the function at 0x%llx",
			 (unsigned long long)origin->frame);
}

static void write_frame_message(const struct describe_load *load, struct text *text)
{
	unsigned count = (unsigned)__builtin_popcount(load->bytes);

	snprintf(text->message, TEXT,
		 load->word->copied
			 ? "%u byte%s that nobody wrote in the frame of %s %s read, where they had "
			   "been copied"
			 : "%u byte%s of the frame of %s %s read, that nobody had written since it "
			   "was entered",
		 count, count == 1 ? "" : "s", text->name, count == 1 ? "was" : "were");
}

static void write_message(const struct describe_load *load, struct text *text)
{
	const struct origin *origin = &load->word->origin;
	unsigned count = (unsigned)__builtin_popcount(load->bytes);
	const char *what = load->sent ? "were passed to a system call" : "were read";

	if (load->word->copied)
		snprintf(text->message, TEXT,
			 "%u byte%s that nobody wrote in the block %s, where they had been copied",
			 count, count == 1 ? "" : "s", what);
	else
		snprintf(text->message, TEXT,
			 "%u byte%s at offset %llu of the block %s, that nobody had written", count,
			 count == 1 ? "" : "s",
			 (unsigned long long)(load->word->address + first_byte(load->bytes) -
					      origin->address),
			 what);
}

static void write_details(struct tl_host *host, const struct tl_services *services,
			  const struct describe_load *load, struct text *text)
{
	const struct shadow_found *found = load->found;

	snprintf(text->size, TEXT, "%u", (unsigned)__builtin_popcount(load->bytes));
	add_detail(text, "bytes", text->size);
	if (load->word->origin.frame) {
		add_detail(text, "frame-of", text->name);
	} else if (!load->word->copied) {
		snprintf(text->bytes, TEXT, "%llu",
			 (unsigned long long)(load->word->address + first_byte(load->bytes) -
					      load->word->origin.address));
		add_detail(text, "offset", text->bytes);
	}
	if (!found || !found->sink)
		return;
	add_detail(text, "decides", sink_name(found));
	name_place(host, services, load->access->pid, found->pc, text->decided, TEXT);
	add_detail(text, "decided-at", text->decided);
}

void uninit_describe(struct tl_host *host, const struct tl_services *services,
		     const struct describe_load *load, const struct rules_verdict *verdict)
{
	const struct origin *origin = &load->word->origin;
	struct text text = {.details = 0};
	struct tl_object object = {.kind = "heap",
				   .name = text.name,
				   .address = load->word->copied ? load->access->address
								 : origin->address,
				   .size = origin->length,
				   .made = {.time = origin->time,
					    .tid = origin->tid,
					    .pcs = origin->pcs,
					    .count = origin->count}};
	struct tl_report report = {.size = sizeof(report),
				   .kind = load->sent || (load->found &&
							  load->found->sink == SHADOW_SINK_SENT)
						   ? "information-leak"
						   : "uninitialised-read",
				   .certainty = verdict->certainty,
				   .message = text.message,
				   .evidence = verdict->evidence,
				   .evidence_count = verdict->evidence_count,
				   .accesses = &load->access,
				   .access_count = 1,
				   .object = &object,
				   .details = text.detail,
				   .strategy = load->word->copied ? "copy" : "birth"};

	if (origin->frame) {
		name_function(host, services, origin, &text);
		write_frame_message(load, &text);
		report.object = NULL; /* the variable, by debug information */
		report.strategy = load->word->copied ? "copy" : "frame";
	} else {
		snprintf(text.name, TEXT, "%llu-byte block", (unsigned long long)origin->length);
		write_message(load, &text);
	}
	write_details(host, services, load, &text);
	report.detail_count = text.details;
	services->report(host, &report);
}
