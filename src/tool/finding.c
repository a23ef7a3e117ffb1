/* SPDX-License-Identifier: Apache-2.0 */
/* From a tool's report to a finding: what the tool said, and what is found out about the program
 * for it. */
#include "tool/finding.h"

#include "control/control.h"
#include "process/thread_status.h"
#include "record/finding.h"
#include "tool/block.h"
#include "tool/complete.h"
#include "tool/host.h"
#include "tool/object.h"
#include "tool/variable.h"

#include <stddef.h>

/* A report of a tool that was built before the member existed says so by its size. */
#define REPORT_HAS(report, member)                                                          \
	((report)->size >= offsetof(struct tl_report, member) + sizeof((report)->member) && \
	 (report)->member)

static const char *thread_name(struct finding *finding, pid_t pid, pid_t tid)
{
	char name[64];

	return thread_status_name(pid, tid, name, sizeof(name)) ? finding_string(finding, name)
								: NULL;
}

/* A stack that the tool kept takes the place of the one that was noted at the access. */
static void add_access(struct tl_host *host, struct finding *finding, const struct tl_access *from,
		       const struct tl_moment *kept)
{
	struct space *space = control_space(host->set->control, from->pid);
	bool use_kept = kept && kept->count && !from->stack;
	struct finding_access *access = complete_access(
		finding, space, from, use_kept ? 0 : COMPLETE_FRAMES, host->set->options.raw);

	if (!access)
		return;
	access->thread = thread_name(finding, from->pid, from->tid);
	for (size_t i = 0; use_kept && space && i < kept->count; i++)
		if (!complete_frames(finding, space, &access->stack, kept->pcs[i], i > 0,
				     host->set->options.raw))
			return;
}

/* Writes a variable of a frame of main() as gdb does: "main::buffer". */
static const char *object_name(struct finding *finding, const struct symbol_variable *variable)
{
	const char *name = variable->path ? variable->path : variable->name;

	if (variable->kind == SYMBOL_VARIABLE_STACK && name && variable->function)
		return finding_format(finding, "%s::%s", variable->function, name);
	return finding_string(finding, name);
}

static enum finding_object_kind object_kind(enum symbol_variable_kind kind)
{
	switch (kind) {
	case SYMBOL_VARIABLE_GLOBAL:
		return FINDING_OBJECT_GLOBAL;
	case SYMBOL_VARIABLE_TLS:
		return FINDING_OBJECT_TLS;
	case SYMBOL_VARIABLE_STACK:
		return FINDING_OBJECT_STACK;
	case SYMBOL_VARIABLE_HEAP:
		return FINDING_OBJECT_HEAP;
	default:
		return FINDING_OBJECT_OTHER;
	}
}

static void add_object(struct tl_host *host, struct finding *finding,
		       const struct tl_report *report)
{
	struct finding_object *object = &finding->object;
	struct symbol_variable variable = {0};
	struct space *space;

	if (!report->access_count)
		return;
	space = control_space(host->set->control, report->accesses[0]->pid);
	if (!space)
		return;
	space_learn(space, report->accesses[0]->address);
	variable_find(space, report->accesses, report->access_count, &variable);
	object->kind = object_kind(variable.kind);
	if (variable.kind == SYMBOL_VARIABLE_GLOBAL && variable.module) {
		object->module = finding_string(finding, variable.module);
		object->build_id = finding_string(finding, variable.build_id);
		object->module_offset = variable.module_offset;
	}
	object->name = object_name(finding, &variable);
	object->type = finding_string(finding, variable.type);
	/* Without a name and a size the address known is the start of a mapping, not of an object.
	 */
	if (variable.name || variable.size) {
		object->offset = variable.path ? variable.path_offset : variable.offset;
		object->address = variable.address;
	}
	object->size = variable.size;
	object->tid = variable.tid;
	if (variable.tid)
		object->thread = thread_name(finding, report->accesses[0]->pid, variable.tid);
	object->file = finding_string(finding, variable.file);
	object->line = variable.line;
	if (variable.kind == SYMBOL_VARIABLE_HEAP)
		block_complete(host, finding, space, report->accesses[0], &variable);
}

static void keep_facts(struct finding *finding, const struct tl_report *report)
{
	if (!REPORT_HAS(report, facts))
		return;
	for (size_t i = 0; i < finding->access_count && i < report->access_count; i++)
		finding->accesses[i].facts = report->facts[i];
}

static void add_details(struct finding *finding, const struct tl_report *report)
{
	if (REPORT_HAS(report, strategy))
		finding->strategy = finding_string(finding, report->strategy);
	if (!REPORT_HAS(report, detail_count))
		return;
	for (size_t i = 0; i < report->detail_count; i++)
		finding_add_detail(finding, report->details[i].name, report->details[i].value);
}

struct finding *finding_complete(struct tl_host *host, const struct tl_report *report)
{
	struct finding *finding = finding_create(report->kind);
	const struct space *space = NULL;

	if (!finding)
		return NULL;
	finding->certainty = report->certainty == TL_DEFINITE ? FINDING_DEFINITE
			     : report->certainty == TL_LIKELY ? FINDING_LIKELY
							      : FINDING_POSSIBLE;
	if (REPORT_HAS(report, rank))
		finding->rank = report->rank;
	finding->message = finding_string(finding, report->message);
	for (size_t i = 0; i < report->evidence_count; i++)
		finding_add_evidence(finding, report->evidence[i]);
	for (size_t i = 0; i < report->access_count; i++)
		add_access(host, finding, report->accesses[i],
			   REPORT_HAS(report, stacks) ? &report->stacks[i] : NULL);
	keep_facts(finding, report);
	if (REPORT_HAS(report, object))
		object_complete(host, finding, report);
	else
		add_object(host, finding, report);
	add_details(finding, report);
	if (report->access_count) {
		finding->pid = report->accesses[0]->pid;
		space = control_space(host->set->control, finding->pid);
	}
	finding->program = complete_program(finding, space, host->set->options.program);
	finding->run = finding_string(finding, host->set->run);
	finding->host = finding_string(finding, host->set->hostname);
	finding->time = complete_time();
	finding_identify(finding);
	return finding;
}
