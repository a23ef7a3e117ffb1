/* SPDX-License-Identifier: Apache-2.0 */
/* Which rule hides a finding. This file is all there is to audit about hiding. */
#include <string.h>

#include "base/glob.h"
#include "suppression/suppressions.h"
#include "suppression/suppressions_rule.h"

#define PART_SIZE 1024 /* of a stack condition; a longer part matches nothing */

static bool matches(const char *glob, const char *text)
{
	return text && glob_match(glob, text);
}

static bool matches_path(const char *glob, const char *path)
{
	return path && glob_match_path(glob, path);
}

static bool frame_matches(const struct condition *condition, const struct finding_frame *frame)
{
	switch (condition->key) {
	case KEY_FUNCTION:
		return matches(condition->glob, frame->function);
	case KEY_FILE:
		return matches_path(condition->glob, frame->file);
	case KEY_MODULE:
		return matches_path(condition->glob, frame->module);
	default:
		return false;
	}
}

static bool any_frame_matches(const struct condition *condition, const struct finding_stack *stack)
{
	size_t i;

	for (i = 0; i < stack->count; i++)
		if (frame_matches(condition, &stack->frames[i]))
			return true;
	return false;
}

/* Takes the part up to ";" or the end; false when it is too long to be a function's name. */
static bool take_part(const char **at, char part[PART_SIZE])
{
	size_t length = strcspn(*at, ";");
	bool fits = length < PART_SIZE;

	if (fits) {
		memcpy(part, *at, length);
		part[length] = '\0';
	}
	*at += length;
	if (**at == ';')
		(*at)++;
	return fits;
}

/* As in glob_match(): only the last "..." ever needs another try, a frame further out. */
static bool stack_matches(const char *parts, const struct finding_stack *stack)
{
	const char *after_dots = NULL;
	size_t frame = 0, resume = 0;
	char part[PART_SIZE];

	while (*parts) {
		const char *next = parts;

		if (!take_part(&next, part))
			return false;
		if (!strcmp(part, "...")) {
			parts = after_dots = next;
			resume = frame;
		} else if (frame < stack->count && matches(part, stack->frames[frame].function)) {
			parts = next;
			frame++;
		} else if (after_dots && resume < stack->count) {
			parts = after_dots;
			frame = ++resume;
		} else {
			return false;
		}
	}
	return true;
}

static bool access_matches(const struct condition *condition, const struct finding_access *access)
{
	const struct finding_frame *place;

	switch (condition->key) {
	case KEY_TOP:
		place = finding_place_frame(access);
		return place && matches(condition->glob, place->function);
	case KEY_THREAD:
		return matches(condition->glob, access->thread);
	case KEY_STACK:
		return stack_matches(condition->glob, &access->stack);
	default:
		return any_frame_matches(condition, &access->stack);
	}
}

static bool finding_matches(const struct condition *condition, const struct finding *finding)
{
	switch (condition->key) {
	case KEY_OBJECT:
		return matches(condition->glob, finding->object.name);
	case KEY_PROGRAM:
		return matches_path(condition->glob, finding->program);
	case KEY_ID:
		return matches(condition->glob, finding->id);
	case KEY_CLASS:
		return matches(condition->glob, finding_class_name(finding->certainty));
	default:
		return false; /* of the accesses alone: where a block came from is known by chance
			       */
	}
}

/* The instruction's own module, of every access. */
static bool lies_within(const char *glob, const struct finding *finding)
{
	for (size_t i = 0; i < finding->access_count; i++) {
		const struct finding_stack *stack = &finding->accesses[i].stack;

		if (!stack->count || !matches_path(glob, stack->frames[0].module))
			return false;
	}
	return finding->access_count;
}

static bool condition_holds(const struct condition *condition, const struct finding *finding)
{
	size_t i;

	if (condition->key == KEY_WITHIN)
		return lies_within(condition->glob, finding);
	if (finding_matches(condition, finding))
		return true;
	for (i = 0; i < finding->access_count; i++)
		if (access_matches(condition, &finding->accesses[i]))
			return true;
	return false;
}

static bool rule_hides(const struct rule *rule, const struct finding *finding)
{
	const struct condition *condition;

	if (!glob_match(rule->kind, finding->kind))
		return false;
	for (condition = rule->conditions; condition; condition = condition->next)
		if (!condition_holds(condition, finding))
			return false;
	return true;
}

const char *suppressions_match(struct suppressions *suppressions, const struct finding *finding)
{
	struct rule *rule;

	for (rule = suppressions->first; rule; rule = rule->next) {
		if (!rule_hides(rule, finding))
			continue;
		rule->hidden++;
		return rule->place;
	}
	return NULL;
}
