/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/foretell.h"

#include "insn/effect.h"
#include "insn/forward.h"
#include "insn/operand.h"
#include "libc/c_given.h"
#include "process/stub.h"
#include "sample/order.h"
#include "stack/called.h"
#include "stack/code.h"

#include <errno.h>
#include <string.h>
#include <trapline/event.h>

#define STEPS 192     /* instructions that are followed */
#define ENTRY_STEPS 2 /* of an entry of linkage: endbr64, and the jump */
#define GIVEN 4	      /* arguments of the C library's functions that may be pointers */
/* How many accesses to the memory in question are compared; many are of frames of functions that
 * are called meanwhile, which lie there, too. */
#define FOUND 96
#define READS 256	       /* of memory; what is read beyond them is not known */
#define ELSEWHERE (1ull << 52) /* no memory is there */

/* Before an instruction is carried out. */
struct moment {
	uint64_t pc, stack; /* stack: 0 where it is not known */
	bool flags_known, zero, sign, carry, overflow, parity;
	bool strays; /* it stores to an address that is not known */
};

struct seen {
	uint64_t address, bits;
	size_t length;
	unsigned step;
};

struct found {
	struct foretold use;
	unsigned step;
};

struct pass {
	struct space *space;
	const struct pass *first; /* whose way this pass follows; NULL: this is the first */
	uint64_t start, end;
	uint64_t holder; /* the word that has the pointer: if the thread loads it again, that is
			    another load to be foretold */
	bool again;
	uint64_t moved; /* by how much the pointer is moved; 0: it is not */
	bool enters;  /* follows functions of the C library that are handed what may be the pointer
		       */
	bool skipped; /* a function that was not followed may have changed memory */
	bool guessed; /* foretold.guessed, for what comes from here on */
	struct found found[FOUND];
	unsigned count;
	unsigned from;	/* the last step that left code other than an entry of the linkage table */
	unsigned tried; /* instructions so far; the last one may not have been carried out */
	struct moment moment[STEPS];
	struct seen seen[READS];
	unsigned reads;
};

/* Reads what the first pass has read there at that step. Memory may have changed since, and the
 * passes would differ for that reason alone. */
static int read_again(const struct pass *pass, uint64_t address, void *to, size_t length)
{
	for (unsigned i = 0; i < pass->first->reads; i++) {
		const struct seen *seen = &pass->first->seen[i];

		if (seen->step == pass->tried - 1 && seen->address == address &&
		    seen->length == length) {
			memcpy(to, &seen->bits, length);
			return 0;
		}
	}
	return -EFAULT;
}

static int read_now(void *context, uint64_t address, void *to, size_t length)
{
	return space_read(context, address, to, length) == (ssize_t)length ? 0 : -EFAULT;
}

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	struct pass *pass = context;
	struct seen seen = {.address = address, .length = length, .step = pass->tried - 1};

	if (pass->first)
		return read_again(pass, address, to, length);
	if (pass->reads == READS || length > sizeof(seen.bits) ||
	    space_read(pass->space, address, &seen.bits, length) != (ssize_t)length)
		return -EFAULT;
	memcpy(to, &seen.bits, length);
	pass->seen[pass->reads++] = seen;
	return 0;
}

static bool is_gone(const struct pass *pass, uint64_t address)
{
	return address - pass->moved - pass->start < pass->end - pass->start;
}

static void note(void *context, const struct insn_forward_access *access)
{
	struct pass *pass = context;
	const struct moment *moment = &pass->moment[pass->tried - 1];

	if (insn_overlap(access->address, access->length, pass->holder, sizeof(uint64_t)))
		pass->again = true;
	if (!pass->again && is_gone(pass, access->address) && pass->count < FOUND)
		pass->found[pass->count++] = (struct found){.use = {.pc = access->pc,
								    .address = access->address,
								    .length = access->length,
								    .access = access->access,
								    .stack = moment->stack,
								    .guessed = pass->guessed},
							    .step = pass->tried - 1};
}

static struct moment moment_of(const struct insn_forward *forward)
{
	return (struct moment){.pc = forward->pc,
			       .stack = forward->known >> SP & 1 ? forward->general[SP] : 0,
			       .flags_known = forward->flags_known,
			       .zero = forward->zero,
			       .sign = forward->sign,
			       .carry = forward->carry,
			       .overflow = forward->overflow,
			       .parity = forward->parity};
}

