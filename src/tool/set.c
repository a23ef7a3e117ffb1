/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/set.h"

#include "control/control.h"
#include "notice/notice.h"
#include "record/finding.h"
#include "record/utf8.h"
#include "tool/guarded.h"
#include "tool/host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned wants_of(const struct tl_tool *tool)
{
	return TOOL_HAS(tool, wants) ? tool->wants : 0;
}

static struct tl_host *host_of(struct tool_set *set, unsigned number)
{
	return number >= 1 && number <= set->count ? &set->host[number - 1] : NULL;
}

static void on_sample(void *context, const struct tl_access *access)
{
	struct tool_set *set = context;
	bool own_stack = access->traits & TL_TRAIT_OWN_STACK;

	for (unsigned i = 0; i < set->count; i++) {
		const struct tl_tool *tool = set->host[i].tool;

		if (tool->sample && (!own_stack || (wants_of(tool) & TL_WANTS_OWN_STACK)))
			tool->sample(set->host[i].state, access);
	}
}

static void on_hit(void *context, const struct tl_access *access)
{
	struct tool_set *set = context;

	for (unsigned i = 0; i < set->count; i++)
		if (set->host[i].tool->hit)
			set->host[i].tool->hit(set->host[i].state, access);
}

static void on_pair(void *context, const struct tl_pair *pair)
{
	struct tool_set *set = context;

	for (unsigned i = 0; i < set->count; i++)
		if (set->host[i].tool->pair)
			set->host[i].tool->pair(set->host[i].state, pair);
}

/* Told to each tool that does not place watches itself: the watch was chosen, for whichever
 * tool, and those that place watches are told of their own. */
static void on_unwatched(void *context, const struct tl_watch *watch, unsigned hits,
			 unsigned threads)
{
	struct tool_set *set = context;

	for (unsigned i = 0; i < set->count; i++)
		if (set->host[i].tool->unwatched && !tool_places(set->host[i].tool))
			set->host[i].tool->unwatched(set->host[i].state, watch, hits, threads);
}

static void on_notice(void *context, const struct notice *notice)
{
	struct tool_set *set = context;
	struct tl_block block = {.size = sizeof(block),
				 .pid = notice->from->pid,
				 .address = notice->address,
				 .length = notice->size,
				 .time = notice->from->time,
				 .from = notice->from};

	for (unsigned i = 0; i < set->count; i++) {
		struct tl_host *host = &set->host[i];

		if (notice->kind == NOTICE_BLOCK_ALLOCATED && TOOL_HAS(host->tool, born))
			host->tool->born(host->state, &block);
		else if (notice->kind == NOTICE_BLOCK_FREED && TOOL_HAS(host->tool, freed))
			host->tool->freed(host->state, &block);
	}
}

static void on_placed(void *context, unsigned owner, const struct tl_access *access)
{
	struct tl_host *host = host_of(context, owner);

	if (host && host->tool->hit)
		host->tool->hit(host->state, access);
}

static void on_displaced(void *context, unsigned owner, const struct tl_watch *watch, unsigned hits,
			 unsigned threads)
{
	struct tl_host *host = host_of(context, owner);

	if (host && host->tool->unwatched)
		host->tool->unwatched(host->state, watch, hits, threads);
}

/* The highest interest that any tool has: code that one tool has no opinion of may interest
 * another. */
static unsigned on_interest(void *context, pid_t pid, uint64_t pc)
{
	struct tool_set *set = context;
	unsigned most = 0;

	for (unsigned i = 0; i < set->count; i++) {
		const struct tl_tool *tool = set->host[i].tool;
		unsigned interest =
			TOOL_HAS(tool, interest) ? tool->interest(set->host[i].state, pid, pc) : 0;

		most = interest > most ? interest : most;
	}
	return most;
}

static void on_process_began(void *context, pid_t pid)
{
	struct tool_set *set = context;

	for (unsigned i = 0; i < set->count; i++)
		if (TOOL_HAS(set->host[i].tool, process_began))
			set->host[i].tool->process_began(set->host[i].state, pid);
}

