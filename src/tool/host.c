/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/host.h"

#include "record/utf8.h"
#include "tool/private.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int serve_watch(struct tl_host *host, const struct tl_watch *watch)
{
	return control_watch(host->control, watch);
}

static ssize_t serve_read(struct tl_host *host, pid_t pid, uint64_t address, void *to,
			  size_t length)
{
	struct space *space = control_space(host->control, pid);

	return space ? space_read(space, address, to, length) : -ESRCH;
}

static const char *serve_module(struct tl_host *host, pid_t pid, uint64_t address)
{
	struct space *space = control_space(host->control, pid);
	const struct symbol_module *module =
		space ? symbol_modules_find(space_modules(space), address) : NULL;

	return module ? module->path : NULL;
}

static struct finding *find_same(struct tl_host *host, const struct finding *finding, size_t *index)
{
	for (size_t i = 0; i < host->finding_count; i++)
		if (strcmp(host->findings[i]->id, finding->id) == 0) {
			*index = i;
			return host->findings[i];
		}
	return NULL;
}

static int keep(struct tl_host *host, struct finding *finding)
{
	if (host->finding_count == host->finding_capacity) {
		size_t capacity = host->finding_capacity ? 2 * host->finding_capacity : 32;
		struct finding **findings =
			realloc(host->findings, capacity * sizeof(*host->findings));

		if (!findings)
			return -ENOMEM;
		host->findings = findings;
		host->finding_capacity = capacity;
	}
	host->findings[host->finding_count++] = finding;
	return 0;
}

static void replace(struct tl_host *host, size_t index, struct finding *finding)
{
	struct finding *known = host->findings[index];

	finding->count = known->count + 1;
	finding->last = finding->time;
	finding->time = known->time;
	for (size_t i = 0; i < known->occurrence_count; i++)
		finding_add_occurrence(finding, known->occurrences[i].time,
				       known->occurrences[i].tid, false);
	finding_destroy(known);
	host->findings[index] = finding;
}

/* Pairs of the same two places differ in what they show of themselves. */
static bool ranks_before(const struct finding *finding, const struct finding *known)
{
	return finding->certainty == known->certainty && finding->rank &&
	       (!known->rank || finding->rank < known->rank);
}

static int repeat(struct tl_host *host, size_t index, struct finding *finding)
{
	struct finding *known = host->findings[index];

	if (finding->certainty > known->certainty) {
		replace(host, index, finding);
		return host->deliver(host->context, finding);
	}
	/* Nothing new to show, but the last word on it says where the block came from, or what is
	 * worst of it. */
	if (ranks_before(finding, known) ||
	    (finding->certainty == known->certainty && finding->object.stack.count &&
	     !known->object.stack.count)) {
		replace(host, index, finding);
		return 1;
	}
	finding_add_occurrence(known, finding->time,
			       finding->access_count ? finding->accesses[0].tid : 0, true);
	finding_destroy(finding);
	return 1;
}

static int make_report(struct tl_host *host, const struct tl_report *report)
{
	struct finding *finding;
	size_t index;

	control_quiesce(host->control);
	finding = finding_complete(host, report);
	if (!finding)
		return -ENOMEM;
	if (find_same(host, finding, &index))
		return repeat(host, index, finding);
	if (keep(host, finding)) {
		finding_destroy(finding);
		return -ENOMEM;
	}
	return host->deliver(host->context, finding);
}

static void serve_count(struct tl_host *host, const char *name, uint64_t amount)
{
	for (unsigned i = 0; i < host->count_count; i++)
		if (host->counts[i].name == name || strcmp(host->counts[i].name, name) == 0) {
			host->counts[i].value += amount;
			return;
		}
	if (host->count_count < TOOL_COUNTS)
		host->counts[host->count_count++] = (struct tool_count){name, amount};
}

static int serve_report(struct tl_host *host, const struct tl_report *report)
{
	uint64_t begun = control_work_begin(host->control);
	int result = make_report(host, report);

	if (result == -ENOMEM)
		serve_count(host, "findings-lost", 1);
	control_work_end(host->control, begun);
	return result;
}

static void serve_log(struct tl_host *host, const char *format, ...)
{
	va_list list;
	char *text;

	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		text = NULL;
	va_end(list);
	fprintf(stderr, "trapline: %s: ", host->tool->name);
	/* Names of the program's are in it, as a rule. */
	utf8_print(stderr, text);
	fputc('\n', stderr);
	free(text);
}

