/* SPDX-License-Identifier: Apache-2.0 */
/* A tool that places a watch of data in the thread that it holds before an instruction, again and
 * again, and tells how often that came to the data: for attach.py. */
#include <trapline/tool.h>

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

enum { CODE = 1, DATA };

#define HOLD 20000000u	  /* ns */
#define WINDOW 100000000u /* ns */

static struct {
	struct tl_host *host;
	const struct tl_services *services;
	const char *code, *data; /* addresses, as the test says */
	pid_t pid;
	bool waits;
	unsigned held, chained, refused, came;
} state;

static int start(struct tl_host *host, const struct tl_services *services, void **made)
{
	state.host = host;
	state.services = services;
	state.code = services->option(host, "code");
	state.data = services->option(host, "data");
	*made = &state;
	return 0;
}

static int place(uint64_t cookie, const char *text, unsigned access, pid_t tid)
{
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = state.pid,
				 .address = text ? strtoull(text, NULL, 16) : 0,
				 .length = 8,
				 .access = access,
				 .hits = 1,
				 .hold = tid ? 0 : HOLD,
				 .tid = tid,
				 .window = WINDOW,
				 .urgent = true,
				 .cookie = cookie};

	return state.services->arm(state.host, &watch);
}

static void began(void *context, pid_t pid)
{
	(void)context;
	state.pid = pid;
}

static void tick(void *context)
{
	(void)context;
	if (state.pid && !state.waits)
		state.waits = !place(CODE, state.code, TL_EXEC, 0);
}

static void hit(void *context, const struct tl_access *access)
{
	(void)context;
	if (access->cookie == CODE) {
		int err = place(DATA, state.data, TL_WRITE, access->tid);

		state.held++;
		state.chained += !err;
		state.refused += err == -ESRCH;
	} else {
		state.came++;
	}
}

static void unwatched(void *context, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	(void)context, (void)hits, (void)threads;
	if (watch->cookie == CODE)
		state.waits = false;
}

static void finish(void *context)
{
	(void)context;
	state.services->log(state.host, "held %u chained %u refused %u came %u", state.held,
			    state.chained, state.refused, state.came);
}

__attribute__((visibility("default"))) const struct tl_tool tl_tool = {
	.size = sizeof(struct tl_tool),
	.version = TL_TOOL_VERSION,
	.name = "chained",
	.summary = "places a watch while it holds a thread",
	.start = start,
	.hit = hit,
	.unwatched = unwatched,
	.exit = finish,
	.process_began = began,
	.tick = tick,
	.slots = 2,
};
