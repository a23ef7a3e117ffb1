/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/recover.h"

#include "insn/forward.h"
#include "insn/insn.h"
#include "insn/operand.h"
#include "insn/origin.h"
#include "uninit/words.h"

#include <errno.h>
#include <string.h>

#define CODE 8192 /* bytes of a function in front of the load */
#define STEPS 8	  /* instructions in front of it that are tried */

struct recovering {
	struct tl_host *host;
	const struct tl_services *services;
	const struct tl_access *access;
	uint8_t code[CODE];
	uint64_t start;
	size_t length;
	uint64_t place[STEPS]; /* of the last instructions, the load included */
	uint16_t written[STEPS];
	unsigned places; /* so far; the last ones are in `place` */
	size_t begun; /* behind the last call or jump that is always taken, in bytes from the start
		       */
	struct insn load;
};

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	const struct recovering *recovering = context;

	return recovering->services->read(recovering->host, recovering->access->pid, address, to,
					  length) == (ssize_t)length
		       ? 0
		       : -EFAULT;
}

static void tell_nobody(void *context, const struct insn_forward_access *access)
{
	(void)context;
	(void)access;
}

static bool read_code(struct recovering *recovering)
{
	uint64_t pc = recovering->access->pc, end;

	if (recovering->services->function(recovering->host, recovering->access->pid, pc,
					   &recovering->start, &end) ||
	    pc - recovering->start + INSN_MAX_LENGTH > CODE)
		return false;
	recovering->length = pc - recovering->start + INSN_MAX_LENGTH;
	if (recovering->length > end - recovering->start)
		recovering->length = end - recovering->start;
	return read_memory(recovering, recovering->start, recovering->code, recovering->length) ==
	       0;
}

/* Notes the last instructions between the function's start and the load. Those in front of a call
 * or of a jump that is always taken are not straight code, and are forgotten. */
static bool list_places(struct recovering *recovering)
{
	for (size_t at = 0; at < recovering->length;) {
		struct insn insn;
		unsigned place = recovering->places % STEPS;

		if (insn_decode(recovering->code + at, recovering->length - at,
				recovering->start + at, &insn))
			return false;
		recovering->place[place] = recovering->start + at;
		recovering->written[place] = insn.written_registers;
		recovering->places++;
		if (recovering->start + at == recovering->access->pc) {
			recovering->load = insn;
			return true;
		}
		at += insn.length;
		if (insn.flow != INSN_FLOW_NEXT)
			recovering->places = 0;
		if (insn.flow != INSN_FLOW_NEXT && !insn.conditional)
			recovering->begun = at;
	}
	return false;
}

static bool carry_out(struct recovering *recovering, unsigned back, struct insn_forward *forward)
{
	const struct tl_registers *after = recovering->access->registers;
	bool leaves;

	*forward = (struct insn_forward){.known = 0xffff,
					 .fs_base = after->fs_base,
					 .read = read_memory,
					 .tell = tell_nobody,
					 .context = recovering};
	memcpy(forward->general, after->general, sizeof(forward->general));
	for (unsigned i = 1; i <= back + 1; i++)
		forward->known &= (uint16_t)~recovering->written[(recovering->places - i) % STEPS];
	forward->pc = recovering->place[(recovering->places - 1 - back) % STEPS];
	while (forward->pc != recovering->access->pc) {
		size_t at = forward->pc - recovering->start;

		if (at >= recovering->length || insn_forward_step(forward, recovering->code + at,
								  recovering->length - at, &leaves))
			return false;
	}
	return true;
}

/*
 * Takes the value of a register that the load overwrote from another register that holds the same:
 * malloc()'s result is often kept in a second one, and branches may lie between. Accepted: a jump
 * from before that call to the load, with other registers, gives a wrong address; it matters only
 * where that happens to lie in the watched word.
 */
