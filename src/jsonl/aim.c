/* SPDX-License-Identifier: Apache-2.0 */
#include "jsonl/aim.h"

#include "record/utf8.h"
#include "jsonl/json.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* Meetings to be expected, from which on none is no chance: e^-4.6 is one percent. */
#define EXPECTED_ENOUGH 4.6

/* ---- JSON --------------------------------------------------------------------------------- */

static json_t *score_to_json(const struct aim_score *score)
{
	return json_pack("{s:I, s:I}", "chances", (json_int_t)score->chances, "meetings",
			 (json_int_t)score->meetings);
}

static json_t *sides_to_json(const struct aim_told *told)
{
	json_t *array = json_array();

	for (unsigned i = 0; i < AIM_SIDES; i++) {
		json_t *side = json_pack("{s:s, s:s, s:I, s:I}", "place", told->side[i].place,
					 "found", aim_how_name(told->side[i].how), "instructions",
					 (json_int_t)told->side[i].instructions, "visits",
					 (json_int_t)told->side[i].visits);

		if (told->side[i].line)
			json_object_set_new(side, "line",
					    json_integer((json_int_t)told->side[i].line));
		if (json_array_append_new(array, side)) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

json_t *aim_to_json(const struct aim_told *told)
{
	json_t *json = json_pack("{s:i, s:s, s:s, s:s, s:I, s:I, s:I, s:o}", "v", JSON_VERSION,
				 "type", "aim", "id", told->id, "run", told->run, "seen",
				 (json_int_t)told->seen, "chances", (json_int_t)told->score.chances,
				 "meetings", (json_int_t)told->score.meetings, "sides",
				 sides_to_json(told));

	if (json && told->again[0])
		json_object_set_new(json, "again", json_string(told->again));
	if (json && told->before.chances)
		json_object_set_new(json, "before", score_to_json(&told->before));
	return json;
}

bool aim_is_json(const json_t *json)
{
	const char *type = json_string_value(json_object_get(json, "type"));

	return type && strcmp(type, "aim") == 0;
}

static int refuse(struct report_error *error, const char *field, const char *wanted)
{
	return report_error(error, -EILSEQ, "field \"%s\" is not %s", field, wanted);
}

static int take_count(const json_t *json, const char *name, uint64_t most, uint64_t *count,
		      struct report_error *error)
{
	const json_t *value = json_object_get(json, name);

	*count = 0;
	if (!value)
		return 0;
	if (!json_is_integer(value) || json_integer_value(value) < 0 ||
	    (uint64_t)json_integer_value(value) > most)
		return refuse(error, name, "a whole number in range");
	*count = (uint64_t)json_integer_value(value);
	return 0;
}

static int take_text(const json_t *json, const char *name, char *to, size_t size,
		     struct report_error *error)
{
	const json_t *value = json_object_get(json, name);

	to[0] = '\0';
	if (!value)
		return 0;
	if (!json_is_string(value) || json_string_length(value) >= size)
		return refuse(error, name, "a string in range");
	memcpy(to, json_string_value(value), json_string_length(value));
	to[json_string_length(value)] = '\0';
	return 0;
}

static int take_score(const json_t *json, struct aim_score *score, struct report_error *error)
{
	int err = take_count(json, "chances", INT64_MAX, &score->chances, error);

	if (!err)
		err = take_count(json, "meetings", INT64_MAX, &score->meetings, error);
	if (!err && score->meetings > score->chances)
		err = refuse(error, "meetings", "at most \"chances\"");
	return err;
}

static int take_how(const json_t *json, enum aim_how *how, struct report_error *error)
{
	const char *name = json_string_value(json_object_get(json, "found"));

	for (int i = AIM_NOWHERE; name && i <= AIM_BY_BUILD; i++)
		if (strcmp(name, aim_how_name((enum aim_how)i)) == 0) {
			*how = (enum aim_how)i;
			return 0;
		}
	return refuse(error, "found", "a way in which a place is found");
}

static int take_side(const json_t *json, struct aim_told *told, unsigned number,
		     struct report_error *error)
{
	uint64_t line = 0, instructions = 0;
	int err = take_text(json, "place", told->side[number].place,
			    sizeof(told->side[number].place), error);

	if (!err)
		err = take_how(json, &told->side[number].how, error);
	if (!err)
		err = take_count(json, "line", INT_MAX, &line, error);
	if (!err)
		err = take_count(json, "instructions", INT_MAX, &instructions, error);
	if (!err)
		err = take_count(json, "visits", INT64_MAX, &told->side[number].visits, error);
	told->side[number].line = (unsigned)line;
	told->side[number].instructions = (unsigned)instructions;
	return err;
}

int aim_from_json(const json_t *json, struct aim_told *told, struct report_error *error)
{
	const json_t *before = json_object_get(json, "before");
	const json_t *sides = json_object_get(json, "sides");
	int err;

	*told = (struct aim_told){0};
	if (json_array_size(sides) != AIM_SIDES)
		return refuse(error, "sides", "an array of two");
	err = take_text(json, "id", told->id, sizeof(told->id), error);
	if (!err && !told->id[0])
		err = refuse(error, "id", "a finding's");
	if (!err)
		err = take_text(json, "again", told->again, sizeof(told->again), error);
	if (!err)
		err = take_text(json, "run", told->run, sizeof(told->run), error);
	if (!err)
		err = take_count(json, "seen", INT64_MAX, &told->seen, error);
	if (!err)
		err = take_score(json, &told->score, error);
	if (!err && before)
		err = take_score(before, &told->before, error);
	for (unsigned i = 0; !err && i < AIM_SIDES; i++)
		err = take_side(json_array_get(sides, i), told, i, error);
	return err;
}

/* ---- text --------------------------------------------------------------------------------- */

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void write_place(FILE *stream, const struct aim_told *told, unsigned number)
{
	utf8_print(stream, told->side[number].place);
	if (told->side[number].how == AIM_NOWHERE)
		fputs(" (not in this program)", stream);
	else if (told->side[number].line)
		fprintf(stream, " (now line %u)", told->side[number].line);
}

static void write_absent(FILE *stream, const struct aim_told *told)
{
	bool first = told->side[0].how == AIM_NOWHERE, second = told->side[1].how == AIM_NOWHERE;

	fprintf(stream, "nothing to watch: %s not found in what ran",
		first && second ? "neither place was"
		: first		? "the first place was"
				: "the second place was");
}

static void write_expected(FILE *stream, const struct aim_told *told, double expected)
{
	double ratio = (double)told->before.chances / (double)told->before.meetings;
	bool enough = expected >= EXPECTED_ENOUGH, one = expected >= 0.5 && expected < 1.5;

	fprintf(stream, ratio < 10 ? "; before, 1 in %.2g: " : "; before, 1 in %.0f: ", ratio);
	fprintf(stream, "%s%.0f meeting%s to be expected%s", enough ? "" : "only ", expected,
		one ? " was" : "s were", enough ? "" : ", too few to tell");
}

static void write_unmet(FILE *stream, const struct aim_told *told)
{
	double expected = aim_told_expected(told);

	fprintf(stream, "%" PRIu64 " chance%s, 0 meetings", told->score.chances,
		plural(told->score.chances));
	if (!told->before.chances)
		fputs("; aim at it in the build before the fix, too, to know how often it met there",
		      stream);
	else if (!told->before.meetings)
		fprintf(stream, "; before, none of %" PRIu64 " either", told->before.chances);
	else
		write_expected(stream, told, expected);
}

static void write_outcome(FILE *stream, const struct aim_told *told)
{
	if (told->seen)
		fprintf(stream,
			"seen again, %" PRIu64 " time%s; %" PRIu64 " chance%s, %" PRIu64
			" meeting%s",
			told->seen, plural(told->seen), told->score.chances,
			plural(told->score.chances), told->score.meetings,
			plural(told->score.meetings));
	else if (told->score.meetings)
		fprintf(stream,
			"%" PRIu64 " chance%s, %" PRIu64 " meeting%s, none of them a race any more",
			told->score.chances, plural(told->score.chances), told->score.meetings,
			plural(told->score.meetings));
	else if (told->score.chances)
		write_unmet(stream, told);
	else if (told->side[0].how == AIM_NOWHERE || told->side[1].how == AIM_NOWHERE)
		write_absent(stream, told);
	else
		fprintf(stream,
			"no chance, which says nothing of a fix: threads came by the first place "
			"%" PRIu64 " time%s, by the second %" PRIu64,
			told->side[0].visits, plural(told->side[0].visits), told->side[1].visits);
}

void aim_write_text(FILE *stream, const struct aim_told *told)
{
	fputs("  [", stream);
	utf8_print(stream, told->id);
	fputs("] ", stream);
	write_place(stream, told, 0);
	fputs(" and ", stream);
	write_place(stream, told, 1);
	fputs("\n      ", stream);
	write_outcome(stream, told);
	fputc('\n', stream);
}
