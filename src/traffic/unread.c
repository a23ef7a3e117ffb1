/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of the heap that is freed before anybody has read it, by who allocated it.
 *
 * Blocks are announced at their birth, before their thread has them. One word of each, drawn at
 * random, is watched until somebody reads it or the block is freed; a word is 8 bytes of the block,
 * or what is left of it. The share of a site's words that are freed unread is the share of its
 * memory, since which word is watched does not depend on what becomes of it. A watch that is given
 * up, when its window is over or others need the slot, is censored (traffic/incidence.h).
 *
 * A read by the C library or by a system call is a read, and so is an update in place. Accepted
 * losses: reads by DMA, or through another mapping of the same memory, are not seen.
 */
#include "traffic/traffic.h"

#include "base/clock.h"
#include "traffic/counts.h"
#include "traffic/incidence.h"
#include "traffic/random.h"
#include "traffic/tell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WORD 8u
#define SITES 1024u /* allocation contexts remembered; a power of two */
/* observations kept; later ones replace earlier ones at random */
#define SEEN_MOST 4096u
#define WINDOW (16 * MILLISECOND) /* the shortest; others are 4, 16 and 64 times as long */
#define HITS 48u		  /* writes of one word, after which it is given up */
/* after a block's free, while accesses made before it may still be reported */
#define SETTLING (20 * MILLISECOND)
#define SEEN_LEAST 8u /* words freed unread that a site needs to be reported */
/* lower end of the 95 % interval of its share that it needs, too */
#define LOW_LEAST 0.05
/* about the shortest time between two watched blocks of one site */
#define OFTEN (20 * MILLISECOND)
#define MEMORY (4u << 20) /* bytes of freed blocks that may be kept from the program */

enum way { READ, UNREAD };

struct site {
	pid_t pid; /* 0: free */
	uint64_t context;
	struct tl_moment made; /* of its first block; `pcs` is our copy */
	uint64_t stack[FLOW_STACK];
	uint64_t blocks, bytes; /* blocks of which a word was watched, and their bytes */
	uint64_t unread, read;
};

struct word {
	uint64_t cookie; /* 0: free */
	pid_t pid;
	uint64_t block, since;
	uint64_t freed; /* time of the block's free; 0: it is not freed */
	struct site *site;
};

struct observation {
	struct site *site;
	uint64_t duration;
	uint8_t way; /* enum way, or FLOW_CENSORED */
};

struct unread {
	struct tl_host *host;
	const struct tl_services *services;
	struct word word[FLOW_PROBES];
	struct site *site;
	struct observation *seen;
	uint64_t made, told;
	uint64_t random, cookie;
};

static void count(struct unread *unread, const char *name)
{
	unread->services->count(unread->host, name, 1);
}

/* NULL: there are too many sites. */
static struct site *find_site(struct unread *unread, const struct tl_guarded *block, pid_t pid)
{
	uint64_t key = (block->context ^ (uint64_t)pid) * 0x9e3779b97f4a7c15ull >> 32;

	for (unsigned i = 0; i < 16; i++) {
		struct site *site = &unread->site[(key + i) % SITES];
		size_t frames = block->made.count < FLOW_STACK ? block->made.count : FLOW_STACK;

		if (site->pid == pid && site->context == block->context)
			return site;
		if (site->pid)
			continue;
		*site = (struct site){.pid = pid, .context = block->context, .made = block->made};
		memcpy(site->stack, block->made.pcs, frames * sizeof(site->stack[0]));
		site->made.pcs = site->stack;
		site->made.count = frames;
		site->made.thread = NULL;
		return site;
	}
	count(unread, "flow-sites-refused");
	return NULL;
}

/* ---- a word's life -------------------------------------------------------------------------- */

static void conclude(struct unread *unread, struct word *word, uint8_t way)
{
	uint64_t end = word->freed ? word->freed : clock_now(), victim;

	if (flow_reservoir(&unread->random, SEEN_MOST, ++unread->made, &victim))
		unread->seen[victim] =
			(struct observation){.site = word->site,
					     .duration = end > word->since ? end - word->since : 0,
					     .way = way};
	word->site->read += way == READ;
	word->site->unread += way == UNREAD;
	if (way == FLOW_CENSORED)
		count(unread, "flow-words-censored");
	word->cookie = 0;
}

