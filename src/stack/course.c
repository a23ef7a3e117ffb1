/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/course.h"

#include "insn/forward.h"
#include "libc/c_result.h"
#include "process/stub.h"
#include "sample/order.h"
#include "stack/called.h"

#include <errno.h>
#include <string.h>

#define STEPS 2000 /* instructions that are followed, 0.3 to 1 µs each */
#define READS 1000 /* of the program's memory, 0.3 µs each */
#define GUESSES 12 /* branches that depend on what is not known */
/* Calls of the C library whose results are computed from memory as it is now. */
#define RESULTS 32
/* An item that threads have met so often is passed over for what comes after it. */
#define MET_MOST 8
#define FILTER_BITS 4096
#define WORD_BITS 64

struct course {
	struct functions *functions;
	struct space *space;
	struct order_item *items;
	unsigned count, max;
	const struct code *code; /* of the function that control is in; or NULL */
	unsigned reads, results;
	const char *given_up;			  /* the counter of why; NULL: it was not */
	uint64_t filter[FILTER_BITS / WORD_BITS]; /* of the sites' places */
};

static unsigned filter_bit(uint64_t pc)
{
	return (unsigned)(pc ^ pc >> 12) % FILTER_BITS;
}

static void set_filter(struct course *course)
{
	unsigned count;
	const struct site *site = functions_sites(course->functions, &count);

	for (unsigned i = 0; i < count; i++) {
		unsigned bit = filter_bit(site[i].pc);

		course->filter[bit / WORD_BITS] |= 1ull << bit % WORD_BITS;
	}
}

/* Only the first reason counts, since later ones follow from it. */
static void give_up(struct course *course, const char *why)
{
	if (!course->given_up)
		course->given_up = why;
}

static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	struct course *course = context;

	if (course->reads >= READS) {
		give_up(course, "stack-courses-unread");
		return -EFAULT;
	}
	course->reads++;
	if (space_read(course->space, address, to, length) != (ssize_t)length)
		return -EFAULT;
	return 0;
}

static void note_nothing(void *context, const struct insn_forward_access *access)
{
	(void)context;
	(void)access;
}

static void add(struct course *course, struct order_item item)
{
	for (unsigned i = 0; i < course->count; i++)
		if (course->items[i].site == item.site && course->items[i].victim == item.victim)
			return;
	if (course->count < course->max)
		course->items[course->count++] = item;
}

static void meet_site(struct course *course, uint64_t pc)
{
	unsigned count, bit = filter_bit(pc);
	struct site *site = functions_sites(course->functions, &count);

	if (!(course->filter[bit / WORD_BITS] >> bit % WORD_BITS & 1))
		return;
	for (unsigned i = 0; i < count; i++)
		if (site[i].pc == pc && site[i].kind != SITE_CALL && site[i].met < MET_MOST)
			add(course, (struct order_item){.site = &site[i]});
}

/* Control has come to `pc`. If a function begins there its victims are added; its code is looked at
 * now if it was not before. */
static void meet_function(struct course *course, uint64_t pc)
{
	const struct code *code = functions_around(course->functions, course->space, pc);
	unsigned count;
	struct victim *victim = functions_victims(course->functions, &count);

	course->code = code;
	if (!code || code->start != pc)
		return;
	for (unsigned i = 0; i < count; i++)
		if (victim[i].code == code && victim[i].met < MET_MOST)
			add(course, (struct order_item){.victim = &victim[i]});
}

/* Is the code followed? That of the program and its libraries is, except for the C library and our
 * own. */
static bool is_followed(struct space *space, uint64_t pc)
{
	uint64_t start, end;

	return !space_is_libc(space, pc) && space_whole_function(space, pc, &start, &end) == 0;
}

static bool wait_before(struct course *course, uint64_t pc)
{
	struct site *site = is_followed(course->space, pc) ? functions_place(course->functions, pc)
							   : NULL;

	if (!site || site->met >= MET_MOST)
		return false;
	add(course, (struct order_item){.site = site});
	return true;
}

/* Reads strings for c_result(): C_RESULT_MOST bounds the bytes of each call, and RESULTS the calls.
 */
static int read_string(void *context, uint64_t address, void *to, size_t length)
{
	struct course *course = context;

	return space_read(course->space, address, to, length) == (ssize_t)length ? 0 : -EFAULT;
}

