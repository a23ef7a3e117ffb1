/* SPDX-License-Identifier: Apache-2.0 */
/* The services of <trapline/tool.h>. */
#include "tool/host.h"

#include "account/account.h"
#include "control/control.h"
#include "event/firing.h"
#include "notice/guards.h"
#include "notice/notice.h"
#include "placed/placed.h"
#include "record/finding.h"
#include "record/utf8.h"
#include "tool/around.h"
#include "tool/complete.h"
#include "tool/fault.h"
#include "tool/finding.h"
#include "tool/guarded.h"
#include "tool/judgement.h"
#include "tool/look.h"
#include "tool/unwind.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int serve_watch(struct tl_host *host, const struct tl_watch *watch)
{
	return control_watch(host->set->control, watch);
}

static ssize_t serve_read(struct tl_host *host, pid_t pid, uint64_t address, void *to,
			  size_t length)
{
	struct space *space = control_space(host->set->control, pid);

	return space ? space_read(space, address, to, length) : -ESRCH;
}

static const char *serve_module(struct tl_host *host, pid_t pid, uint64_t address)
{
	struct space *space = control_space(host->set->control, pid);
	const struct symbol_module *module =
		space ? symbol_modules_find(space_modules(space), address) : NULL;

	return module ? module->path : NULL;
}

static const char *serve_function_name(struct tl_host *host, pid_t pid, uint64_t pc)
{
	struct space *space = control_space(host->set->control, pid);

	return space ? space_function_name(space, pc) : NULL;
}

static struct finding *find_same(struct tl_host *host, const struct finding *finding, size_t *index)
{
	for (size_t i = 0; i < host->set->finding_count; i++)
		if (strcmp(host->set->findings[i]->id, finding->id) == 0) {
			*index = i;
			return host->set->findings[i];
		}
	return NULL;
}

static int keep(struct tl_host *host, struct finding *finding)
{
	if (host->set->finding_count == host->set->finding_capacity) {
		size_t capacity = host->set->finding_capacity ? 2 * host->set->finding_capacity
							      : 32;
		struct finding **findings =
			realloc(host->set->findings, capacity * sizeof(*host->set->findings));

		if (!findings)
			return -ENOMEM;
		host->set->findings = findings;
		host->set->finding_capacity = capacity;
	}
	host->set->findings[host->set->finding_count++] = finding;
	return 0;
}

static void replace(struct tl_host *host, size_t index, struct finding *finding)
{
	struct finding *known = host->set->findings[index];

	finding->count = known->count + 1;
	finding->last = finding->time;
	finding->time = known->time;
	for (size_t i = 0; i < known->occurrence_count; i++)
		finding_add_occurrence(finding, known->occurrences[i].time,
				       known->occurrences[i].tid, false);
	finding_destroy(known);
	host->set->findings[index] = finding;
}

/* Pairs of the same two places may differ in what they show of themselves. */
static bool ranks_before(const struct finding *finding, const struct finding *known)
{
	return finding->certainty == known->certainty && finding->rank &&
	       (!known->rank || finding->rank < known->rank);
}

static int repeat(struct tl_host *host, size_t index, struct finding *finding)
{
	struct finding *known = host->set->findings[index];

	if (finding->certainty > known->certainty) {
		replace(host, index, finding);
		return host->set->deliver(host->set->context, finding);
	}
	/* A finding of the same certainty is not shown again. It replaces the known one, for the
	 * report at the end, if it says where the block came from or ranks first. */
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

	control_quiesce(host->set->control);
	finding = finding_complete(host, report);
	if (!finding)
		return -ENOMEM;
	if (find_same(host, finding, &index))
		return repeat(host, index, finding);
	if (keep(host, finding)) {
		finding_destroy(finding);
		return -ENOMEM;
	}
	return host->set->deliver(host->set->context, finding);
}

static void serve_count(struct tl_host *host, const char *name, uint64_t amount)
{
	tool_counts_add(&host->counts, name, amount);
}

static int serve_report(struct tl_host *host, const struct tl_report *report)
{
	uint64_t begun = account_work_begin(host->set->program);
	int result = make_report(host, report);

	if (result == -ENOMEM)
		serve_count(host, "findings-lost", 1);
	account_work_end(host->set->program, begun);
	return result;
}

static void serve_log(struct tl_host *host, const char *format, ...)
{
	va_list list;
	char *text;

	host->logged = true;
	va_start(list, format);
	if (vasprintf(&text, format, list) < 0)
		text = NULL;
	va_end(list);
	utf8_fprintf(stderr, "trapline: %s: %s\n", host->tool->name, text ? text : format);
	free(text);
}

