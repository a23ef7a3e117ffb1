/* SPDX-License-Identifier: Apache-2.0 */
#include "report_sample.h"

#include <limits.h>

#define NOON UINT64_C(1795262400000000000) /* 2026-11-21T12:00:00Z */

static void add_frame(struct finding *finding, struct finding_stack *stack, const char *function,
		      const char *file, unsigned line, unsigned function_line, uint64_t offset,
		      bool inlined)
{
	struct finding_frame *frame = finding_add_frame(finding, stack);

	frame->pc = 0x555555554000 + offset;
	frame->module = finding_string(finding, "/usr/bin/server");
	frame->build_id = finding_string(finding, "4b1ddeadbeef");
	frame->offset = offset;
	frame->function = finding_string(finding, function);
	frame->file = finding_string(finding, file);
	frame->line = line;
	frame->function_line = function_line;
	frame->inlined = inlined;
}

static void set_origin(struct finding *finding)
{
	finding->pid = 4711;
	finding->program = finding_string(finding, "/usr/bin/server");
	finding->build_id = finding_string(finding, "4b1ddeadbeef");
	finding->host = finding_string(finding, "web-1");
	finding->run = finding_string(finding, "web-1/4711/1795262400");
	finding->time = NOON;
	finding_identify(finding);
}

static void add_writer(struct finding *finding)
{
	struct finding_access *access = finding_add_access(finding);

	access->tid = 4713;
	access->thread = finding_string(finding, "worker-1");
	access->operation = FINDING_WRITE;
	access->size = 8;
	access->address = 0x7ffff0001040;
	access->before_known = access->after_known = true;
	access->before = 41;
	access->after = 42;
	add_frame(finding, &access->stack, "stats_add", "src/stats.c", 31, 28, 0x1234, true);
	add_frame(finding, &access->stack, "serve", "src/serve.c", 120, 100, 0x1234, false);
	add_frame(finding, &access->stack, "worker", "src/main.c", 58, 50, 0x1400, false);
}

static void add_reader(struct finding *finding)
{
	struct finding_access *access = finding_add_access(finding);

	access->tid = 4714;
	access->thread = finding_string(finding, "reporter");
	access->operation = FINDING_READ;
	access->size = 8;
	access->address = 0x7ffff0001040;
	access->time = NOON + 1500;
	add_frame(finding, &access->stack, "stats_print", "src/stats.c", 77, 70, 0x1500, false);
	add_frame(finding, &access->stack, "report", "src/main.c", 90, 80, 0x1600, false);
}

struct finding *sample_race(void)
{
	struct finding *finding = finding_create(FINDING_DATA_RACE);
	struct finding_object *object = &finding->object;

	finding->certainty = FINDING_LIKELY;
	add_writer(finding);
	add_reader(finding);
	object->kind = FINDING_OBJECT_HEAP;
	object->name = finding_string(finding, "struct stats");
	object->offset = 64;
	object->size = 128;
	object->address = 0x7ffff0001000;
	object->tid = 4711;
	object->thread = finding_string(finding, "server");
	object->time = NOON - UINT64_C(2300000000);
	add_frame(finding, &object->stack, "stats_create", "src/stats.c", 12, 10, 0x1100, false);
	object->freed.tid = 4714;
	object->freed.thread = finding_string(finding, "reporter");
	object->freed.time = NOON - 400000;
	add_frame(finding, &object->freed.stack, "stats_drop", "src/stats.c", 20, 18, 0x1180,
		  false);
	finding_add_evidence(finding, "the value changed between the writer's read and its write");
	finding_add_evidence(finding, "neither access is in an atomic function");
	set_origin(finding);
	finding_add_occurrence(finding, NOON + 2000000000, 4713, true);
	finding_add_occurrence(finding, NOON + 2000001000, 4714, false);
	return finding;
}

struct finding *sample_bare(void)
{
	struct finding *finding = finding_create(FINDING_DATA_RACE);
	struct finding_access *access;
	int i;

	finding->certainty = FINDING_DEFINITE;
	for (i = 0; i < 2; i++) {
		access = finding_add_access(finding);
		access->tid = 100 + i;
		access->operation = i ? FINDING_READ_MODIFY_WRITE : FINDING_WRITE;
		access->size = 4;
		access->address = 0x601040;
		access->kernel = i;
		add_frame(finding, &access->stack, NULL, NULL, 0, 0, 0x2000 + 64 * i, false);
	}
	finding->object.kind = FINDING_OBJECT_GLOBAL;
	set_origin(finding);
	return finding;
}

struct finding *sample_ranked(void)
{
	struct finding *finding = finding_create(FINDING_DATA_RACE);
	struct finding_access *access;

	finding->certainty = FINDING_POSSIBLE;
	finding->rank = 40;
	add_reader(finding);
	access = finding_add_access(finding);
	access->tid = 4715;
	access->operation = FINDING_WRITE;
	access->size = 8;
	access->address = 0x7ffff0001040;
	add_frame(finding, &access->stack, "stats_reset", "src/stats.c", 90, 88, 0x1580, false);
	finding_add_evidence(finding, "a store meets a load, neither with LOCK");
	set_origin(finding);
	return finding;
}

struct finding *sample_hit(void)
{
	struct finding *finding = finding_create(FINDING_HIT);

	add_writer(finding);
	finding->object.kind = FINDING_OBJECT_GLOBAL;
	finding->object.name = finding_string(finding, "server.connections");
	finding->object.type = finding_string(finding, "long");
	finding->object.size = 8;
	finding->object.file = finding_string(finding, "src/server.h");
	finding->object.line = 17;
	set_origin(finding);
	return finding;
}

struct finding *sample_broken(void)
{
	struct finding *finding = finding_create("heap-buffer-overflow");
	struct finding_access *access = finding_add_access(finding);
	struct finding_object *object = &finding->object;

	finding->certainty = FINDING_DEFINITE;
	access->tid = object->tid = 4712;
	access->thread = object->thread = finding_string(finding, "worker-1");
	access->operation = FINDING_WRITE;
	access->size = 2;
	access->address = 0x7ffff000200d;
	access->unseen = true;
	add_frame(finding, &access->stack, "queue_create", "src/queue.c", 31, 22, 0x1300, false);
	object->kind = FINDING_OBJECT_HEAP;
	object->name = finding_string(finding, "13-byte block");
	object->offset = object->size = 13;
	object->address = 0x7ffff0002000;
	add_frame(finding, &object->stack, "queue_create", "src/queue.c", 31, 22, 0x1300, false);
	set_origin(finding);
	return finding;
}

struct finding *sample_hostile(void)
{
	struct finding *finding = finding_create("my-kind");
	struct finding_access *access = finding_add_access(finding);

	finding->message = finding_string(finding, "</script><script>alert(1)</script> & \"it\"");
	access->thread = finding_string(finding, "\033[31mred\xff\xc2\x9bname\n");
	access->tid = INT_MAX;
	access->size = INT64_MAX;
	access->address = UINT64_MAX;
	access->atomic = true;
	add_frame(finding, &access->stack, "std::map<int, char const*>::operator[](int&&)",
		  "/home/a \"b\"/\xe2\x82\xac.cc", INT_MAX, 1, UINT64_MAX, false);
	set_origin(finding);
	finding->count = INT64_MAX;
	return finding;
}
