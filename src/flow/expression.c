/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/expression.h"

#include "tool/set.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESOLVE_TICKS \
	10 /* between two looks whether the expression means something now, or at the threads */

int flow_expression_init(struct flow_expression *expression, struct tl_host *host,
			 const struct tl_services *services, const char *tool)
{
	memset(expression, 0, sizeof(*expression));
	expression->host = host;
	expression->services = services;
	expression->text = services->option(host, "expression");
	expression->later = services->option(host, "later") != NULL;
	if (expression->text)
		return 0;
	services->log(host, "which expression? --tool-option %s.expression=EXPR", tool);
	return -EINVAL;
}

unsigned flow_piece_length(uint64_t address, uint64_t length)
{
	unsigned piece = 8;

	while (piece > 1 && (address % piece || piece > length))
		piece /= 2;
	return piece;
}

static void take(struct flow_expression *expression, pid_t pid, uint64_t address, uint64_t length,
		 flow_piece_fn *piece, void *context)
{
	expression->pid = pid;
	for (unsigned i = 0; i < FLOW_PIECES && 8 * (uint64_t)i < length; i++) {
		uint64_t rest = length - 8 * (uint64_t)i;

		piece(context, pid, address + 8 * (uint64_t)i, rest < 8 ? rest : 8);
	}
}

static struct flow_copy *find_copy(struct flow_expression *expression, pid_t tid)
{
	for (unsigned i = 0; i < expression->copies; i++)
		if (expression->copy[i].tid == tid)
			return &expression->copy[i];
	return NULL;
}

/* The thread's own copy, once it is known where that is. */
static void look_at_thread(struct flow_expression *expression, pid_t pid, pid_t tid,
			   flow_piece_fn *piece, void *context)
{
	struct flow_copy *copy = find_copy(expression, tid);
	struct tl_expression meaning;
	char error[sizeof(expression->error)];
	uint64_t fs_base;

	if (copy) {
		copy->seen = true;
		return;
	}
	fs_base = expression->services->thread_pointer(expression->host, pid, tid);
	if (!fs_base || expression->services->resolve(expression->host, pid, expression->text,
						      fs_base, &meaning, error, sizeof(error)))
		return;
	if (expression->copies == FLOW_COPIES) {
		expression->services->count(expression->host, "flow-copies-refused", 1);
		return;
	}
	expression->copy[expression->copies++] =
		(struct flow_copy){.tid = tid, .address = meaning.address, .seen = true};
	take(expression, pid, meaning.address, meaning.length, piece, context);
}

/* Of a thread-local variable: copies of threads that began are taken, of those that ended are gone.
 */
static void look_at_threads(struct flow_expression *expression, pid_t pid, flow_piece_fn *piece,
			    void *context)
{
	struct dirent *entry;
	char path[64];
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	for (unsigned i = 0; i < expression->copies; i++)
		expression->copy[i].seen = false;
	while ((entry = readdir(tasks)))
		if (entry->d_name[0] != '.')
			look_at_thread(expression, pid, (pid_t)strtol(entry->d_name, NULL, 10),
				       piece, context);
	closedir(tasks);
	for (unsigned i = 0; i < expression->copies;) {
		if (expression->copy[i].seen) {
			i++;
			continue;
		}
		piece(context, pid, expression->copy[i].address, 0);
		expression->copy[i] = expression->copy[--expression->copies];
	}
}

/* May what means nothing now mean something later? As `trapline watch` decides: a pointer may be
 * set, and a library that is named be loaded; any other name only where the user said so. */
static bool may_wait(const struct flow_expression *expression, int err)
{
	/* A length is known where all names are. */
	bool pointer = expression->meaning.length, library = strstr(expression->text, ".so");

	return (err == -EAGAIN && (pointer || library)) ||
	       (expression->later && (err == -EAGAIN || err == -ENOENT));
}