static void end(struct unread *unread, struct word *word, uint8_t way)
{
	unread->services->disarm(unread->host, word->cookie);
	conclude(unread, word, way);
}

static struct word *find_free(struct unread *unread, pid_t pid)
{
	struct word *found = NULL;
	unsigned used = 0;

	for (unsigned i = 0; i < FLOW_PROBES; i++) {
		if (!unread->word[i].cookie)
			found = &unread->word[i];
		else
			used += unread->word[i].pid == pid;
	}
	return used < unread->services->slots(unread->host, pid) ? found : NULL;
}

static void watch(struct unread *unread, struct word *word, const struct tl_guarded *block)
{
	uint64_t words = (block->length + WORD - 1) / WORD;
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = word->pid,
				 .address =
					 block->address + WORD * flow_below(&unread->random, words),
				 .length = WORD,
				 .access = TL_READ | TL_WRITE,
				 .hits = HITS,
				 .window = WINDOW << 2 * flow_below(&unread->random, 4),
				 .cookie = ++unread->cookie};

	if (unread->services->arm(unread->host, &watch)) {
		count(unread, "flow-words-refused");
		return;
	}
	word->cookie = watch.cookie;
	word->block = block->address;
	word->since = clock_now();
	word->freed = 0;
	word->site->blocks++;
	word->site->bytes += block->length;
}

static void born(struct unread *unread, const struct tl_guarded *block, pid_t pid)
{
	struct word *word = find_free(unread, pid);
	struct site *site;

	if (!block->length || !block->made.count || !word ||
	    unread->services->spent(unread->host) > 100) {
		count(unread, "flow-blocks-passed");
		return;
	}
	site = find_site(unread, block, pid);
	if (!site)
		return;
	word->pid = pid;
	word->site = site;
	watch(unread, word, block);
}

/* Accesses made before the free may still be reported, so the word's outcome waits. */
static void freed(struct unread *unread, const struct tl_guarded_news *news)
{
	for (unsigned i = 0; i < FLOW_PROBES; i++) {
		struct word *word = &unread->word[i];

		if (word->cookie && word->pid == news->from->pid &&
		    word->block == news->block->address && !word->freed)
			word->freed = news->from->time;
	}
}

static void on_guarded(void *state, const struct tl_guarded_news *news)
{
	if (news->block && news->event == TL_GUARDED_BORN)
		born(state, news->block, news->from->pid);
	else if (news->block && news->event == TL_GUARDED_FREED)
		freed(state, news);
}

static struct word *find_word(struct unread *unread, uint64_t cookie)
{
	for (unsigned i = 0; i < FLOW_PROBES; i++)
		if (unread->word[i].cookie == cookie)
			return &unread->word[i];
	return NULL;
}

static void on_hit(void *state, const struct tl_access *access)
{
	struct unread *unread = state;
	struct word *word = access->cookie ? find_word(unread, access->cookie) : NULL;

	/* The allocator writes to freed memory and reads it, so nothing after the free counts. */
	if (!word || (word->freed && access->time >= word->freed))
		return;
	if (access->access & (TL_GUESSED | TL_LATE))
		end(unread, word, FLOW_CENSORED);
	else if (access->access & TL_READ)
		end(unread, word, READ);
}

static void on_unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	struct unread *unread = state;
	struct word *word = watch->cookie ? find_word(unread, watch->cookie) : NULL;

	(void)hits, (void)threads;
	if (word)
		conclude(unread, word, word->freed ? UNREAD : FLOW_CENSORED);
}

static void on_tick(void *state)
{
	struct unread *unread = state;
	uint64_t now = clock_now();

	for (unsigned i = 0; i < FLOW_PROBES; i++) {
		struct word *word = &unread->word[i];

		if (word->cookie && word->freed && now > word->freed + SETTLING)
			end(unread, word, UNREAD);
	}
}

/* ---- what is told --------------------------------------------------------------------------- */

static void estimate(const struct unread *unread, const struct site *site,
		     struct flow_incidence *incidence)
{
	uint64_t all = unread->made < SEEN_MOST ? unread->made : SEEN_MOST;
	struct flow_observation *observations = calloc(all + 1, sizeof(*observations));
	size_t found = 0;