/* The value of "NAME=VALUE", or of "TOOL.NAME=VALUE" with `tool`; NULL: the option has another
 * name. */
static const char *option_value(const char *option, const char *tool, const char *name)
{
	size_t length = strlen(name);

	if (tool) {
		size_t prefix = strlen(tool);

		if (strncmp(option, tool, prefix) != 0 || option[prefix] != '.')
			return NULL;
		option += prefix + 1;
	}
	return strncmp(option, name, length) == 0 && option[length] == '=' ? option + length + 1
									   : NULL;
}

/* The first option of that name, for `tool` or, with NULL, for all tools. Every such option is
 * noted as asked for. */
static const char *ask_for(struct tool_set *set, const char *tool, const char *name)
{
	const char *found = NULL;

	for (unsigned i = 0; i < set->tool_options; i++) {
		const char *value = option_value(set->options.tool_options[i], tool, name);

		if (!value)
			continue;
		set->asked |= 1ull << i;
		found = found ? found : value;
	}
	return found;
}

/* An option TOOL.NAME=VALUE, which is for this tool alone, comes before NAME=VALUE for all
 * tools. */
static const char *serve_option(struct tl_host *host, const char *name)
{
	const char *own = ask_for(host->set, host->tool->name, name);
	const char *common = ask_for(host->set, NULL, name);

	return own ? own : common;
}

/* Where the hypervisor hides the debug registers the kernel takes watches, and none of them tells
 * anything. */
static bool slots_are_deaf(void)
{
	static enum { UNKNOWN, FIRING, DEAF } state; /* the controller's thread alone asks */

	if (state == UNKNOWN)
		state = firing_is_absent(TL_WRITE) ? DEAF : FIRING;
	return state == DEAF;
}

static unsigned serve_slots(struct tl_host *host, pid_t pid)
{
	unsigned all = placed_slots(host->set->program, pid), tools = 0;

	for (unsigned i = 0; i < host->set->count; i++)
		tools += tool_places(host->set->host[i].tool) > 0;
	if (!all || !tool_places(host->tool) || slots_are_deaf())
		return 0;
	return tools && all > tools ? all / tools : 1;
}

static int serve_arm(struct tl_host *host, const struct tl_watch *watch)
{
	if (watch->size < sizeof(*watch))
		return -EINVAL;
	return placed_arm(host->set->program, host->number, watch);
}

static void serve_disarm(struct tl_host *host, uint64_t cookie)
{
	placed_disarm(host->set->program, host->number, cookie);
}

static void serve_wake(struct tl_host *host)
{
	control_rouse(host->set->control);
}

static bool serve_interposed(struct tl_host *host, pid_t pid)
{
	return guards_are_interposed(host->set->program, pid);
}

static bool serve_held(struct tl_host *host)
{
	return placed_holds(host->set->program);
}

static bool serve_unbroken(struct tl_host *host, pid_t pid, uint64_t cookie)
{
	return placed_is_unbroken(host->set->program, host->number, pid, cookie);
}

static uint64_t serve_untold(struct tl_host *host, pid_t pid, uint64_t cookie)
{
	return placed_untold(host->set->program, host->number, pid, cookie);
}

static int serve_keep_block(struct tl_host *host, pid_t pid, uint64_t address)
{
	struct program *program = host->set->program;
	int err = notice_note_block(program, pid, address);

	/* A thread that has gone on may have freed the block before. */
	if (!err && !placed_awaits(program)) {
		notice_forget_block(program, pid, address);
		err = -ETIMEDOUT;
	}
	return err;
}

static bool serve_block_lives(struct tl_host *host, pid_t pid, uint64_t address)
{
	return notice_has_block(host->set->program, pid, address);
}

static unsigned serve_spent(struct tl_host *host)
{
	return account_spent(host->set->program);
}

const struct tl_services host_services = {
	.size = sizeof(host_services),
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
	.slots = serve_slots,
	.arm = serve_arm,
	.disarm = serve_disarm,
	.wake = serve_wake,
	.unwind = host_unwind,
	.spent = serve_spent,
	.memory = host_memory,
	.function = host_function,
	.resolve = host_resolve,
	.function_name = serve_function_name,
	.guard = host_guard,
	.guarded = host_guarded,
	.guard_always = host_guard_always,
	.guard_faults = host_guard_faults,
	.complete_fault = host_complete_fault,
	.thread_pointer = host_thread_pointer,
	.interposed = serve_interposed,
	.entry = host_entry,
	.held = serve_held,
	.unbroken = serve_unbroken,
	.untold = serve_untold,
	.keep_block = serve_keep_block,
	.block_lives = serve_block_lives,
};
