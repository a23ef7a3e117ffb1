/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tool that holds a program to a rule of its authors: a variable belongs to the thread that
 * writes it first. A write by another thread is a finding, with both stacks.
 *
 *	cc -shared -fPIC -I include examples/tool_single_writer.c -o tool_single_writer.so
 *	trapline run --tool ./tool_single_writer.so --tool-option variable=NAME -- ./program
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trapline/tool.h>

#define PROCESSES 64
#define FRAMES 16

/* The variable in one process. Its place in the table, from 1 on, is its watch's cookie. */
struct variable {
	pid_t pid; /* 0: the place is free */
	bool armed, told;
	uint64_t owner; /* identity of the thread that wrote first; 0: nobody has */
	struct tl_moment first;
	uint64_t first_pcs[FRAMES];
};

static struct {
	struct tl_host *host;
	const struct tl_services *services;
	const char *expression;
	struct variable variable[PROCESSES];
} tool;

static int start(struct tl_host *host, const struct tl_services *services, void **state)
{
	tool.host = host;
	tool.services = services;
	tool.expression = services->option(host, "variable");
	*state = &tool;
	if (tool.expression)
		return 0;
	services->log(host, "which one? --tool-option variable=NAME");
	return -EINVAL;
}

/* What the expression means may be known only later: when a library is loaded, or a pointer set. */
static int place(struct variable *variable, char *error, size_t size)
{
	struct tl_watch watch = {.size = sizeof(watch),
				 .pid = variable->pid,
				 .access = TL_WRITE,
				 .cookie = (uint64_t)(variable - tool.variable) + 1};
	struct tl_expression meaning;
	int err = tool.services->resolve(tool.host, variable->pid, tool.expression, 0, &meaning,
					 error, size);

	if (err)
		return err;
	if (meaning.block_size || meaning.thread_local_copy || meaning.length > 8) {
		snprintf(error, size, "it is no single variable of 1, 2, 4 or 8 bytes");
		return -EINVAL;
	}
	watch.address = meaning.address;
	watch.length = (unsigned)meaning.length;
	return tool.services->arm(tool.host, &watch);
}

/* The next tick tries again. Why the first try failed is told once. */
static void try_to_place(struct variable *variable)
{
	char error[256] = "";
	int err = place(variable, error, sizeof(error));

	variable->armed = !err;
	if (!err || variable->told)
		return;
	variable->told = true;
	tool.services->log(tool.host, "%s is not watched yet: %s", tool.expression,
			   *error ? error : strerror(-err));
}

static void process_began(void *state, pid_t pid)
{
	(void)state;
	for (int i = 0; i < PROCESSES; i++)
		if (!tool.variable[i].pid) {
			tool.variable[i] = (struct variable){.pid = pid};
			try_to_place(&tool.variable[i]);
			return;
		}
	tool.services->count(tool.host, "single-writer-processes-missed", 1);
}

static void process_ended(void *state, pid_t pid)
{
	(void)state;
	for (int i = 0; i < PROCESSES; i++)
		if (tool.variable[i].pid == pid)
			tool.variable[i].pid = 0;
}

static void tick(void *state)
{
	(void)state;
	for (int i = 0; i < PROCESSES; i++)
		if (tool.variable[i].pid && !tool.variable[i].armed)
			try_to_place(&tool.variable[i]);
}

/* It ended by itself: after TL_HITS_MAX hits, or because the budget is spent. */
static void unwatched(void *state, const struct tl_watch *watch, unsigned hits, unsigned threads)
{
	(void)state, (void)hits, (void)threads;
	tool.variable[watch->cookie - 1].armed = false;
}

/* What a callback is handed is valid until it returns, so the stack is kept as addresses. */
static void keep_first(struct variable *variable, const struct tl_access *access)
{
	struct tl_frame_place frames[FRAMES];
	int count = tool.services->unwind(tool.host, access, frames, FRAMES);

	for (int i = 0; i < count; i++)
		variable->first_pcs[i] = i ? frames[i].pc : access->pc;
	variable->owner = access->identity;
	variable->first = (struct tl_moment){.time = access->time,
					     .tid = access->tid,
					     .pcs = variable->first_pcs,
					     .count = (size_t)count};
}

static void tell(const struct variable *variable, const struct tl_access *access)
{
	struct tl_access first = {.size = sizeof(first),
				  .pid = access->pid,
				  .tid = variable->first.tid,
				  .address = access->address,
				  .length = access->length,
				  .access = TL_WRITE,
				  .time = variable->first.time};
	const struct tl_access *accesses[] = {access, &first};
	struct tl_moment stacks[] = {{0}, variable->first}; /* of the first access: its own */
	struct tl_detail details[] = {{"variable", tool.expression}};
	struct tl_report report = {.size = sizeof(report),
				   .kind = "second-writer",
				   .certainty = TL_DEFINITE,
				   .message = "a thread writes what belongs to another",
				   .accesses = accesses,
				   .access_count = 2,
				   .stacks = stacks,
				   .details = details,
				   .detail_count = 1};

	tool.services->report(tool.host, &report);
}

/* Hits of watches that other tools asked for come, too: with the cookie 0. */
static void hit(void *state, const struct tl_access *access)
{
	struct variable *variable;

	(void)state;
	if (!access->cookie)
		return;
	variable = &tool.variable[access->cookie - 1];
	if (!variable->owner)
		keep_first(variable, access);
	else if (variable->owner != access->identity)
		tell(variable, access);
}

__attribute__((visibility("default"))) const struct tl_tool tl_tool = {
	.size = sizeof(tl_tool),
	.version = TL_TOOL_VERSION,
	.name = "single-writer",
	.summary = "find threads that write a variable which is another's",
	.start = start,
	.hit = hit,
	.unwatched = unwatched,
	.process_began = process_began,
	.process_ended = process_ended,
	.tick = tick,
	.slots = 1,
};
