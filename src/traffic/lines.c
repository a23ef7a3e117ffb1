/* SPDX-License-Identifier: Apache-2.0 */
#include "traffic/lines.h"

#include <string.h>

static uint64_t mix(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15ull;
	return value ^ value >> 32;
}

static bool is_same(const struct flow_memory *a, const struct flow_memory *b)
{
	return a->object == b->object && a->offset == b->offset && a->shared == b->shared;
}

struct flow_line *flow_lines_find(struct flow_lines *lines, const struct flow_memory *memory)
{
	uint64_t hash = mix(memory->object + mix(memory->offset / FLOW_LINE));
	struct flow_line *line = &lines->line[hash % FLOW_LINES];

	if (line->used && is_same(&line->memory, memory))
		return line;
	/* A line that was seen to be shared keeps its slot. */
	if (line->used && line->true_transfers + line->false_transfers) {
		line = &lines->line[(hash >> 32) % FLOW_LINES];
		if (line->used && is_same(&line->memory, memory))
			return line;
	}
	if (line->used)
		lines->displaced++;
	*line = (struct flow_line){.used = true, .memory = *memory, .last_actor = -1};
	return line;
}

uint64_t flow_line_bytes(uint64_t address, unsigned length)
{
	unsigned first = (unsigned)(address % FLOW_LINE);
	unsigned count = length > FLOW_LINE - first ? FLOW_LINE - first : length;
	uint64_t bits = count >= 64 ? UINT64_MAX : (1ull << count) - 1;

	return bits << first;
}

static struct flow_actor *oldest(struct flow_line *line)
{
	struct flow_actor *actor = &line->actor[0];

	for (unsigned i = 1; i < line->actors; i++)
		if (line->actor[i].last < actor->last)
			actor = &line->actor[i];
	return actor;
}

static struct flow_actor *find_actor(struct flow_line *line, const struct flow_visit *visit)
{
	struct flow_actor *actor;

	for (unsigned i = 0; i < line->actors; i++)
		if (line->actor[i].tid == visit->tid && line->actor[i].pid == visit->pid)
			return &line->actor[i];
	actor = line->actors < FLOW_ACTORS ? &line->actor[line->actors++] : oldest(line);
	*actor = (struct flow_actor){.pid = visit->pid, .tid = visit->tid, .last = visit->time};
	return actor;
}

static void note_spot(struct flow_actor *actor, const struct flow_visit *visit)
{
	struct flow_spot *least = &actor->spot[0];

	for (unsigned i = 0; i < actor->spots; i++) {
		struct flow_spot *spot = &actor->spot[i];

		if (spot->pc == visit->pc) {
			spot->count++;
			return;
		}
		if (spot->count < least->count)
			least = spot;
	}
	if (actor->spots < FLOW_SPOTS)
		least = &actor->spot[actor->spots++];
	*least = (struct flow_spot){.pc = visit->pc,
				    .address = visit->address,
				    .length = visit->length,
				    .reads = visit->reads,
				    .writes = visit->writes,
				    .count = 1};
}

/* Bytes that were touched long ago are forgotten: they may have belonged to another object, or
 * to another phase of the program. */
static struct flow_actor *note(struct flow_line *line, const struct flow_visit *visit)
{
	struct flow_actor *actor = find_actor(line, visit);
	uint64_t bytes = flow_line_bytes(visit->address, visit->length);

	if (visit->time > actor->last && visit->time - actor->last > FLOW_STALE)
		actor->read = actor->written = 0;
	if (visit->reads)
		actor->read |= bytes;
	if (visit->writes)
		actor->written |= bytes;
	if (visit->time > actor->last)
		actor->last = visit->time;
	actor->visits++;
	note_spot(actor, visit);
	return actor;
}

void flow_line_note(struct flow_line *line, const struct flow_visit *visit)
{
	line->samples++;
	note(line, visit);
}

static bool is_recent(const struct flow_actor *actor, uint64_t now)
{
	return now < actor->last + FLOW_STALE;
}

bool flow_line_is_shared(const struct flow_line *line, uint64_t now)
{
	unsigned recent = 0;
	bool written = false;

	for (unsigned i = 0; i < line->actors; i++)
		if (is_recent(&line->actor[i], now)) {
			recent++;
			written |= line->actor[i].written != 0;
		}
	return recent > 1 && written;
}

void flow_line_watch_begin(struct flow_line *line)
{
	line->last_actor = -1;
	line->transfers = 0;
	line->pending_true = line->pending_false = 0;
}

/* The bytes that these two threads share truly. */
static uint64_t flow_line_conflict(const struct flow_actor *a, const struct flow_actor *b)
{
	return (a->written & (b->read | b->written)) | (b->written & a->read);
}

void flow_line_watch_visit(struct flow_line *line, const struct flow_visit *visit)
{
	struct flow_actor *actor = note(line, visit);
	int index = (int)(actor - line->actor);
	uint64_t bytes = flow_line_bytes(visit->address, visit->length), conflict;

	if (line->last_actor >= 0 && line->last_actor != index &&
	    (line->last_wrote || visit->writes)) {
		conflict = flow_line_conflict(&line->actor[line->last_actor], actor);
		line->transfers++;
		if (conflict & (bytes | line->last_bytes))
			line->pending_true++;
		else
			line->pending_false++;
	}
	line->last_actor = index;
	line->last_wrote = visit->writes;
	line->last_bytes = bytes;
}

bool flow_line_watch_end(struct flow_line *line, uint64_t duration)
{
	line->watched += duration;
	if (line->transfers < FLOW_TRANSFERS)
		return false;
	line->true_transfers += line->pending_true;
	line->false_transfers += line->pending_false;
	return true;
}

bool flow_line_pair(const struct flow_line *line, const struct flow_actor **first,
		    const struct flow_actor **second)
{
	bool false_ones = line->false_transfers > line->true_transfers;
	uint64_t best = 0;

	for (unsigned i = 0; i < line->actors; i++)
		for (unsigned j = i + 1; j < line->actors; j++) {
			const struct flow_actor *a = &line->actor[i], *b = &line->actor[j];
			uint64_t visits = a->visits < b->visits ? a->visits : b->visits;

			if (!(a->written | b->written) || visits <= best ||
			    (flow_line_conflict(a, b) != 0) == false_ones)
				continue;
			best = visits;
			*first = a->written ? a : b;
			*second = a->written ? b : a;
		}
	return best > 0;
}

const struct flow_spot *flow_actor_spot(const struct flow_actor *actor)
{
	const struct flow_spot *best = NULL;

	for (unsigned i = 0; i < actor->spots; i++) {
		const struct flow_spot *spot = &actor->spot[i];

		if (!best || (spot->writes && !best->writes) ||
		    (spot->writes == best->writes && spot->count > best->count))
			best = spot;
	}
	return best;
}