static const char *serve_option(struct tl_host *host, const char *name)
{
	size_t length = strlen(name);

	for (const char *const *at = host->options.tool_options; at && *at; at++)
		if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
			return *at + length + 1;
	return NULL;
}

static const struct tl_services services = {
	.size = sizeof(services),
	.watch = serve_watch,
	.read = serve_read,
	.symbolise = host_symbolise,
	.stack = host_stack,
	.atomicity = host_atomicity,
	.keeps_atomics_apart = host_keeps_atomics_apart,
	.around = host_around,
	.report = serve_report,
	.log = serve_log,
	.count = serve_count,
	.option = serve_option,
	.module = serve_module,
};

static void on_sample(void *context, const struct tl_access *access)
{
	struct tl_host *host = context;

	if (host->tool->sample)
		host->tool->sample(host->state, access);
}

static void on_hit(void *context, const struct tl_access *access)
{
	struct tl_host *host = context;

	if (host->tool->hit)
		host->tool->hit(host->state, access);
}

static void on_pair(void *context, const struct tl_pair *pair)
{
	struct tl_host *host = context;

	if (host->tool->pair)
		host->tool->pair(host->state, pair);
}

static void on_unwatched(void *context, const struct tl_watch *watch, unsigned hits,
			 unsigned threads)
{
	struct tl_host *host = context;

	if (host->tool->unwatched)
		host->tool->unwatched(host->state, watch, hits, threads);
}

static unsigned on_interest(void *context, pid_t pid, uint64_t pc)
{
	struct tl_host *host = context;

	return host->tool->interest(host->state, pid, pc);
}

/* A tool built before the member was added says so by its size. */
static bool has_interest(const struct tl_tool *tool)
{
	return tool->size >= offsetof(struct tl_tool, interest) + sizeof(tool->interest) &&
	       tool->interest;
}

static void on_process_ended(void *context, pid_t pid)
{
	struct tl_host *host = context;

	(void)pid;
	if (host->options.process_ended)
		host->options.process_ended(host->context);
}

static void on_tick(void *context)
{
	struct tl_host *host = context;

	if (host->options.tick)
		host->options.tick(host->context);
}

static void name_run(struct tl_host *host)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (gethostname(host->host, sizeof(host->host) - 1))
		strcpy(host->host, "unknown");
	snprintf(host->run, sizeof(host->run), "%llx-%x",
		 (unsigned long long)now.tv_sec << 30 | (unsigned long long)now.tv_nsec,
		 (unsigned)getpid());
}

int host_create(struct tl_host **host, const struct tl_tool *tool,
		const struct host_options *options, host_deliver_fn *deliver, void *context)
{
	struct tl_host *made = calloc(1, sizeof(*made));
	struct control_observer observer = {.sample = on_sample,
					    .hit = on_hit,
					    .pair = on_pair,
					    .unwatched = on_unwatched,
					    .process_ended = on_process_ended,
					    .tick = on_tick,
					    .interest = has_interest(tool) ? on_interest : NULL,
					    .context = made};
	int err;

	if (!made)
		return -ENOMEM;
	made->tool = tool;
	made->options = *options;
	made->deliver = deliver;
	made->context = context;
	name_run(made);
	err = control_create(&made->control, options->control, &observer);
	if (!err && tool->start)
		err = tool->start(made, &services, &made->state);
	if (err < 0) {
		if (made->control)
			control_destroy(made->control);
		free(made);
		return err;
	}
	*host = made;
	return 0;
}

struct control *host_control(struct tl_host *host)
{
	return host->control;
}

void host_finish(struct tl_host *host)
{
	if (host->tool->exit)
		host->tool->exit(host->state);
}

struct finding *host_finding(struct tl_host *host, size_t index)
{
	return index < host->finding_count ? host->findings[index] : NULL;
}

void host_counts(const struct tl_host *host, control_count_fn *each, void *context)
{
	control_counts(host->control, each, context);
	for (unsigned i = 0; i < host->count_count; i++)
		each(context, host->counts[i].name, host->counts[i].value, "counted by the tool");
}

void host_destroy(struct tl_host *host)
{
	control_destroy(host->control);
	for (size_t i = 0; i < host->finding_count; i++)
		finding_destroy(host->findings[i]);
	free(host->findings);
	free(host);
}