/* Children may run other programs, where the names are not. */
static void refuse(struct flow_expression *expression, pid_t pid, bool first, int err)
{
	bool unknown = err == -EAGAIN || err == -ENOENT;

	if (!first && unknown)
		return;
	expression->services->log(expression->host, "%s: %s%s", expression->text, expression->error,
				  unknown ? "; with --later it may come with what is loaded later"
					  : "");
	expression->refused = true;
	if (first)
		tool_refuse(expression->host, pid);
}

static void resolve(struct flow_expression *expression, pid_t pid, flow_piece_fn *piece,
		    void *context)
{
	struct tl_expression *meaning = &expression->meaning;
	bool first = !expression->began;
	int err = expression->services->resolve(expression->host, pid, expression->text, 0, meaning,
						expression->error, sizeof(expression->error));

	expression->began = true;
	expression->waiting = err && may_wait(expression, err) ? pid : 0;
	if (!err && meaning->thread_local_copy) {
		expression->pid = pid;
		look_at_threads(expression, pid, piece, context);
	} else if (!err && !meaning->block_size)
		take(expression, pid, meaning->address, meaning->length, piece, context);
	if (err && !expression->waiting && !expression->refused)
		refuse(expression, pid, first, err);
}

void flow_expression_began(struct flow_expression *expression, pid_t pid, flow_piece_fn *piece,
			   void *context)
{
	if (!expression->pid && !expression->meaning.block_size)
		resolve(expression, pid, piece, context);
}

void flow_expression_tick(struct flow_expression *expression, flow_piece_fn *piece, void *context)
{
	if (++expression->ticks % RESOLVE_TICKS)
		return;
	if (expression->waiting)
		resolve(expression, expression->waiting, piece, context);
	else if (expression->meaning.thread_local_copy && expression->pid > 0)
		look_at_threads(expression, expression->pid, piece, context);
}

static bool is_made_by(const struct flow_expression *expression, const struct tl_access *access)
{
	struct tl_frame_place frames[16];
	int count = expression->services->unwind(expression->host, access, frames, 16);

	for (int i = 0; i < count; i++)
		if (frames[i].pc > expression->meaning.maker &&
		    frames[i].pc <= expression->meaning.maker_end)
			return true;
	return false;
}

/* Is it a block that the expression means, in the process that is asked? */
static bool is_meant(const struct flow_expression *expression, const struct tl_block *block)
{
	const struct tl_expression *meaning = &expression->meaning;

	return meaning->block_size && block->length == meaning->block_size &&
	       (!expression->pid || block->pid == expression->pid) && block->from &&
	       is_made_by(expression, block->from);
}

/*
 * Of heap:SIZE@function the first block that is made, and when that one is freed the next. One
 * whose end would not be known is left out.
 */
void flow_expression_born(struct flow_expression *expression, const struct tl_block *block,
			  flow_piece_fn *piece, flow_move_fn *move, void *context)
{
	const struct tl_expression *meaning = &expression->meaning;

	flow_expression_look(expression, move, context);
	if (expression->block || !is_meant(expression, block) ||
	    expression->services->keep_block(expression->host, block->pid, block->address))
		return;
	expression->block = block->address;
	if (!expression->pid)
		take(expression, block->pid, block->address + meaning->address, meaning->length,
		     piece, context);
	move(context, expression->last_block ? expression->last_block : block->address,
	     block->address);
	expression->last_block = block->address;
}

/* What the memory of a freed block holds is not the expression's. */
void flow_expression_look(struct flow_expression *expression, flow_move_fn *move, void *context)
{
	uint64_t block = expression->block;

	if (!block || expression->services->block_lives(expression->host, expression->pid, block))
		return;
	expression->block = 0;
	move(context, block, 0);
}

bool flow_expression_ended(struct flow_expression *expression, pid_t pid)
{
	if (pid == expression->waiting)
		expression->waiting = 0;
	if (pid != expression->pid)
		return false;
	expression->pid = -1;
	return true;
}

void flow_expression_finish(struct flow_expression *expression)
{
	if (!expression->pid && !expression->refused)
		expression->services->log(
			expression->host, "%s: %s", expression->text,
			expression->meaning.block_size
				? "no such block was made by malloc() and its like (the program may have an allocator of its own)"
				: expression->error);
}
