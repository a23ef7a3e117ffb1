/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which threads share which cache lines, truly or falsely. Samples find lines that several threads
 * come to; a short watch of two of their byte ranges then shows in which order the threads come,
 * which tells a line that moves to and fro from one that was handed over once.
 *
 * Where samples are few, as in a server that sleeps most of the time, two of them seldom fall on
 * one line. When there is no line with two threads, one at which a single thread was seen is
 * watched: at the bytes that this thread came to, and at others of the line drawn at random, to
 * find threads whose bytes lie apart.
 */
#include "traffic/traffic.h"

#include "base/clock.h"

#include "traffic/counts.h"
#include "traffic/lines.h"
#include "traffic/places.h"
#include "traffic/random.h"
#include "traffic/tell.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WINDOW (5 * MILLISECOND)    /* length of one watch of a line */
#define INTERVAL (10 * MILLISECOND) /* time between two such watches */
#define WATCH_HITS 32u		    /* hits of each watched piece, at most */
#define PIECES 3
#define VISITS 128
#define LIVING 256
/* a line is reported again when it has so many times the transfers of its last report */
#define TOLD_AGAIN 4

struct share {
	struct tl_host *host;
	const struct tl_services *services;
	struct flow_lines *lines;
	struct flow_places places;
	/* the lines to watch next: one that threads share; one with a single thread */
	struct flow_line *candidate, *lone;
	double candidate_score, lone_score;
	uint64_t told[FLOW_LINES]; /* transfers when the line was reported last */
	/* The watch under way. */
	struct flow_line *line;
	struct flow_memory memory; /* of the line, which may be displaced meanwhile */
	uint64_t cookie[PIECES];   /* one for each piece; 0: that watch is over */
	struct flow_visit visit[VISITS];
	unsigned visits;
	uint64_t began, next_watch, last_cookie, samples, random, watches, findings;
};

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct share *share = calloc(1, sizeof(*share));

	if (share)
		share->lines = calloc(1, sizeof(*share->lines));
	if (!share || !share->lines) {
		free(share);
		return -ENOMEM;
	}
	share->host = host;
	share->services = services;
	share->random = clock_now() | 1;
	flow_places_init(&share->places, host, services);
	*state = share;
	return 0;
}

/* Memory that processes share is identified by its file, other memory by its process. */
static bool find_memory(struct share *share, const struct tl_access *access,
			struct flow_memory *memory)
{
	struct tl_memory mapping;

	if (share->services->memory(share->host, access->pid, access->address, &mapping))
		return false;
	memory->shared = mapping.shared && mapping.inode;
	memory->object = memory->shared ? mapping.inode ^ mapping.device << 48
					: (uint64_t)access->pid;
	memory->offset = memory->shared ? access->address - mapping.start + mapping.offset
					: access->address;
	memory->offset &= ~(uint64_t)(FLOW_LINE - 1);
	return true;
}

static struct flow_visit visit_of(const struct tl_access *access)
{
	return (struct flow_visit){
		.pid = access->pid,
		.tid = access->tid,
		.pc = access->pc,
		.address = access->address,
		.time = access->time,
		.length = access->length > FLOW_LINE ? FLOW_LINE : (unsigned)access->length,
		.reads = access->access & TL_READ,
		.writes = access->access & TL_WRITE,
	};
}

/* Lines that many samples touch and that were watched seldom come first; lines that several
 * watches did not find shared come last. */
static void propose(struct flow_line *line, uint64_t times, struct flow_line **best,
		    double *best_score)
{
	double watches = (double)times, score = (double)line->samples / (1 + watches * watches);

	if (score <= *best_score)
		return;
	*best = line;
	*best_score = score;
}

static void on_sample(void *state, const struct tl_access *access)
{
	struct share *share = state;
	struct flow_visit visit = visit_of(access);
	struct flow_memory memory;
	struct flow_line *line;

	share->samples++;
	if (!access->tid || !access->length || !find_memory(share, access, &memory))
		return;
	line = flow_lines_find(share->lines, &memory);
	flow_line_note(line, &visit);
	if (line == share->line)
		return;
	if (flow_line_is_shared(line, access->time))
		propose(line, line->watches, &share->candidate, &share->candidate_score);
	else if (!(access->traits & TL_TRAIT_OWN_STACK))
		propose(line, line->looks, &share->lone, &share->lone_score);
}

