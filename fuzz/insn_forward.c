/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any code is carried out ahead: it ends, reads nothing but through its memory, tells of accesses
 * that touch something, and never changes the stack pointer it does not know. Input: registers,
 * which of them are known, then code that lies at CODE.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trapline/event.h>

#include "insn/forward.h"

#define CODE 0x400000ul
#define STEPS 200

struct header {
	uint16_t general[16];
	uint16_t known;
	uint8_t flags;
	uint8_t missing; /* memory whose address has these low bits cannot be read */
};

static struct header header;

static void check(bool holds)
{
	if (!holds)
		abort();
}

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	uint64_t value = address * 0x9e3779b97f4a7c15ull;

	(void)context;
	check(length && length <= sizeof(value));
	if (header.missing && (address & header.missing) == header.missing)
		return -EFAULT;
	/* Now and then it leads back into the code. */
	if (value >> 63)
		value = CODE + (value >> 8 & 63);
	memcpy(to, &value, length);
	return 0;
}

static void tell(void *context, const struct insn_forward_access *access)
{
	(void)context;
	check(access->length && access->length <= 8192);
	check(access->access & (TL_READ | TL_WRITE));
	check(!(access->access & ~(unsigned)(TL_READ | TL_WRITE | TL_ATOMIC)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct insn_forward forward = {.pc = CODE, .read = read_memory, .tell = tell};
	const uint8_t *code = data + sizeof(header);

	if (size <= sizeof(header))
		return 0;
	memcpy(&header, data, sizeof(header));
	size -= sizeof(header);
	forward.known = header.known;
	forward.flags_known = header.flags & 1;
	for (int i = 0; i < 16; i++)
		forward.general[i] = header.general[i] * 257ull;
	for (int i = 0; i < STEPS && forward.pc >= CODE && forward.pc < CODE + size; i++) {
		uint64_t stack = forward.general[4];
		bool leaves, had = forward.known >> 4 & 1;
		int err = insn_forward_step(&forward, code + (forward.pc - CODE),
					    size - (forward.pc - CODE), &leaves);

		check(had || forward.known >> 4 & 1 || forward.general[4] == stack);
		check(!err || err == -EILSEQ || err == -ENODATA || err == -ENOENT || err == -EINTR);
		if (!err && leaves && header.flags & 2)
			err = insn_forward_return(&forward);
		if (err)
			break;
	}
	return 0;
}