/*
 * Keeps a later pass on the way of the first: where its flags are not known it takes those of the
 * first pass, since an access is not made through the pointer merely because a branch before it
 * depends on the pointer. `moved`: it is kept there even where its own flags say otherwise. False:
 * it has left that way, or the pointer was found to be equal to something, and what follows may go
 * through either of the two equal values.
 */
static bool follow(const struct pass *first, struct insn_forward *forward, unsigned step,
		   bool subtracts, bool moved)
{
	const struct moment *then = &first->moment[step];

	if (step >= first->tried)
		return false;
	if (forward->pc != then->pc &&
	    (forward->other == then->pc || (moved && forward->beside == then->pc)))
		forward->pc = then->pc;
	if (forward->pc != then->pc)
		return false;
	if (forward->flags_known || !then->flags_known)
		return true;
	forward->flags_known = true;
	forward->zero = then->zero;
	forward->sign = then->sign;
	forward->carry = then->carry;
	forward->overflow = then->overflow;
	forward->parity = then->parity;
	return !(subtracts && then->zero);
}

static bool compares(const uint8_t *bytes, size_t available, uint64_t pc)
{
	struct insn_effect effect;

	if (insn_effect_decode(bytes, available, pc, &effect))
		return false;
	for (unsigned i = 0; i < effect.count; i++)
		if (effect.result[i].to.kind == INSN_PLACE_FLAGS &&
		    effect.result[i].operation == INSN_SUBTRACT)
			return true;
	return false;
}

static bool is_given(const struct pass *pass, const struct insn_forward *forward)
{
	for (unsigned i = 0; i < GIVEN; i++) {
		unsigned number = insn_arch.function_argument[i];

		if (forward->known >> number & 1 && is_gone(pass, forward->general[number]))
			return true;
	}
	return false;
}

/* Is the function of the C library that was just entered followed? Later passes do as the first
 * did. */
static bool enters(const struct pass *pass, const struct pass *first,
		   const struct insn_forward *forward)
{
	if (first)
		return pass->tried < first->tried && first->moment[pass->tried].pc == forward->pc;
	return pass->enters && is_given(pass, forward);
}

/* Has the pass made a store to an unknown address that the first pass knows? Such a store goes
 * through the pointer, and may change what is read from there on. */
static bool goes_astray(struct pass *pass, const struct insn_forward *forward)
{
	unsigned step = pass->tried - 1;

	pass->moment[step].strays = forward->strays;
	return pass->first && forward->strays && !pass->first->moment[step].strays;
}

static bool is_far(const struct moment *then, const struct insn_forward *forward)
{
	return forward->pc - then->pc > INSN_MAX_LENGTH;
}

/* Notes the strings that the function will read as accesses of the place that calls it. */
static void note_given(struct pass *pass, const struct insn_forward *forward, const char *name)
{
	struct symbol_memory memory = {read_now, pass->space};
	const struct moment *moment = &pass->moment[pass->from];
	uint64_t argument[C_GIVEN];
	unsigned known = 0, strings;

	for (unsigned i = 0; i < C_GIVEN; i++) {
		unsigned number = insn_arch.function_argument[i];

		argument[i] = forward->general[number];
		known |= (forward->known >> number & 1u) << i;
	}
	strings = name ? c_given_strings(name, argument, known, &memory) & known : 0;
	for (unsigned i = 0; i < C_GIVEN; i++)
		if (strings >> i & 1 && is_gone(pass, argument[i]) && pass->count < FOUND)
			pass->found[pass->count++] =
				(struct found){.use = {.pc = moment->pc,
						       .address = argument[i],
						       .length = 1,
						       .access = TL_READ,
						       .stack = moment->stack,
						       .given = true,
						       .guessed = pass->guessed,
						       .number = insn_arch.function_argument[i]},
					       .step = pass->from};
}

/* Did the last instruction leave an entry of the linkage table? An indirect jump at a function's
 * end looks the same, so control must have come to the entry only just before. */
static bool is_linkage(const struct pass *pass)
{
	return pass->tried > 1 && pass->tried - 1 - pass->from <= ENTRY_STEPS &&
	       stub_slot(pass->space, pass->moment[pass->tried - 1].pc);
}

/* Control has left the straight way. Functions of the C library take too many instructions to
 * follow, and so does the dynamic linker's search for an entry that is not bound yet. */