/* Length of the largest aligned piece at the spot's first byte. */
static unsigned piece_length(const struct flow_spot *spot)
{
	unsigned length = 8;

	while (length > 1 && (length > spot->length || spot->address % length))
		length /= 2;
	return length;
}

static bool arm_spot(struct share *share, unsigned piece, pid_t pid, const struct flow_spot *spot)
{
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = pid,
				 .address = spot->address,
				 .length = piece_length(spot),
				 .access = TL_READ | TL_WRITE,
				 .hits = WATCH_HITS,
				 .window = WINDOW,
				 .cookie = ++share->last_cookie};

	if (share->services->arm(share->host, &watch))
		return false;
	share->cookie[piece] = watch.cookie;
	return true;
}

/* The two threads that came last and most often, at least one of which wrote. */
static bool choose_actors(const struct flow_line *line, uint64_t time,
			  const struct flow_actor *chosen[2])
{
	uint64_t best = 0;

	for (unsigned i = 0; i < line->actors; i++)
		for (unsigned j = i + 1; j < line->actors; j++) {
			const struct flow_actor *a = &line->actor[i], *b = &line->actor[j];
			uint64_t visits = a->visits < b->visits ? a->visits : b->visits;

			if (!(a->written | b->written) || visits <= best ||
			    time > a->last + FLOW_STALE || time > b->last + FLOW_STALE)
				continue;
			best = visits;
			chosen[0] = a;
			chosen[1] = b;
		}
	return best > 0;
}

/* Draws a spot with a probability proportional to its visits, so that each of a line's places
 * has its turn. */
static const struct flow_spot *draw_spot(struct share *share, const struct flow_actor *actor)
{
	uint64_t all = 0, at;

	for (unsigned i = 0; i < actor->spots; i++)
		all += actor->spot[i].count;
	at = all ? flow_below(&share->random, all) : 0;
	for (unsigned i = 0; i < actor->spots; i++) {
		if (at < actor->spot[i].count)
			return &actor->spot[i];
		at -= actor->spot[i].count;
	}
	return NULL;
}

static bool is_under_way(const struct share *share)
{
	for (unsigned i = 0; i < PIECES; i++)
		if (share->cookie[i])
			return true;
	return false;
}

static void begin_watch(struct share *share, struct flow_line *line, uint64_t time)
{
	share->line = line;
	share->memory = line->memory;
	share->visits = 0;
	share->began = time;
	share->next_watch = time + INTERVAL;
	share->watches++;
}

static void watch_shared(struct share *share, uint64_t time)
{
	const struct flow_actor *actor[2];
	struct flow_line *line = share->candidate;
	const struct flow_spot *spot[2];

	share->candidate = NULL;
	share->candidate_score = 0;
	if (!flow_line_is_shared(line, time) || !choose_actors(line, time, actor))
		return;
	begin_watch(share, line, time);
	line->watches++;
	for (unsigned i = 0; i < 2; i++) {
		spot[i] = draw_spot(share, actor[i]);
		if (!spot[i] || (i && spot[0] && actor[0]->pid == actor[1]->pid &&
				 spot[1]->address == spot[0]->address))
			continue;
		if (!arm_spot(share, i, actor[i]->pid, spot[i]))
			share->services->count(share->host, "flow-lines-not-armed", 1);
	}
	if (!is_under_way(share))
		share->line = NULL;
}

/* Watches a line with a single thread, to see who else comes there. */
static void watch_lone(struct share *share, uint64_t time)
{
	struct flow_line *line = share->lone;
	const struct flow_actor *actor = &line->actor[0];
	struct flow_spot other = {.length = 8};
	const struct flow_spot *spot;

	share->lone = NULL;
	share->lone_score = 0;
	spot = line->actors ? draw_spot(share, actor) : NULL;
	if (!spot)
		return;
	begin_watch(share, line, time);
	line->looks++;
	other.address = (spot->address & ~(FLOW_LINE - 1ull)) +
			flow_below(&share->random, FLOW_LINE / 8) * 8;
	if (!arm_spot(share, 0, actor->pid, spot) ||
	    (other.address != (spot->address & ~7ull) && !arm_spot(share, 1, actor->pid, &other)))
		share->services->count(share->host, "flow-lines-not-armed", 1);
	if (!is_under_way(share))
		share->line = NULL;
}