static void on_process_ended(void *context, pid_t pid)
{
	struct tool_set *set = context;

	for (unsigned i = 0; i < set->count; i++)
		if (TOOL_HAS(set->host[i].tool, process_ended))
			set->host[i].tool->process_ended(set->host[i].state, pid);
	if (set->options.process_ended)
		set->options.process_ended(set->context);
}

static void on_tick(void *context)
{
	struct tool_set *set = context;

	for (unsigned i = 0; i < set->count; i++)
		if (TOOL_HAS(set->host[i].tool, tick))
			set->host[i].tool->tick(set->host[i].state);
	if (set->options.tick)
		set->options.tick(set->context);
}

static void on_guard(void *context, const struct guards_notice *notice)
{
	guarded_tell(context, notice);
}

static void name_run(struct tool_set *set)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (gethostname(set->hostname, sizeof(set->hostname) - 1))
		strcpy(set->hostname, "unknown");
	snprintf(set->run, sizeof(set->run), "%llx-%x",
		 (unsigned long long)now.tv_sec << 30 | (unsigned long long)now.tv_nsec,
		 (unsigned)getpid());
}

/*
 * Tools that choose by samples and pairs share `slots` with tools that place watches themselves.
 * Each side has at least one slot; those that place have no more than they ask for and no more than
 * half.
 */
/* How many hardware slots go to what samples choose, and to what tools place themselves. */
struct tool_shares {
	unsigned chosen, placed;
};

static void tool_set_divide(const struct tl_tool *const *tools, unsigned count, unsigned slots,
			    struct tool_shares *shares)
{
	bool chooses = false;
	unsigned wanted = 0;

	for (unsigned i = 0; i < count; i++) {
		wanted += tool_places(tools[i]);
		chooses |= !tool_places(tools[i]);
	}
	shares->placed = wanted < slots ? wanted : slots;
	if (chooses && shares->placed > slots / 2)
		shares->placed = slots / 2;
	shares->chosen = chooses ? slots - shares->placed : 0;
}

static bool has_opinion(const struct tl_tool *const *tools, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (TOOL_HAS(tools[i], interest))
			return true;
	return false;
}

static bool takes_samples(const struct tl_tool *const *tools, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (tools[i]->sample)
			return true;
	return false;
}

static int create_control(struct tool_set *set, const struct tl_tool *const *tools)
{
	struct control_observer observer = {.hit = on_hit,
					    .pair = on_pair,
					    .unwatched = on_unwatched,
					    .placed = on_placed,
					    .displaced = on_displaced,
					    .process_began = on_process_began,
					    .process_ended = on_process_ended,
					    .notice = on_notice,
					    .guard = on_guard,
					    .tick = on_tick,
					    .context = set};
	struct control_options options = *set->options.control;
	struct tool_shares shares;
	int err;

	if (has_opinion(tools, set->count))
		observer.interest = on_interest;
	if (takes_samples(tools, set->count))
		observer.sample = on_sample;
	tool_set_divide(tools, set->count, options.slots, &shares);
	options.slots = shares.chosen;
	options.placed = shares.placed;
	for (unsigned i = 0; i < set->count; i++) {
		options.own_stacks |= wants_of(tools[i]) & TL_WANTS_OWN_STACK;
		options.births |= wants_of(tools[i]) & TL_WANTS_BLOCKS;
		options.guard |= (wants_of(tools[i]) & TL_WANTS_GUARDS) != 0;
	}
	err = control_create(&set->control, &options, &observer);
	if (!err)
		set->program = control_program(set->control);
	return err;
}

static int start_tools(struct tool_set *set)
{
	for (unsigned i = 0; i < set->count; i++) {
		struct tl_host *host = &set->host[i];
		int err = host->tool->start ? host->tool->start(host, &host_services, &host->state)
					    : 0;

		if (err < 0 && host->logged)
			return err == -EINVAL ? -EBADRQC : -ECANCELED;
		if (err < 0)
			return err;
	}
	return 0;
}

