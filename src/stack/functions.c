/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/functions.h"

#include "memory/mapping.h"
#include "process/entries.h"
#include "process/stub.h"
#include "stack/called.h"
#include "symbol/lookup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN 8192 /* places in the table, a power of two; half of them are used at most */
#define SITES 2048
#define VICTIMS 2048
#define PASSES_DEEP 4 /* calls that an address is followed through */
#define SEEN 4096     /* pcs of samples that were asked about lately */
#define WORDS_AT_ONCE 2048
#define WORDS_MOST 1024	     /* of a program's data that look like code: each is asked about */
#define DATA_MOST (4u << 20) /* bytes of it that are read */
#define NO_REGISTER 0xff
#define RESULT ((int)insn_arch.function_result)
#define ROUTINE_ARGUMENT 3 /* of pthread_create(): what the thread's routine is called with */
#define HANDED ((int)insn_arch.function_argument[ROUTINE_ARGUMENT])

struct known {
	uint64_t start;	   /* 0: free */
	struct code *code; /* NULL: not looked at, or it cannot be followed */
	bool tried;
	bool used;	   /* a thread was seen in it, or to return to it */
	bool near;	   /* a thread was seen in it or in a function that names it */
	bool asked;	   /* `entries` was asked for */
	int entries_known; /* 0 or -errno */
	struct insn_entries entries;
	uint16_t handed; /* arguments by which callers hand it addresses in their frames, a bit per
			    register */
};

struct functions {
	struct known known[KNOWN];
	unsigned count, dropped;
	uint64_t queue[KNOWN / 2]; /* starts; those before `next` were looked at */
	unsigned queued, next;
	uint64_t seen[SEEN];
	struct site site[SITES];
	unsigned sites;
	struct victim victim[VICTIMS];
	unsigned victims;
	bool wanted; /* the user named victims */
	bool calls;  /* sites of the kind SITE_CALL are found, too */
};

/* For whichever function is looked at: one thread, and large. */
static struct code_work work;
static uint8_t code_bytes[INSN_ORIGIN_CODE];

static uint64_t mix(uint64_t value)
{
	value *= 0x9e3779b97f4a7c15ull;
	return value ^ value >> 32;
}

struct functions *functions_create(void)
{
	return calloc(1, sizeof(struct functions));
}

void functions_destroy(struct functions *functions)
{
	if (!functions)
		return;
	for (unsigned i = 0; i < KNOWN; i++)
		free(functions->known[i].code);
	free(functions);
}

/* Where it is in the table, or would be. */
static struct known *place_of(struct functions *functions, uint64_t start)
{
	size_t at = mix(start) % KNOWN;

	while (functions->known[at].start && functions->known[at].start != start)
		at = (at + 1) % KNOWN;
	return &functions->known[at];
}

/* Makes it known and puts it in the queue; NULL when the table is full. */
static struct known *know(struct functions *functions, uint64_t start)
{
	struct known *known = place_of(functions, start);

	if (known->start)
		return known;
	if (functions->count >= KNOWN / 2) {
		functions->dropped++;
		return NULL;
	}
	functions->count++;
	known->start = start;
	functions->queue[functions->queued++] = start;
	return known;
}

static void add_site(struct functions *functions, enum site_kind kind, uint64_t pc, int number)
{
	for (unsigned i = 0; i < functions->sites; i++)
		if (functions->site[i].pc == pc)
			return;
	if (functions->sites >= SITES) {
		functions->dropped++;
		return;
	}
	functions->site[functions->sites++] =
		(struct site){.kind = kind, .pc = pc, .number = (uint8_t)number};
}

static int stored_register(struct space *space, uint64_t pc)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;

	if (insn_decode(bytes, space_code(space, pc, bytes, sizeof(bytes)), pc, &insn))
		return -1;
	return insn.stored;
}

static void site_of_store(struct functions *functions, struct space *space, const struct code *code,
			  const struct code_store *store)
{
	int number = stored_register(space, code->start + store->at);

	if (number >= 0)
		add_site(functions, SITE_STORE, code->start + store->at, number);
}

/* The call may hand the function an address in a frame. What lies in an argument's register need
 * not be an argument; that only costs a look. */
static void hand(struct functions *functions, struct space *space, uint64_t target, int number,
		 unsigned deep);

