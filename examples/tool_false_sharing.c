/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool that finds false sharing: cache lines in which different threads write different bytes.
 *
 *	cc -shared -fPIC -I include examples/tool_false_sharing.c -o tool_false_sharing.so
 *	trapline run --tool ./tool_false_sharing.so -- ./program
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/tool.h>

#define LINES 4096
#define THREADS 4

struct writer {
	uint64_t identity, address, pc;
	unsigned count;
};

struct line {
	uint64_t address; /* of 64 bytes */
	pid_t pid;
	struct writer writer[THREADS];
};

struct state {
	struct tl_host *host;
	const struct tl_services *services;
	struct line line[LINES];
};

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	struct state *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->host = host;
	made->services = services;
	*state = made;
	return 0;
}

static void sample(void *state_, const struct tl_access *access)
{
	struct state *state = state_;
	uint64_t address = access->address & ~63ull;
	struct line *line = &state->line[address / 64 % LINES];

	if (!(access->access & TL_WRITE))
		return;
	if (line->address != address || line->pid != access->pid) {
		memset(line, 0, sizeof(*line));
		line->address = address;
		line->pid = access->pid;
	}
	for (int i = 0; i < THREADS; i++) {
		struct writer *writer = &line->writer[i];

		if (!writer->count || writer->identity == access->identity) {
			writer->identity = access->identity;
			writer->address = access->address;
			writer->pc = access->pc;
			writer->count++;
			return;
		}
	}
}

static void finish(void *state_)
{
	struct state *state = state_;

	for (int i = 0; i < LINES; i++) {
		const struct writer *a = &state->line[i].writer[0], *b = &state->line[i].writer[1];

		if (a->count < 3 || b->count < 3 || a->address == b->address)
			continue;
		state->services->log(state->host,
				     "cache line %#lx: thread %lu writes %#lx (%u samples, pc "
				     "%#lx), thread %lu writes %#lx (%u samples, pc %#lx)",
				     state->line[i].address, a->identity, a->address, a->count,
				     a->pc, b->identity, b->address, b->count, b->pc);
	}
	free(state);
}

__attribute__((visibility("default"))) const struct tl_tool tl_tool = {
	.size = sizeof(tl_tool),
	.version = TL_TOOL_VERSION,
	.name = "false-sharing",
	.summary = "find cache lines that threads share by accident",
	.start = start,
	.sample = sample,
	.exit = finish,
};