static int arrive(struct pass *pass, struct insn_forward *forward, bool leaves)
{
	struct space *space = pass->space;
	const char *unbound = called_unbound(space, forward->pc), *name;

	if (!is_linkage(pass))
		pass->from = pass->tried - 1;
	if (!unbound && (!leaves || !space_is_libc(space, forward->pc)))
		return 0;
	if (!unbound && enters(pass, pass->first, forward))
		return 0;
	name = unbound ? unbound : space_function_name(space, forward->pc);
	note_given(pass, forward, name);
	if (name && order_name_never_returns(name))
		return -ENOENT;
	pass->skipped = true;
	return insn_forward_return(forward);
}

static void run(struct pass *pass, const struct insn_registers *registers, uint16_t known)
{
	const struct pass *first = pass->first;
	struct insn_forward forward = {.pc = registers->pc,
				       .known = known,
				       .fs_base = registers->fs_base,
				       .read = read_memory,
				       .tell = note,
				       .context = pass};
	/* A thread that is in the C library already is followed through it, until the library
	 * returns or calls the program (a thread's routine, a comparison). */
	bool within = space_is_libc(pass->space, registers->pc);
	bool leaves = false, subtracts = false;
	int err = 0;

	memcpy(forward.general, registers->general, sizeof(forward.general));
	while (!err && pass->tried < STEPS && !pass->again) {
		uint8_t bytes[INSN_MAX_LENGTH];
		size_t available;

		if (first && !follow(first, &forward, pass->tried, subtracts, pass->moved != 0))
			return;
		pass->moment[pass->tried++] = moment_of(&forward);
		available = space_code(pass->space, forward.pc, bytes, sizeof(bytes));
		subtracts = first && compares(bytes, available, forward.pc);
		err = insn_forward_step(&forward, bytes, available, &leaves);
		if (goes_astray(pass, &forward))
			return;
		pass->guessed |= forward.other || (pass->skipped && forward.beside);
		within = within && !err && space_is_libc(pass->space, forward.pc);
		if (!err && !within && is_far(&pass->moment[pass->tried - 1], &forward))
			err = arrive(pass, &forward, leaves);
	}
}

static bool has(const struct pass *pass, const struct foretold *use)
{
	for (unsigned i = 0; i < pass->count; i++)
		if (pass->found[i].use.pc == use->pc &&
		    pass->found[i].use.address - pass->moved == use->address)
			return true;
	return false;
}

static unsigned visits(const struct pass *pass, const struct found *found)
{
	unsigned count = 0;

	for (unsigned i = 0; i < found->step; i++)
		count += pass->moment[i].pc == found->use.pc;
	return count;
}

static bool find_next(struct space *space, struct foretold *use)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;

	if (insn_decode(bytes, space_code(space, use->pc, bytes, sizeof(bytes)), use->pc, &insn))
		return false;
	use->next = use->pc + insn.length;
	return true;
}

static bool find_use(const struct pass *of, const struct insn_registers *registers,
		     uint16_t pointers, struct foretold *use)
{
	struct insn_registers elsewhere = *registers;
	struct pass with = *of, without = *of, moved = *of;

	run(&with, registers, 0xffff);
	if (!with.count)
		return false;
	without.first = &with;
	run(&without, registers, (uint16_t)~pointers);
	moved.first = &with;
	moved.moved = ELSEWHERE;
	for (unsigned i = 0; i < INSN_GENERAL; i++)
		if (pointers >> i & 1)
			elsewhere.general[i] += ELSEWHERE;
	run(&moved, &elsewhere, 0xffff);
	for (unsigned i = 0; i < with.count && with.found[i].step < without.tried; i++)
		if (!has(&without, &with.found[i].use) && has(&moved, &with.found[i].use)) {
			*use = with.found[i].use;
			use->visits = visits(&with, &with.found[i]);
			return find_next(of->space, use);
		}
	return false;
}

bool foretell_use(struct space *space, const struct insn_registers *registers, uint16_t pointers,
		  uint64_t holder, uint64_t start, uint64_t end, struct foretold *use)
{
	struct pass pass = {.space = space, .start = start, .end = end, .holder = holder};

	if (find_use(&pass, registers, pointers, use))
		return true;
	pass.enters = true;
	return find_use(&pass, registers, pointers, use);
}

int foretell_loaded(struct space *space, uint64_t pc, uint64_t address,
		    const struct insn_registers *registers)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;

	if (!space || insn_decode(bytes, space_code(space, pc, bytes, sizeof(bytes)), pc, &insn))
		return -1;
	return insn.loaded >= 0 && registers->general[insn.loaded] == address ? insn.loaded : -1;
}