static void follow_argument(struct functions *functions, struct space *space,
			    const struct code *code, int number, unsigned deep)
{
	for (unsigned i = 0; i < code->stores; i++)
		if (code->store[i].value.number == number)
			site_of_store(functions, space, code, &code->store[i]);
	for (unsigned i = 0; i < code->passes && deep < PASSES_DEEP; i++)
		if (code->pass[i].value.number == number)
			hand(functions, space, code->pass[i].target, code->pass[i].to, deep + 1);
}

static void hand(struct functions *functions, struct space *space, uint64_t target, int number,
		 unsigned deep)
{
	uint64_t start = stub_target(space, target);
	struct known *known;

	if (space_is_libc(space, start) || !space_module(space, start))
		return;
	known = know(functions, start);
	if (!known || known->handed >> number & 1)
		return;
	known->handed |= (uint16_t)(1u << number);
	if (known->code)
		follow_argument(functions, space, known->code, number, deep);
}

static bool creates_thread(struct space *space, uint64_t target)
{
	const char *name = called_name(space, target);

	return name &&
	       (strcmp(name, "pthread_create") == 0 || strncmp(name, "__pthread_create", 16) == 0);
}

static bool begins_with_underscores(const char *name, const char *rest)
{
	name += strspn(name, "_");
	return strcmp(name, rest) == 0;
}

static int call_length(struct space *space, uint64_t pc)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;

	if (insn_decode(bytes, space_code(space, pc, bytes, sizeof(bytes)), pc, &insn) ||
	    insn.flow != INSN_FLOW_CALL)
		return 0;
	return insn.length;
}

/* Notes a landing: behind a call of setjmp(), and before the call that every C++ exception handler
 * begins with. */
static void note_landing(struct functions *functions, struct space *space, uint64_t pc,
			 uint64_t target)
{
	const char *name = called_name(space, target);
	int length = name ? call_length(space, pc) : 0;

	if (!length)
		return;
	if (begins_with_underscores(name, "setjmp") || begins_with_underscores(name, "sigsetjmp"))
		add_site(functions, SITE_LANDING, pc + (unsigned)length, RESULT);
	else if (begins_with_underscores(name, "cxa_begin_catch"))
		add_site(functions, SITE_LANDING, pc, NO_REGISTER);
}

static void note_sites(struct functions *functions, struct space *space, const struct code *code)
{
	for (unsigned i = 0; i < code->names; i++)
		note_landing(functions, space, code->start + code->name_at[i], code->name[i]);
	for (unsigned i = 0; i < code->stores; i++)
		if (code->store[i].value.number == CODE_FRAME)
			site_of_store(functions, space, code, &code->store[i]);
	for (unsigned i = 0; i < code->passes; i++) {
		const struct code_pass *pass = &code->pass[i];

		if (pass->value.number != CODE_FRAME)
			continue;
		if (pass->to == HANDED && creates_thread(space, pass->target))
			add_site(functions, SITE_THREAD, code->start + pass->at, HANDED);
		else
			hand(functions, space, pass->target, pass->to, 0);
	}
	if (code->returns_frame)
		add_site(functions, SITE_RETURN, code->start + code->returns_frame, RESULT);
	for (unsigned i = 0; i < code->leaves && code->takes_address; i++)
		add_site(functions, SITE_LEAVE, code->start + code->leave[i], RESULT);
	for (unsigned i = 0; i < code->indirects && functions->calls; i++)
		if (!code->indirect[i].pointer)
			add_site(functions, SITE_CALL, code->start + code->indirect[i].at, RESULT);
}

static void note_victim(struct functions *functions, const struct code *code)
{
	if (!code->ready || !code->takes_address || code->unwinds || functions->wanted)
		return;
	if (functions->victims >= VICTIMS) {
		functions->dropped++;
		return;
	}
	functions->victim[functions->victims++] = (struct victim){.code = code};
}

static void note_names(struct functions *functions, struct space *space, const struct code *code)
{
	for (unsigned i = 0; i < code->names; i++) {
		uint64_t start = stub_target(space, code->name[i]), function, end;

		if (!space_module(space, start) || space_is_libc(space, start) ||
		    space_whole_function(space, start, &function, &end) || function != start)
			continue;
		know(functions, start);
	}
}

