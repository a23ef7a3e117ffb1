/* SPDX-License-Identifier: Apache-2.0 */
#include "sample/ahead.h"

#include "sample/order.h"

#include <errno.h>
#include <string.h>

#define LINE 64
#define LINES 32 /* of memory that was read */
#define CALLS_MAX 24

struct line {
	uint64_t address;
	bool there;
	uint8_t bytes[LINE];
};

struct looking {
	struct space *space;
	ahead_fn *each;
	void *context;
	struct line line[LINES];
};

static const struct line *line_at(struct looking *looking, uint64_t address)
{
	struct line *line = &looking->line[address / LINE % LINES];

	if (!line->address || line->address != address) {
		line->address = address;
		line->there = space_read(looking->space, address, line->bytes, LINE) == LINE;
	}
	return line;
}

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	size_t done = 0;

	while (done < length) {
		uint64_t at = address + done;
		const struct line *line = line_at(context, at & ~(uint64_t)(LINE - 1));
		size_t part = LINE - at % LINE;

		if (!line->there)
			return -EFAULT;
		if (part > length - done)
			part = length - done;
		memcpy((uint8_t *)to + done, line->bytes + at % LINE, part);
		done += part;
	}
	return 0;
}

static void tell(void *context, const struct insn_forward_access *access)
{
	const struct looking *looking = context;

	if (access->address >= 4096 && !(access->address >> 47))
		looking->each(looking->context, access);
}

/* Functions of the C library are not followed: what they return is not known. */
static int arrive(struct space *space, struct insn_forward *forward, struct ahead_end *end)
{
	enum order_effect effect;
	int err;

	if (!space_is_libc(space, forward->pc))
		return 0;
	effect = order_effect(space, forward->pc);
	err = insn_forward_return(forward);
	if (err)
		return err;
	if (effect == ORDER_RELEASES && !end->released)
		end->released = forward->pc;
	return effect == ORDER_WAITS ? -EAGAIN : 0;
}

bool ahead_walk(struct space *space, const struct insn_registers *from, unsigned most,
		ahead_fn *each, void *context, struct ahead_end *end)
{
	static struct looking looking; /* one thread; large */
	struct insn_forward forward = {.pc = from->pc,
				       .known = 0xffff,
				       .read = read_memory,
				       .tell = tell,
				       .context = &looking};
	struct ahead_end found = {0};
	unsigned calls = 0, steps = 0;
	bool leaves = false;
	int err = 0;

	for (unsigned i = 0; i < LINES; i++)
		looking.line[i].address = 0;
	looking.space = space;
	looking.each = each;
	looking.context = context;
	memcpy(forward.general, from->general, sizeof(forward.general));
	for (; steps < most && calls < CALLS_MAX && !err; steps++) {
		uint8_t bytes[INSN_MAX_LENGTH];
		size_t available = space_code(space, forward.pc, bytes, sizeof(bytes));

		err = insn_forward_step(&forward, bytes, available, &leaves);
		calls += leaves;
		if (!err && leaves)
			err = arrive(space, &forward, &found);
	}
	found.waited = err == -EAGAIN;
	found.pc = !err || found.waited ? forward.pc : 0;
	if (end)
		*end = found;
	return steps > 1 || !err;
}