static void on_hit(void *state, const struct tl_access *access)
{
	struct share *share = state;
	struct flow_visit visit = visit_of(access);
	uint32_t place;

	if (access->access & (TL_LATE | TL_GUESSED) || access->traits & TL_TRAIT_BEYOND ||
	    !access->tid || !access->length) {
		share->services->count(share->host, "flow-hits-guessed", 1);
		return;
	}
	place = flow_place_find(&share->places, access->pid, access->pc);
	if (place != FLOW_NOWHERE)
		flow_place_example(&share->places, place, access);
	if (share->line && share->visits < VISITS)
		share->visit[share->visits++] = visit;
}

static int by_time(const void *a, const void *b)
{
	const struct flow_visit *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static void add_side(struct share *share, struct flow_finding *finding,
		     const struct flow_actor *actor)
{
	const struct flow_spot *spot = flow_actor_spot(actor);
	uint32_t index = spot ? flow_place_find(&share->places, actor->pid, spot->pc)
			      : FLOW_NOWHERE;
	struct flow_place *place;
	size_t i = finding->accesses;

	if (index == FLOW_NOWHERE)
		return;
	place = &share->places.place[index];
	flow_add_place(finding, place, (spot->reads ? TL_READ : 0) | (spot->writes ? TL_WRITE : 0),
		       spot->address, spot->length);
	finding->access[i].pid = actor->pid;
	finding->access[i].tid = actor->tid;
}

/* "0-7 40-47" */
static void print_bytes(uint64_t bits, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < FLOW_LINE && used + 8 < size; i++) {
		unsigned first = i;

		if (!(bits >> i & 1))
			continue;
		while (i + 1 < FLOW_LINE && bits >> (i + 1) & 1)
			i++;
		used += (size_t)snprintf(text + used, size - used, "%s%u-%u", used ? " " : "",
					 first, i);
	}
}

static void detail_bytes(struct flow_finding *finding, const char *name, uint64_t bits)
{
	char text[FLOW_DETAIL_TEXT];

	print_bytes(bits, text, sizeof(text));
	flow_detail(finding, name, "%s", text);
}

static void tell(struct share *share, const struct flow_line *line)
{
	bool falsely = line->false_transfers > line->true_transfers;
	uint64_t transfers = falsely ? line->false_transfers : line->true_transfers;
	const struct flow_actor *first, *second;
	struct flow_finding finding = {
		.kind = falsely ? "false-sharing" : "true-sharing",
		.message =
			falsely ? "different bytes of one cache line, which goes to and fro "
				  "between the threads; apart by 64 bytes it would not"
				: "threads share these bytes, and the cache line that they are on",
		/* The finding with most transfers comes first; a later finding on a line
		 * replaces the earlier one. */
		.rank = transfers < UINT32_MAX ? UINT32_MAX - (unsigned)transfers : 1};

	if (!flow_line_pair(line, &first, &second))
		return;
	share->findings++;
	add_side(share, &finding, first);
	add_side(share, &finding, second);
	flow_detail(&finding, "line", "0x%llx",
		    (unsigned long long)(finding.access[0].address & ~(FLOW_LINE - 1ull)));
	detail_bytes(&finding, "first-writes", first->written);
	detail_bytes(&finding, "first-reads", first->read);
	detail_bytes(&finding, "second-writes", second->written);
	detail_bytes(&finding, "second-reads", second->read);
	flow_detail(&finding, "transfers", "%llu", (unsigned long long)transfers);
	flow_detail(&finding, "watched-ms", "%llu",
		    (unsigned long long)(line->watched / MILLISECOND));
	flow_detail(&finding, "percent", "%.2f",
		    share->samples ? 100 * (double)line->samples / (double)share->samples : 0);
	flow_detail(&finding, "of", "accesses");
	flow_detail(&finding, "threads", "%u%s", line->actors,
		    line->actors == FLOW_ACTORS ? " or more" : "");
	flow_tell(share->host, share->services, &finding);
}