static void mark_near(struct functions *functions, const struct code *code)
{
	for (unsigned i = 0; i < functions->sites; i++)
		if (functions->site[i].pc - code->start < code->end - code->start)
			functions->site[i].near = true;
	for (unsigned i = 0; i < functions->victims; i++)
		if (functions->victim[i].code == code)
			functions->victim[i].near = true;
}

static void come_near(struct functions *functions, struct known *known)
{
	if (!known->start || known->near)
		return;
	known->near = true;
	if (known->code)
		mark_near(functions, known->code);
}

void functions_use(struct functions *functions, struct space *space, uint64_t pc)
{
	const struct code *code = functions_around(functions, space, pc);
	struct known *known = code ? place_of(functions, code->start) : NULL;

	if (!known || known->used)
		return;
	known->used = true;
	come_near(functions, known);
	for (unsigned i = 0; i < code->names; i++)
		come_near(functions, place_of(functions, stub_target(space, code->name[i])));
}

static void look_at(struct functions *functions, struct space *space, struct known *known)
{
	uint64_t start, end;
	struct code code;

	known->tried = true;
	if (space_whole_function(space, known->start, &start, &end) || start != known->start ||
	    end <= start || end - start > sizeof(code_bytes) ||
	    space_read(space, start, code_bytes, end - start) != (ssize_t)(end - start) ||
	    code_analyse(code_bytes, end - start, start, &work, &code))
		return;
	known->code = malloc(sizeof(code));
	if (!known->code)
		return;
	*known->code = code;
	/* Nothing is asked about the C library, nor about our own code, which runs while hits are
	 * noted. */
	if (space_is_libc(space, start))
		return;
	note_sites(functions, space, known->code);
	note_victim(functions, known->code);
	for (int number = 0; number < 16; number++)
		if (known->handed >> number & 1)
			follow_argument(functions, space, known->code, number, 0);
	note_names(functions, space, known->code);
	if (known->near)
		mark_near(functions, known->code);
}

void functions_see(struct functions *functions, struct space *space, uint64_t pc)
{
	uint64_t *seen = &functions->seen[mix(pc) % SEEN];
	uint64_t start, end;

	if (*seen == pc)
		return;
	*seen = pc;
	if (!space_is_libc(space, pc) && space_whole_function(space, pc, &start, &end) == 0)
		know(functions, start);
}

/* Makes known the functions that words of this mapping point to, as in tables of (virtual)
 * functions: a word counts if it is the address of a function's first byte in [start, end). */
static void see_words(struct functions *functions, struct space *space,
		      const struct symbol_mapping *mapping, const struct symbol_mapping *code,
		      unsigned *left)
{
	static uint64_t words[WORDS_AT_ONCE]; /* one thread; large */

	for (uint64_t at = mapping->start; at < mapping->end && *left; at += sizeof(words)) {
		uint64_t size = mapping->end - at < sizeof(words) ? mapping->end - at
								  : sizeof(words);
		ssize_t got = space_read(space, at, words, size);

		for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(words[0]) && *left; i++) {
			uint64_t start, end;

			if (words[i] < code->start || words[i] >= code->end)
				continue;
			--*left;
			if (space_whole_function(space, words[i], &start, &end) == 0 &&
			    start == words[i])
				know(functions, start);
		}
	}
}

void functions_see_data(struct functions *functions, struct space *space, uint64_t pc)
{
	const struct symbol_mappings *mappings = symbol_modules_mappings(space_modules(space));
	const struct symbol_mapping *code = NULL;
	unsigned left = WORDS_MOST;
	uint64_t seen = 0;

	for (size_t i = 0; i < mappings->count; i++)
		if (mappings->mapping[i].executable && pc >= mappings->mapping[i].start &&
		    pc < mappings->mapping[i].end)
			code = &mappings->mapping[i];
	for (size_t i = 0; code && code->path && i < mappings->count; i++) {
		const struct symbol_mapping *mapping = &mappings->mapping[i];

		if (mapping->executable || !mapping->path || strcmp(mapping->path, code->path) != 0)
			continue;
		seen += mapping->end - mapping->start;
		if (seen <= DATA_MOST)
			see_words(functions, space, mapping, code, &left);
	}
}

unsigned functions_work(struct functions *functions, struct space *space, unsigned count)
{
	unsigned done = 0;

	for (; done < count && functions->next < functions->queued; done++) {
		struct known *known = know(functions, functions->queue[functions->next++]);

		if (known && !known->tried)
			look_at(functions, space, known);
	}
	return done;
}