	*incidence = (struct flow_incidence){.count = 0};
	for (uint64_t i = 0; observations && i < all; i++)
		if (unread->seen[i].site == site)
			observations[found++] =
				(struct flow_observation){.weight = 1,
							  .duration = unread->seen[i].duration,
							  .group = (uint32_t)i,
							  .way = unread->seen[i].way};
	if (found)
		flow_incidence(observations, found, incidence);
	free(observations);
}

static void tell(struct unread *unread, const struct site *site)
{
	struct tl_object object = {.kind = "heap", .made = site->made};
	struct flow_finding finding = {.kind = "unread-memory",
				       .message = "freed before anybody read it",
				       .object = &object};
	uint64_t seen = site->read + site->unread;
	struct flow_incidence incidence;

	estimate(unread, site, &incidence);
	if (!incidence.count ||
	    flow_low(incidence.share[UNREAD], incidence.error[UNREAD]) < LOW_LEAST)
		return;
	finding.rank = (unsigned)++unread->told;
	finding.access[0] = (struct tl_access){.size = sizeof(struct tl_access),
					       .pid = site->pid,
					       .tid = site->made.tid,
					       .pc = site->stack[0],
					       .access = TL_EXEC};
	finding.stack[0] = site->made;
	finding.accesses = 1;
	flow_detail_share(&finding, incidence.share[UNREAD], incidence.error[UNREAD], "bytes");
	flow_detail(&finding, "read", "%.2f", 100 * incidence.share[READ]);
	flow_detail(&finding, "seen", "%llu", (unsigned long long)seen);
	flow_detail(&finding, "block-bytes", "%.0f", (double)site->bytes / (double)site->blocks);
	flow_tell(unread->host, unread->services, &finding);
}

static void process_ended(void *state, pid_t pid)
{
	struct unread *unread = state;

	for (unsigned i = 0; i < FLOW_PROBES; i++)
		if (unread->word[i].cookie && unread->word[i].pid == pid)
			conclude(unread, &unread->word[i],
				 unread->word[i].freed ? UNREAD : FLOW_CENSORED);
	for (unsigned i = 0; i < SITES; i++) {
		if (unread->site[i].pid != pid)
			continue;
		if (unread->site[i].unread >= SEEN_LEAST)
			tell(unread, &unread->site[i]);
		/* The process id may be given to another process; what was seen there stays,
		 * without a process. */
		unread->site[i].pid = -1;
	}
}

/* ---- the tool ------------------------------------------------------------------------------- */

static void finish(void *state)
{
	struct unread *unread = state;

	if (!unread->told && unread->services)
		unread->services->log(unread->host,
				      "no memory was seen to be freed unread more often than by "
				      "chance, in %llu blocks that were watched",
				      (unsigned long long)unread->made);
	free(unread->site);
	free(unread->seen);
	free(unread);
}

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	const struct tl_guarding guarding = {
		.size = sizeof(guarding), .births = true, .memory = MEMORY, .often = OFTEN};
	struct unread *unread = calloc(1, sizeof(*unread));

	if (!unread)
		return -ENOMEM;
	unread->site = calloc(SITES, sizeof(*unread->site));
	unread->seen = calloc(SEEN_MOST, sizeof(*unread->seen));
	unread->random = clock_now() | 1;
	if (!unread->site || !unread->seen) {
		finish(unread);
		return -ENOMEM;
	}
	unread->host = host;
	unread->services = services;
	services->guard(host, &guarding);
	*state = unread;
	return 0;
}

const struct tl_tool flow_unread_tool = {
	.size = sizeof(flow_unread_tool),
	.version = TL_TOOL_VERSION,
	.name = "unread",
	.summary = "memory of the heap that is freed before anybody has read it",
	.start = start,
	.hit = on_hit,
	.unwatched = on_unwatched,
	.exit = finish,
	.process_ended = process_ended,
	.tick = on_tick,
	.slots = FLOW_PROBES,
	.wants = TL_WANTS_GUARDS,
	.guarded = on_guarded,
	.counts = flow_traffic_counts,
};