static void tell_if_due(struct share *share, const struct flow_line *line)
{
	uint64_t *told = &share->told[line - share->lines->line];
	uint64_t transfers = line->true_transfers + line->false_transfers;

	if (transfers < TOLD_AGAIN * *told)
		return;
	*told = transfers;
	tell(share, line);
}

static void end_watch(struct share *share)
{
	struct flow_line *line = share->line;
	bool same = line->used && line->memory.object == share->memory.object &&
		    line->memory.offset == share->memory.offset;

	share->line = NULL;
	if (!same)
		return;
	qsort(share->visit, share->visits, sizeof(share->visit[0]), by_time);
	flow_line_watch_begin(line);
	for (unsigned i = 0; i < share->visits; i++)
		flow_line_watch_visit(line, &share->visit[i]);
	if (flow_line_watch_end(line, clock_now() - share->began))
		tell_if_due(share, line);
}

static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct share *share = state;

	(void)hits, (void)threads;
	for (unsigned i = 0; i < PIECES; i++)
		if (share->cookie[i] == watch->cookie)
			share->cookie[i] = 0;
	if (share->line && !is_under_way(share))
		end_watch(share);
}

static void on_tick(void *state)
{
	struct share *share = state;
	uint64_t time = clock_now();

	/* A process that ends takes its watches with it, and nobody is told of that. */
	if (share->line && time > share->began + 4 * WINDOW) {
		for (unsigned i = 0; i < PIECES; i++) {
			share->services->disarm(share->host, share->cookie[i]);
			share->cookie[i] = 0;
		}
		end_watch(share);
	}
	if (share->line || time < share->next_watch)
		return;
	if (share->candidate)
		watch_shared(share, time);
	else if (share->lone)
		watch_lone(share, time);
}

/* Can code of the process still be named? */
static bool is_there(const struct share *share, const struct flow_actor *actor)
{
	const struct flow_spot *spot = flow_actor_spot(actor);

	return spot && share->services->module(share->host, actor->pid, spot->pc);
}

/* Reports what the process's threads shared, while they can still be named. */
static void process_ended(void *state, pid_t pid)
{
	struct share *share = state;

	for (unsigned i = 0; i < FLOW_LINES; i++) {
		const struct flow_line *line = &share->lines->line[i];
		const struct flow_actor *first, *second;

		if (line->used && line->true_transfers + line->false_transfers &&
		    flow_line_pair(line, &first, &second) &&
		    (first->pid == pid || second->pid == pid) && is_there(share, first) &&
		    is_there(share, second))
			tell(share, line);
	}
	share->candidate = share->lone = NULL;
	share->candidate_score = share->lone_score = 0;
	flow_places_leave(&share->places, pid, NULL, 0);
	flow_places_forget(&share->places);
}

static void finish(void *state)
{
	struct share *share = state;

	if (!share->findings)
		share->services->log(share->host,
				     "no cache line was seen to go to and fro between threads, in "
				     "%llu sampled accesses and %llu watches of lines",
				     (unsigned long long)share->samples,
				     (unsigned long long)share->watches);
	share->services->count(share->host, "flow-lines-displaced", share->lines->displaced);
	flow_places_free(&share->places);
	free(share->lines);
	free(share);
}

const struct tl_tool flow_share_tool = {
	.size = sizeof(flow_share_tool),
	.version = TL_TOOL_VERSION,
	.name = "share",
	.summary = "which threads share which cache lines, truly or falsely",
	.start = start,
	.sample = on_sample,
	.hit = on_hit,
	.unwatched = on_unwatched,
	.exit = finish,
	.process_ended = process_ended,
	.tick = on_tick,
	.slots = PIECES,
	.wants = TL_WANTS_OWN_STACK,
	.counts = flow_traffic_counts,
};
