/* SPDX-License-Identifier: Apache-2.0 */
/* Places of the code by how often they touched what is watched. */
#include "watch/place.h"

#include "base/path.h"
#include "lasting/lasting.h"
#include "record/utf8.h"
#include "watch/filter.h"
#include "watch/heap.h"
#include "watch/state.h"
#include "watch/wanted.h"

#include <stdlib.h>
#include <string.h>

/* the program decides how many there are, by the code that it makes or loads */
#define PLACES_MOST 4096

static void frame_text(const struct finding_frame *frame, char *text, size_t size)
{
	if (frame->function && frame->file && frame->line)
		snprintf(text, size, "%s %s:%u", frame->function, path_name(frame->file),
			 frame->line);
	else if (frame->function && frame->function_offset >= 0)
		snprintf(text, size, "%s+%lld (%s)", frame->function,
			 (long long)frame->function_offset,
			 frame->module ? path_name(frame->module) : "?");
	else if (frame->function)
		snprintf(text, size, "%s (%s+0x%llx)", frame->function,
			 frame->module ? path_name(frame->module) : "?",
			 (unsigned long long)frame->offset);
	else
		snprintf(text, size, "%s+0x%llx", frame->module ? path_name(frame->module) : "?",
			 (unsigned long long)frame->offset);
}

/* The function that the access's own one was inlined into; NULL: it was not inlined. */
static const struct finding_frame *outer_frame(const struct finding_access *access,
					       const struct finding_frame *frame)
{
	const struct finding_frame *end = access->stack.frames + access->stack.count;

	if (!frame->inlined)
		return NULL;
	while (frame < end && frame->inlined)
		frame++;
	return frame < end && frame->function ? frame : NULL;
}

void place_text(const struct finding_access *access, char *text, size_t size)
{
	const struct finding_frame *frame = finding_place_frame(access), *outer;
	size_t length;

	if (!frame) {
		snprintf(text, size, "?");
		return;
	}
	frame_text(frame, text, size);
	outer = outer_frame(access, frame);
	length = strlen(text);
	if (!outer || length + 8 > size)
		return;
	memcpy(text + length, " (in ", 6);
	frame_text(outer, text + length + 5, size - length - 6);
	strcat(text, ")");
}

static struct place *add(struct watch *watch)
{
	if (watch->places == watch->place_capacity) {
		size_t capacity = watch->place_capacity ? 2 * watch->place_capacity : 64;
		struct place *place = realloc(watch->place, capacity * sizeof(*place));

		if (!place)
			return NULL;
		watch->place = place;
		watch->place_capacity = capacity;
	}
	return &watch->place[watch->places++];
}

static void note_last(struct place *place, const struct finding *finding)
{
	const struct finding_access *access = &finding->accesses[0];

	place->last_time = finding->time;
	place->last_known = access->after_known;
	place->last_value = access->after;
	snprintf(place->last_thread, sizeof(place->last_thread), "%s",
		 access->thread ? access->thread : "");
}

int place_count(struct watch *watch, unsigned wanted, const struct finding *finding)
{
	const struct finding_access *access = &finding->accesses[0];
	struct place *place;
	char text[512];

	place_text(access, text, sizeof(text));
	for (size_t i = 0; i < watch->places; i++) {
		place = &watch->place[i];
		if (place->wanted == wanted && place->operation == access->operation &&
		    place->text && strcmp(place->text, text) == 0) {
			place->count++;
			note_last(place, finding);
			return (int)i;
		}
	}
	place = watch->places < PLACES_MOST ? add(watch) : NULL;
	if (!place) {
		watch->unplaced++;
		return -1;
	}
	*place = (struct place){
		.wanted = wanted, .operation = access->operation, .text = strdup(text), .count = 1};
	note_last(place, finding);
	return (int)(watch->places - 1);
}

static int by_count(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->count == y->count ? 0 : x->count > y->count ? -1 : 1;
}

/* How many accesses `count` hits at one place stand for. Slots may have rested at times to keep to
 * the budget, and hits there were not seen. */
static uint64_t place_estimate(const struct wanted *wanted, uint64_t count)
{
	double seen = (double)wanted->kernel, all;

	/* If the estimate is merely a lower bound, the count that was seen stays. */
	if (seen <= 0 || wanted->estimate.at_least)
		return count;
	all = (double)count * (seen + (double)wanted->estimate.hits) / seen;
	/* The program itself counts at its places, so the count may be any number. */
	return all < (double)UINT64_MAX ? (uint64_t)all : UINT64_MAX;
}

/* Where slots rested, says how much of the time was watched and how many hits that stands for;
 * where no estimate can be made, only what was seen. */
static void print_sampling(FILE *to, const struct wanted *wanted)
{
	const struct lasting_estimate *estimate = &wanted->estimate;
	double all = (double)(estimate->watched + estimate->rested);

	if (!estimate->rested)
		return;
	fprintf(to,
		"trapline: %s: %s %llu hits in all%s: watched for %.2f %% of the time to keep to "
		"--budget%s\n",
		wanted->text, estimate->at_least ? "at least" : "about",
		(unsigned long long)place_estimate(wanted, wanted->shown),
		estimate->at_least ? "" : ", an estimate", 100 * (double)estimate->watched / all,
		estimate->at_least ? ", and it comes too often for the others to be estimated"
				   : "");
}

static void print_place(FILE *to, const struct wanted *wanted, const struct place *place)
{
	char count[32];

	if (wanted->estimate.rested)
		snprintf(count, sizeof(count), "%s%llu", wanted->estimate.at_least ? ">=" : "~",
			 (unsigned long long)place_estimate(wanted, place->count));
	else
		snprintf(count, sizeof(count), "%llu", (unsigned long long)place->count);
	fprintf(to, "%12s  %-6s ", count, finding_operation_name(place->operation));
	utf8_print(to, place->text);
	fputc('\n', to);
}

static void print_expression(struct watch *watch, unsigned index)
{
	const struct wanted *wanted = &watch->wanted[index];
	FILE *to = watch->options.lines;

	fprintf(to, "trapline: %s: %llu hits", wanted->text, (unsigned long long)wanted->shown);
	if (wanted->kernel != wanted->shown)
		fprintf(to, " shown or counted here; the kernel counted %llu on its slots",
			(unsigned long long)wanted->kernel);
	fputc('\n', to);
	print_sampling(to, wanted);
	if (wanted->expression.kind == SYMBOL_EXPRESSION_HEAP)
		heap_print(watch, wanted);
	if (wanted->uncovered)
		fprintf(to, "trapline: %s: in %llu threads the variable could not be watched\n",
			wanted->text, (unsigned long long)wanted->uncovered);
	for (size_t i = 0; i < watch->places; i++)
		if (watch->place[i].wanted == index)
			print_place(to, wanted, &watch->place[i]);
}

void places_print(struct watch *watch)
{
	qsort(watch->place, watch->places, sizeof(*watch->place), by_count);
	for (unsigned i = 0; i < watch->options.expressions; i++)
		print_expression(watch, i);
	filter_print(watch);
	if (watch->unplaced)
		fprintf(watch->options.lines,
			"trapline: %llu hits at further places: %d places are listed at most\n",
			(unsigned long long)watch->unplaced, PLACES_MOST);
	if (watch->dropped)
		fprintf(watch->options.lines,
			"trapline: %llu hits came faster than they could be noted: the counts by "
			"place are too low by as many\n",
			(unsigned long long)watch->dropped);
	fflush(watch->options.lines);
}