/* Computes the result of a function such as strcmp(). Without it a loop that looks for a name would
 * have to be met in each round, and only MET_MOST meetings are to be had. Stores that were carried
 * out on the way are not seen by it; that may only lead to a wrong choice of what to watch. */
static bool tell_result(struct course *course, const char *name, const struct insn_forward *forward,
			uint64_t *value)
{
	struct symbol_memory memory = {read_string, course};
	struct c_call call = {.function = name ? c_function_find(name) : NULL, .memory = &memory};

	if (!call.function || course->results >= RESULTS)
		return false;
	course->results++;
	for (unsigned i = 0; i < C_ARGUMENTS; i++) {
		unsigned number = insn_arch.function_argument[i];

		call.argument[i] = forward->general[number];
		call.known |= (forward->known >> number & 1u) << i;
	}
	return c_result(&call, value);
}

static int pass_by(struct course *course, const char *name, struct insn_forward *forward)
{
	uint64_t value = 0;
	bool known = tell_result(course, name, forward, &value);

	if (insn_forward_return(forward))
		return -ENOENT;
	if (known) {
		forward->general[insn_arch.call_result] = value;
		forward->known |= (uint16_t)(1u << insn_arch.call_result);
	}
	return 0;
}

/* Control has left the straight way. 0: the course goes on, in a function that is followed or
 * behind one that is not. -ENOENT: it does not come back, or where it does is not known. */
static int arrive(struct course *course, struct insn_forward *forward)
{
	const char *name;

	if (course->code && forward->pc > course->code->start && forward->pc < course->code->end)
		return 0;
	name = called_unbound(course->space, forward->pc);
	if (!name && stub_slot(course->space, forward->pc))
		return 0;
	if (!name && is_followed(course->space, forward->pc)) {
		meet_function(course, forward->pc);
		return 0;
	}
	name = name ? name : space_function_name(course->space, forward->pc);
	if (name && order_name_never_returns(name))
		return -ENOENT;
	if (pass_by(course, name, forward) == 0)
		return 0;
	give_up(course, "stack-courses-lost");
	return -ENOENT;
}

/* Carries out one instruction. False: the course ends there. */
static bool advance(struct course *course, struct insn_forward *forward)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	uint64_t pc = forward->pc;
	size_t available = space_code(course->space, pc, bytes, sizeof(bytes));
	bool leaves = false;
	int error = insn_forward_step(forward, bytes, available, &leaves);

	if (error)
		give_up(course, error == -EINTR ? "stack-courses-kernel" : "stack-courses-lost");
	return error == 0 && (forward->pc - pc <= INSN_MAX_LENGTH || arrive(course, forward) == 0);
}

static void follow(struct course *course, struct insn_forward *forward)
{
	unsigned guesses = 0;

	for (unsigned step = 0; course->count < course->max && guesses <= GUESSES; step++) {
		uint64_t pc = forward->pc;
		bool known;

		if (step)
			meet_site(course, pc);
		if (step >= STEPS)
			give_up(course, "stack-courses-long");
		known = step < STEPS && advance(course, forward);
		if (step && guesses == 0 && (!known || forward->other))
			wait_before(course, pc);
		guesses += forward->other != 0;
		if (!known)
			return;
	}
	if (guesses > GUESSES)
		give_up(course, "stack-courses-guessed");
}

unsigned course_next(struct functions *functions, struct space *space,
		     const struct tl_registers *registers, const uint64_t *returns, unsigned count,
		     struct order_item *to, unsigned max, const char **given_up)
{
	struct course course = {
		.functions = functions, .space = space, .items = to, .max = max - 1};
	struct insn_forward forward = {.pc = registers->pc,
				       .known = 0xffff,
				       .fs_base = registers->fs_base,
				       .read = read_memory,
				       .tell = note_nothing,
				       .context = &course};

	memcpy(forward.general, registers->general, sizeof(forward.general));
	insn_forward_set_flags(&forward, registers->flags);
	set_filter(&course);
	follow(&course, &forward);
	*given_up = course.given_up;
	course.max = max;
	for (unsigned i = 0; i < count; i++)
		if (wait_before(&course, returns[i]))
			break;
	return course.count;
}
