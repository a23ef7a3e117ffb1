/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/expression.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PIECES 4	 /* of 8 bytes that are asked about */
#define RESOLVE_TICKS 10 /* between two looks whether the expression means something now */

int flow_expression_init(struct flow_expression *expression, struct tl_host *host,
			 const struct tl_services *services, const char *tool)
{
	memset(expression, 0, sizeof(*expression));
	expression->host = host;
	expression->services = services;
	expression->text = services->option(host, "expression");
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
	for (unsigned i = 0; i < PIECES && 8 * (uint64_t)i < length; i++) {
		uint64_t rest = length - 8 * (uint64_t)i;

		piece(context, pid, address + 8 * (uint64_t)i, rest < 8 ? rest : 8);
	}
}

static void resolve(struct flow_expression *expression, pid_t pid, flow_piece_fn *piece,
		    void *context)
{
	struct tl_expression *meaning = &expression->meaning;
	int err = expression->services->resolve(expression->host, pid, expression->text, 0, meaning,
						expression->error, sizeof(expression->error));

	expression->waiting = err == -EAGAIN ? pid : 0;
	if (!err && meaning->thread_local_copy) {
		err = -EINVAL;
		snprintf(expression->error, sizeof(expression->error),
			 "thread-local variables are not followed yet");
	}
	if (!err && !meaning->block_size)
		take(expression, pid, meaning->address, meaning->length, piece, context);
	if (err && err != -EAGAIN && !expression->refused) {
		expression->refused = true;
		expression->services->log(expression->host, "%s: %s", expression->text,
					  expression->error);
	}
}

void flow_expression_began(struct flow_expression *expression, pid_t pid, flow_piece_fn *piece,
			   void *context)
{
	if (!expression->pid && !expression->meaning.block_size)
		resolve(expression, pid, piece, context);
}

void flow_expression_tick(struct flow_expression *expression, flow_piece_fn *piece, void *context)
{
	if (expression->waiting && ++expression->ticks % RESOLVE_TICKS == 0)
		resolve(expression, expression->waiting, piece, context);
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

/* Of heap:SIZE@function the first block that is made. */
void flow_expression_born(struct flow_expression *expression, const struct tl_block *block,
			  flow_piece_fn *piece, void *context)
{
	const struct tl_expression *meaning = &expression->meaning;

	if (!expression->pid && meaning->block_size && block->length == meaning->block_size &&
	    block->from && is_made_by(expression, block->from))
		take(expression, block->pid, block->address + meaning->address, meaning->length,
		     piece, context);
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
		expression->services->log(expression->host, "%s: %s", expression->text,
					  expression->meaning.block_size ? "no such block was made"
									 : expression->error);
}