static unsigned count_tool_options(const struct host_options *options)
{
	unsigned count = 0;

	while (options->tool_options && options->tool_options[count])
		count++;
	return count;
}

/* Tells the user of options that no tool has asked for, which are mistyped. Returns how many. */
static unsigned tell_unasked(const struct tool_set *set)
{
	unsigned count = 0;

	for (unsigned i = 0; i < set->tool_options; i++) {
		const char *option = set->options.tool_options[i];

		if (set->asked & 1ull << i)
			continue;
		utf8_fprintf(stderr, "trapline: --tool-option '%s': no tool of this run %s\n",
			     option,
			     set->options.loaded ? "has asked for it" : "has such an option");
		count++;
	}
	return count;
}

/* Our own tools ask for all their options as they start; a tool from a shared object may ask
 * later. */
static int refuse_unasked(const struct tool_set *set)
{
	return !set->options.loaded && tell_unasked(set) ? -EBADRQC : 0;
}

static void begin_hosts(struct tool_set *set, const struct tl_tool *const *tools)
{
	for (unsigned i = 0; i < set->count; i++) {
		set->host[i] = (struct tl_host){.set = set, .tool = tools[i], .number = i + 1};
		tool_counts_begin(&set->host[i].counts,
				  TOOL_HAS(tools[i], counts) ? tools[i]->counts : NULL);
	}
}

static void end_hosts(struct tool_set *set)
{
	for (unsigned i = 0; i < set->count; i++)
		tool_counts_end(&set->host[i].counts);
}

int tool_set_create(struct tool_set **set, const struct tl_tool *const *tools, unsigned count,
		    const struct host_options *options, host_deliver_fn *deliver, void *context)
{
	struct tool_set *made;
	int err;

	if (!count || count > TOOL_SET_MAX || count_tool_options(options) > TOOL_OPTIONS_MAX)
		return -EINVAL;
	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->count = count;
	made->options = *options;
	made->tool_options = count_tool_options(options);
	made->deliver = deliver;
	made->context = context;
	begin_hosts(made, tools);
	name_run(made);
	err = create_control(made, tools);
	if (!err)
		err = start_tools(made);
	if (!err)
		err = refuse_unasked(made);
	if (err < 0) {
		if (made->control)
			control_destroy(made->control);
		end_hosts(made);
		free(made);
		return err;
	}
	*set = made;
	return 0;
}

const char *tool_set_run(const struct tool_set *set)
{
	return set->run;
}

struct control *tool_set_control(struct tool_set *set)
{
	return set->control;
}

struct space *tool_space(struct tl_host *host, pid_t pid)
{
	return control_space(host->set->control, pid);
}

void tool_refuse(struct tl_host *host, pid_t pid)
{
	if (host->set->options.refused)
		host->set->options.refused(host->set->context, pid);
}

bool tool_kernel_told(struct tl_host *host)
{
	return control_kernel_told(host->set->control);
}

void tool_set_finish(struct tool_set *set)
{
	for (unsigned i = 0; i < set->count; i++)
		if (set->host[i].tool->exit)
			set->host[i].tool->exit(set->host[i].state);
	if (set->options.loaded)
		tell_unasked(set);
}

struct finding *tool_set_finding(struct tool_set *set, size_t index)
{
	return index < set->finding_count ? set->findings[index] : NULL;
}

void tool_set_counts(const struct tool_set *set, control_count_fn *each, void *context)
{
	control_counts(set->control, each, context);
	for (unsigned i = 0; i < set->count; i++)
		tool_counts_each(&set->host[i].counts, each, context);
}

void tool_set_destroy(struct tool_set *set)
{
	control_destroy(set->control);
	for (size_t i = 0; i < set->finding_count; i++)
		finding_destroy(set->findings[i]);
	free(set->findings);
	end_hosts(set);
	free(set);
}
