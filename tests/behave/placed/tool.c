/* SPDX-License-Identifier: Apache-2.0 */
/* Places watches itself, and logs what became of them: for placed.py. */
#include <trapline/tool.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED = 1, LONELY, LIMITED, CODE, COOKIES };

#define LIMIT 10

static const char *const names[] = {"shared", "lonely", "limited", "visit"};

#define NAMES (int)(sizeof(names) / sizeof(names[0]))

static struct {
	const char *address[NAMES];
	struct tl_host *host;
	const struct tl_services *services;
	pid_t pid;
	bool armed;
	unsigned hits[COOKIES], strange, without_stack, frames, ended[COOKIES];
} state;

static int start(struct tl_host *host, const struct tl_services *services, void **made)
{
	state.host = host;
	state.services = services;
	for (int i = 0; i < NAMES; i++)
		state.address[i] = services->option(host, names[i]);
	*made = &state;
	return 0;
}

/* As the test says, which knows the program's symbols. */
static uint64_t address_of(const char *name)
{
	for (int i = 0; i < NAMES; i++)
		if (state.address[i] && strcmp(names[i], name) == 0)
			return strtoull(state.address[i], NULL, 16);
	return 0;
}

static int place(unsigned cookie, const char *name, unsigned access, unsigned hits, pid_t tid)
{
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = state.pid,
				 .address = address_of(name),
				 .length = 8,
				 .access = access,
				 .hits = hits,
				 .tid = tid,
				 .cookie = cookie};

	return watch.address ? state.services->arm(state.host, &watch) : 0;
}

static void began(void *context, pid_t pid)
{
	(void)context;
	state.pid = pid;
}

static void tick(void *context)
{
	int result[6];

	(void)context;
	if (state.armed || !state.pid)
		return;
	state.armed = true;
	result[0] = place(SHARED, "shared", TL_WRITE, 0, 0);
	result[1] = place(LONELY, "lonely", TL_WRITE, 0, state.pid);
	result[2] = place(LIMITED, "limited", TL_WRITE, LIMIT, 0);
	result[3] = place(CODE, "visit", TL_EXEC, 0, 0);
	result[4] = place(SHARED, "shared", TL_WRITE, 0, 0);
	result[5] = place(COOKIES, "shared", TL_WRITE, 0, 0);
	state.services->log(state.host, "slots %u armed %d %d %d %d again %d full %d",
			    state.services->slots(state.host, state.pid), result[0], result[1],
			    result[2], result[3], result[4], result[5]);
	state.services->disarm(state.host, COOKIES);
}

static void hit(void *context, const struct tl_access *access)
{
	struct tl_frame_place frames[8];
	(void)context;
	if (!access->cookie || access->cookie >= COOKIES) {
		state.strange++;
		return;
	}
	state.hits[access->cookie]++;
	state.without_stack += !access->stack || !access->registers;
	state.frames += state.services->unwind(state.host, access, frames, 8) > 1 &&
			frames[1].return_slot;
	if (access->cookie == LONELY && state.hits[LONELY] == 20)
		state.services->disarm(state.host, LONELY);
}

static void unwatched(void *context, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	(void)context, (void)threads;
	if (watch->cookie && watch->cookie < COOKIES)
		state.ended[watch->cookie] = hits;
}

static void finish(void *context)
{
	(void)context;
	state.services->log(state.host,
			    "shared %u lonely %u limited %u code %u strange %u "
			    "stackless %u unwound %u ended %u %u %u %u",
			    state.hits[SHARED], state.hits[LONELY], state.hits[LIMITED],
			    state.hits[CODE], state.strange, state.without_stack, state.frames,
			    state.ended[SHARED], state.ended[LONELY], state.ended[LIMITED],
			    state.ended[CODE]);
}

__attribute__((visibility("default"))) const struct tl_tool tl_tool = {
	.size = sizeof(struct tl_tool),
	.version = TL_TOOL_VERSION,
	.name = "placing",
	.summary = "places watches",
	.start = start,
	.hit = hit,
	.unwatched = unwatched,
	.exit = finish,
	.process_began = began,
	.tick = tick,
	.slots = 4,
};