static void know_by_copies(struct recovering *recovering, struct insn_forward *forward)
{
	static struct insn_origin_work work; /* one thread; large */
	struct insn_origin origin[INSN_GENERAL];
	size_t place = recovering->access->pc - recovering->start - recovering->begun;
	uint16_t kept = (uint16_t)~recovering->load.written_registers;

	memcpy(forward->general, recovering->access->registers->general, sizeof(forward->general));
	forward->known = kept;
	forward->pc = recovering->access->pc;
	forward->fs_base = recovering->access->registers->fs_base;
	if (insn_origins(recovering->code + recovering->begun, place + recovering->load.length,
			 place, NULL, &work, origin))
		return;
	for (int lost = 0; lost < INSN_GENERAL; lost++)
		for (int twin = 0; twin < INSN_GENERAL; twin++)
			if (!(forward->known >> lost & 1) && (kept >> twin & 1) &&
			    origin[lost].number >= 0 &&
			    origin[lost].number == origin[twin].number) {
				forward->general[lost] = forward->general[twin] -
							 (uint64_t)(int64_t)origin[twin].offset +
							 (uint64_t)(int64_t)origin[lost].offset;
				forward->known |= (uint16_t)(1u << lost);
			}
}

static bool is_known(const struct insn_forward *forward, int number)
{
	return number < 0 || number > 15 || (forward->known >> number & 1);
}

static bool locate(const struct recovering *recovering, const struct insn_forward *forward,
		   uint64_t word, struct tl_access *recovered)
{
	const struct insn_operand *operand = &recovering->load.operand[0];
	struct insn_registers registers = {.pc = forward->pc, .fs_base = forward->fs_base};
	uint64_t first, length;

	memcpy(registers.general, forward->general, sizeof(registers.general));
	if (!is_known(forward, operand->base) || !is_known(forward, operand->index) ||
	    insn_operand_before(&recovering->load, 0, &registers, &first, &length) ||
	    !insn_overlap(first, length, word, WORD_LENGTH))
		return false;
	*recovered = *recovering->access;
	recovered->address = first;
	recovered->length = length;
	recovered->access &= ~(unsigned)TL_GUESSED;
	return true;
}

/* NULL: the code in front of the access cannot be told. */
static struct recovering *begin(struct tl_host *host, const struct tl_services *services,
				const struct tl_access *access)
{
	static struct recovering recovering; /* one thread; large */

	recovering.host = host;
	recovering.services = services;
	recovering.access = access;
	recovering.places = 0;
	recovering.begun = 0;
	if (!access->registers || !read_code(&recovering) || !list_places(&recovering))
		return NULL;
	return &recovering;
}

bool uninit_recover(struct tl_host *host, const struct tl_services *services,
		    const struct tl_access *access, uint64_t word, struct tl_access *recovered)
{
	struct recovering *recovering = begin(host, services, access);
	struct insn_forward forward;

	if (!recovering || !recovering->load.plain_move || recovering->load.operand_count != 1)
		return false;
	for (unsigned back = 1; back < STEPS && back < recovering->places; back++)
		if (carry_out(recovering, back, &forward) &&
		    locate(recovering, &forward, word, recovered))
			return true;
	know_by_copies(recovering, &forward);
	return locate(recovering, &forward, word, recovered);
}

uint16_t uninit_recover_before(struct tl_host *host, const struct tl_services *services,
			       const struct tl_access *access, uint64_t before[16])
{
	struct recovering *recovering = begin(host, services, access);
	struct insn_forward forward;
	uint16_t wanted = recovering ? recovering->load.written_registers : 0, found = 0;

	for (unsigned back = 1; found != wanted && back < STEPS && back < recovering->places;
	     back++) {
		if (!carry_out(recovering, back, &forward))
			return found;
		for (unsigned i = 0; i < 16; i++)
			if (wanted >> i & ~found >> i & forward.known >> i & 1)
				before[i] = forward.general[i];
		found |= wanted & forward.known;
	}
	return found;
}