const struct code *functions_around(struct functions *functions, struct space *space, uint64_t pc)
{
	struct known *known;
	uint64_t start, end;

	if (space_whole_function(space, pc, &start, &end))
		return NULL;
	known = know(functions, start);
	if (known && !known->tried)
		look_at(functions, space, known);
	return known ? known->code : NULL;
}

size_t functions_bytes(struct space *space, const struct code *code, const uint8_t **bytes)
{
	size_t length = code->end - code->start;

	*bytes = code_bytes;
	return space_read(space, code->start, code_bytes, length) == (ssize_t)length ? length : 0;
}

int functions_entries(struct functions *functions, struct space *space, const struct code *code,
		      struct insn_entries *entries)
{
	struct known *known = know(functions, code->start);

	if (!known)
		return -ENOMEM;
	if (!known->asked)
		known->entries_known = entries_find(space, code->start, code->end, &known->entries);
	known->asked = true;
	*entries = known->entries;
	return known->entries_known;
}

struct code_work *functions_room(void)
{
	return &work;
}

void functions_note_calls(struct functions *functions)
{
	functions->calls = true;
}

struct site *functions_place(struct functions *functions, uint64_t pc)
{
	add_site(functions, SITE_CALL, pc, RESULT);
	for (unsigned i = functions->sites; i-- > 0;)
		if (functions->site[i].pc == pc)
			return &functions->site[i];
	return NULL;
}

void functions_place_called(struct functions *functions, struct space *space, uint64_t pc)
{
	const struct code *code = space ? functions_around(functions, space, pc) : NULL;

	for (unsigned i = 0; code && i < code->names; i++) {
		const struct known *known = place_of(functions, stub_target(space, code->name[i]));

		if (known->start && known->code &&
		    !(known->code->takes_address && known->code->ready))
			add_site(functions, SITE_CALL, known->start, RESULT);
	}
}

static bool is_due(const struct site *site, uint64_t now)
{
	return site->kind != SITE_CALL && !site->watched && site->next <= now;
}

struct site *functions_site(struct functions *functions, uint64_t now, bool near)
{
	struct site *best = NULL;

	for (unsigned i = 0; i < functions->sites; i++) {
		struct site *site = &functions->site[i];

		if (is_due(site, now) && (site->near || !near) &&
		    (!best || site->next < best->next))
			best = site;
	}
	return best || !near ? best : functions_site(functions, now, false);
}

struct victim *functions_victim(struct functions *functions, uint64_t now, bool near)
{
	struct victim *best = NULL;

	for (unsigned i = 0; i < functions->victims; i++) {
		struct victim *victim = &functions->victim[i];

		if (!victim->watched && victim->next <= now && (victim->near || !near) &&
		    (!best || victim->next < best->next))
			best = victim;
	}
	return best || !near ? best : functions_victim(functions, now, false);
}

static void want(struct functions *functions, struct space *space, uint64_t start)
{
	const struct code *code = functions_around(functions, space, start);

	if (!code || !code->ready)
		return;
	for (unsigned i = 0; i < functions->victims; i++)
		if (functions->victim[i].code == code)
			return;
	functions->victim[functions->victims++] = (struct victim){.code = code, .wanted = true};
}

bool functions_want(struct functions *functions, struct space *space, const char *name)
{
	char error[SYMBOL_ERROR_MAX];
	struct symbol_found found;

	functions->wanted = true;
	functions->victims = 0;
	if (symbol_lookup(space_modules(space), NULL, name, &found, error) || !found.function)
		return false;
	want(functions, space, found.address);
	for (unsigned i = 0; i < SYMBOL_OVERLOADS && found.overload[i]; i++)
		want(functions, space, found.overload[i]);
	return functions->victims != 0;
}

struct site *functions_sites(struct functions *functions, unsigned *count)
{
	*count = functions->sites;
	return functions->site;
}

struct victim *functions_victims(struct functions *functions, unsigned *count)
{
	*count = functions->victims;
	return functions->victim;
}

const struct code *functions_known(struct functions *functions, uint64_t start)
{
	const struct known *known = place_of(functions, start);

	return known->start ? known->code : NULL;
}

struct functions_size functions_size(const struct functions *functions)
{
	return (struct functions_size){functions->count, functions->sites, functions->victims,
				       functions->dropped};
}
