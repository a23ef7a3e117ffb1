/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attribution of any trap in any code: it returns, reads nothing but through its memory, and its
 * answer keeps the contract. Input: a header (below), then code that lies at CODE, which is also
 * what the data at DATA holds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>

#include "insn/insn.h"
#include "insn/update.h"

#define CODE 0x400000ul
#define DATA 0x10000ul
#define FUNCTIONS 4

struct header {
	uint16_t pc;
	uint16_t watched;
	uint8_t watched_length;
	uint8_t wanted;
	uint8_t bounds; /* bit: the code is one function; else none is known */
	uint8_t registers_in;
	uint16_t general[16];
	uint8_t pointer_at; /* a code pointer in the data */
	uint8_t pad[3];
};

struct world {
	const uint8_t *code;
	size_t length;
	uint8_t data[256];
	uint8_t bounds;
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

static int world_read(void *context, uint64_t address, void *to, size_t length)
{
	const struct world *world = context;

	check(length && length <= 4096);
	if (address >= CODE && address - CODE < world->length &&
	    length <= world->length - (address - CODE))
		memcpy(to, world->code + (address - CODE), length);
	else if (address >= DATA && address - DATA < sizeof(world->data) &&
		 length <= sizeof(world->data) - (address - DATA))
		memcpy(to, world->data + (address - DATA), length);
	else
		return -EFAULT;
	return 0;
}

/* The code split into up to FUNCTIONS functions, some of them unknown. */
static int world_bounds(void *context, uint64_t pc, uint64_t *start, uint64_t *end)
{
	const struct world *world = context;
	size_t part = world->length / FUNCTIONS + 1, which = (pc - CODE) / part;

	if (pc < CODE || pc - CODE >= world->length || !(world->bounds >> which & 1))
		return -ENOENT;
	*start = CODE + which * part;
	*end = *start + part < CODE + world->length ? *start + part : CODE + world->length;
	return 0;
}

static void fill(struct world *world, struct insn_registers *registers, const struct header *header)
{
	uint64_t pointer = registers->pc;

	for (size_t i = 0; i < sizeof(world->data); i++)
		world->data[i] = (uint8_t)i;
	memcpy(world->data + header->pointer_at % (sizeof(world->data) - 8), &pointer, 8);
	if (header->registers_in & 1) { /* a return address at rsp */
		pointer = CODE + header->general[0] % (world->length + 1);
		memcpy(world->data + (registers->general[4] - DATA) % 248, &pointer, 8);
	}
}

/* Reads nothing beyond the code, and needs some for a load. */
static void ask_for_updates(const struct world *world, const struct insn_registers *registers,
			    uint8_t watched)
{
	struct insn_bytes object = {DATA + watched, 4};
	size_t at = registers->pc - CODE;
	const struct insn load = {.loaded = watched & 15};

	insn_update_follows(world->code + at, world->length - at, &load, registers, &object);
	check(!insn_update_begun(world->code, world->length, CODE, registers, &object) || at > 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct header header;
	struct insn_registers registers = {0};
	struct insn_access answer;
	struct world world;
	struct insn_memory memory = {world_read, world_bounds, &world};
	unsigned wanted, told;

	if (size <= sizeof(header))
		return 0;
	memcpy(&header, data, sizeof(header));
	world.code = data + sizeof(header);
	world.length = size - sizeof(header);
	world.bounds = header.bounds;
	for (unsigned i = 0; i < 16; i++)
		registers.general[i] = DATA + header.general[i] % 320;
	registers.pc = CODE + header.pc % (world.length + 1);
	registers.flags = header.pad[0] << 8;
	fill(&world, &registers, &header);
	ask_for_updates(&world, &registers, header.watched);
	wanted = TL_WRITE | (header.wanted & (TL_READ | TL_KERNEL));
	memset(&answer, 0xa5, sizeof(answer));
	insn_attribute(&registers, DATA + header.watched % 256, 1u << (header.watched_length & 3),
		       wanted, &memory, &answer);
	told = answer.access;
	check(!(told & ~(TL_READ | TL_WRITE | TL_ATOMIC | TL_KERNEL | TL_GUESSED)));
	check(told & wanted & (TL_READ | TL_WRITE));
	check(!(told & TL_ATOMIC) || (told & 3) == 3);
	check(answer.length > 0);
	check(answer.decoded || (told & TL_GUESSED));
	/* Without function bounds nothing is certain. */
	check((header.bounds & 15) || (told & TL_GUESSED));
	return 0;
}
