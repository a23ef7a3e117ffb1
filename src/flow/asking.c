/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/asking.h"

#include "base/clock.h"

#include "insn/effect.h"
#include "tool/registers.h"

#include <errno.h>
#include <string.h>

#define HITS 48u /* of a watch: what comes by all the time costs no more */
#define HITS_LONGER 192u
#define ENOUGH 48u	  /* answers to a question, after which others come first … */
#define UNEXPLAINED 8u	  /* hits of a watch by the kernel outside of system calls */
#define EQUAL 4u	  /* the condition, as insn_condition_holds() takes it */
#define TURNS_BEHIND 16	  /* … so many turns */
#define CODE_BEFORE 16384 /* of a function, to find the instruction before one that is watched */

int flow_asking_init(struct flow_asking *asking, const char *name)
{
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		asking->question[i].item = FLOW_NO_ITEM;
	return flow_expression_init(&asking->expression, asking->host, asking->services, name);
}

void flow_asking_finish(struct flow_asking *asking)
{
	flow_expression_finish(&asking->expression);
}

/* The instruction before one that is watched, where control falls through from it. */
static void find_before(struct flow_asking *asking, struct flow_asked *asked)
{
	static uint8_t code[CODE_BEFORE]; /* one thread */
	uint64_t start, end, pc, length;
	struct insn insn;

	if (asking->services->function(asking->host, asked->pid, asked->address, &start, &end))
		return;
	length = asked->address - start;
	if (!length || length > sizeof(code) ||
	    asking->services->read(asking->host, asked->pid, start, code, length) !=
		    (ssize_t)length ||
	    insn_previous(code, length, start, asked->address, &pc, &insn))
		return;
	if (insn.flow == INSN_FLOW_NEXT || (insn.flow == INSN_FLOW_BRANCH && insn.conditional))
		asked->before = insn;
}

static bool is_armed(const struct flow_asking *asking, uint64_t cookie)
{
	for (unsigned i = 0; i < FLOW_QUESTIONS && cookie; i++) {
		const struct flow_question *question = &asking->question[i];

		if (cookie == question->cookie || cookie == question->code_cookie ||
		    cookie == question->goal_cookie || cookie == question->far_cookie)
			return true;
	}
	return false;
}

/* The next one whose watch's entry is not that of one that is armed still: as there are more
 * entries than watches, there is one. */
static uint64_t next_cookie(struct flow_asking *asking)
{
	_Static_assert(FLOW_ASKED > 4 * FLOW_QUESTIONS, "a question has at most four watches");
	do
		asking->cookie++;
	while (is_armed(asking, asking->asked[asking->cookie % FLOW_ASKED].cookie));
	return asking->cookie;
}

/*
 * The frame of a hit's signal lies below the stack pointer, where variables of functions that have
 * returned are watched on. To write it, and to read it when the handler is over, the kernel trips
 * the watch, which raises the next signal at the same instruction, until the watch has had its hits
 * and nobody knows what else came by. Such a place is watched without the kernel from then on: what
 * a system call stores there is not seen, but that something was (flow_from_doubt()).
 */
bool flow_asking_is_framed(const struct flow_asking *asking, uint64_t address)
{
	for (unsigned i = 0; i < FLOW_FRAMED; i++)
		if (asking->framed[i] == address)
			return true;
	return false;
}

static void note_frame(struct flow_asking *asking, const struct tl_access *access,
		       struct flow_asked *asked)
{
	if (asked->cookie != access->cookie || !(access->access & TL_KERNEL) ||
	    flow_is_kernel(access) || ++asked->unexplained != UNEXPLAINED ||
	    flow_asking_is_framed(asking, asked->address))
		return;
	asking->framed[asking->frames++ % FLOW_FRAMED] = asked->address;
	asking->services->count(asking->host, "flow-framed", 1);
}

uint64_t flow_asking_arm(struct flow_asking *asking, pid_t pid, uint64_t address, uint64_t length,
			 unsigned access)
{
	struct tl_watch watch = {
		.size = sizeof(watch),
		.pid = pid,
		.address = address,
		.length = access == TL_EXEC ? 1 : flow_piece_length(address, length),
		.access = access,
		.hits = asking->longer ? HITS_LONGER : HITS,
		.window = FLOW_WINDOW,
		.cookie = next_cookie(asking),
		.program_only = access != TL_EXEC && flow_asking_is_framed(asking, address)};

	struct flow_asked *asked = &asking->asked[watch.cookie % FLOW_ASKED];
	int err = asking->services->arm(asking->host, &watch);

	asking->put_off = err == -EAGAIN;
	if (err) {
		asking->services->count(asking->host, "flow-not-armed", 1);
		return 0;
	}
	*asked = (struct flow_asked){.cookie = watch.cookie,
				     .address = address,
				     .length = watch.length,
				     .pid = pid,
				     .access = access};
	if (access == TL_EXEC && !asking->separate)
		find_before(asking, asked);
	return watch.cookie;
}

static bool is_same_memory(struct flow_asking *asking, pid_t pid, uint64_t address,
			   const struct tl_memory *memory)
{
	struct tl_memory other;

	return !asking->services->memory(asking->host, pid, address, &other) && other.shared &&
	       other.inode == memory->inode && other.device == memory->device &&
	       other.offset - other.start == memory->offset - memory->start;
}

uint64_t flow_asking_arm_far(struct flow_asking *asking, pid_t pid, uint64_t address,
			     uint64_t length, uint64_t turn)
{
	struct tl_memory memory;

	if (asking->services->memory(asking->host, pid, address, &memory) || !memory.shared ||
	    !memory.inode)
		return 0;
	for (unsigned i = 0; i < asking->processes; i++) {
		pid_t other = asking->process[(turn + i) % asking->processes];

		if (other != pid && is_same_memory(asking, other, address, &memory))
			return flow_asking_arm(asking, other, address, length, TL_WRITE);
	}
	return 0;
}

static void forget_others(struct flow_asking *asking, const struct flow_question *but)
{
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		if (asking->question[i].item != FLOW_NO_ITEM && &asking->question[i] != but)
			asking->asker->forget(asking->state, i);
}

void flow_asking_stop(struct flow_asking *asking, struct flow_question *question)
{
	/* Hits of it that are on their way hide others, as flow_asking_hit() has it. */
	forget_others(asking, question);
	if (question->cookie)
		asking->services->disarm(asking->host, question->cookie);
	if (question->code_cookie)
		asking->services->disarm(asking->host, question->code_cookie);
	if (question->goal_cookie)
		asking->services->disarm(asking->host, question->goal_cookie);
	if (question->far_cookie)
		asking->services->disarm(asking->host, question->far_cookie);
	*question = (struct flow_question){.item = FLOW_NO_ITEM};
}

int flow_asking_find(const struct flow_asking *asking, const struct tl_access *access)
{
	for (int i = 0; i < FLOW_QUESTIONS && access->cookie; i++) {
		const struct flow_question *question = &asking->question[i];

		if (question->item != FLOW_NO_ITEM && (access->cookie == question->cookie ||
						       access->cookie == question->code_cookie ||
						       access->cookie == question->goal_cookie ||
						       access->cookie == question->far_cookie))
			return i;
	}
	return -1;
}

bool flow_asking_is_code(const struct flow_asking *asking, uint64_t cookie)
{
	const struct flow_asked *asked = &asking->asked[cookie % FLOW_ASKED];

	return asked->cookie == cookie && asked->access & TL_EXEC;
}

/* The instruction's operand, if there is one, that touches what the watch watches, as it was after
 * the access. */
static bool find_touch(const struct flow_asked *asked, const struct insn *insn,
		       const struct insn_registers *registers, struct tl_access *access)
{
	for (unsigned i = 0; i < insn->operand_count; i++) {
		uint64_t address, length;

		access->access = insn->operand[i].access & (TL_READ | TL_WRITE);
		if (access->access & asked->access &&
		    !insn_operand_after(insn, i, registers, &address, &length) && length &&
		    address < asked->address + asked->length && asked->address < address + length) {
			access->address = address;
			access->length = length;
			return true;
		}
	}
	return false;
}

static bool decode(struct flow_asking *asking, const struct tl_access *access, struct insn *insn,
		   struct insn_registers *registers)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	ssize_t got =
		asking->services->read(asking->host, access->pid, access->pc, bytes, sizeof(bytes));

	if (got <= 0 || insn_decode(bytes, (size_t)got, access->pc, insn))
		return false;
	*registers = tool_registers(access->registers, access->pc + insn->length);
	return true;
}

static bool is_instruction_done(const struct flow_asking *asking, const struct tl_access *access)
{
	const struct flow_asked *asked = &asking->asked[access->cookie % FLOW_ASKED];

	return asked->cookie == access->cookie && !(asked->access & TL_EXEC) && !access->before &&
	       !(access->access & (TL_LATE | TL_GUESSED | TL_KERNEL)) && access->registers;
}

/* A comparison that has found another value stores none: it writes back what was there. */
static bool has_failed(struct flow_asking *asking, const struct tl_access *access)
{
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn_effect effect;
	ssize_t got;

	if (!(access->access & TL_WRITE) || !(access->traits & TL_TRAIT_ATTEMPT) ||
	    !access->registers || insn_condition_holds(access->registers->flags, EQUAL))
		return false;
	got = asking->services->read(asking->host, access->pid, access->pc, bytes, sizeof(bytes));
	if (got <= 0 || insn_effect_decode(bytes, (size_t)got, access->pc, &effect))
		return false;
	for (unsigned i = 0; i < effect.count; i++)
		if (effect.result[i].to.kind == INSN_PLACE_MEMORY && effect.result[i].conditional)
			return true;
	return false;
}

/* The instruction's access of what the watch of that cookie watches, if it reads as `reads` says.
 */
static void hit_other(struct flow_asking *asking, const struct tl_access *access, uint64_t cookie,
		      bool reads, flow_hit_fn *hit)
{
	const struct flow_asked *asked = &asking->asked[cookie % FLOW_ASKED];
	struct insn_registers registers = {0};
	struct tl_access other = *access;
	struct insn insn;

	if (!cookie || cookie == access->cookie || asked->cookie != cookie ||
	    asked->pid != access->pid || asked->access & TL_EXEC ||
	    !decode(asking, access, &insn, &registers))
		return;
	other.cookie = cookie;
	other.value_known = false;
	other.watched_length = 0;
	if (!find_touch(asked, &insn, &registers, &other))
		return;
	if (has_failed(asking, &other))
		other.access &= ~(unsigned)TL_WRITE;
	if (!!(other.access & TL_READ) == reads)
		hit(asking->state, &other);
}

/* The same instruction's accesses of what else is watched. */
static void hit_others(struct flow_asking *asking, const struct tl_access *access, bool reads,
		       flow_hit_fn *hit)
{
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++) {
		const struct flow_question *question = &asking->question[i];

		hit_other(asking, access, question->cookie, reads, hit);
		hit_other(asking, access, question->code_cookie, reads, hit);
		hit_other(asking, access, question->goal_cookie, reads, hit);
		hit_other(asking, access, question->far_cookie, reads, hit);
	}
}

/* The watch of that cookie, if it is of code; NULL: it is not. */
static struct flow_asked *code_of(struct flow_asking *asking, uint64_t cookie)
{
	return flow_asking_is_code(asking, cookie) ? &asking->asked[cookie % FLOW_ASKED] : NULL;
}

/* The thread goes on at code that the watch of that cookie watches. */
static void hit_code(struct flow_asking *asking, const struct tl_access *access, uint64_t cookie,
		     flow_hit_fn *hit)
{
	struct flow_asked *asked = cookie ? code_of(asking, cookie) : NULL;
	struct tl_access other = *access;

	if (!asked || asked->pid != access->pid || asked->address != access->registers->pc)
		return;
	asked->ahead = access->identity;
	asked->ahead_registers = *access->registers;
	other.cookie = cookie;
	other.pc = other.address = access->registers->pc;
	other.access = TL_EXEC;
	other.length = other.traits = other.watched_length = 0;
	other.before = true;
	other.value_known = false;
	hit(asking->state, &other);
}

static void hit_codes(struct flow_asking *asking, const struct tl_access *access, flow_hit_fn *hit)
{
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++) {
		hit_code(asking, access, asking->question[i].cookie, hit);
		hit_code(asking, access, asking->question[i].code_cookie, hit);
		hit_code(asking, access, asking->question[i].goal_cookie, hit);
	}
}

/* Has the access before it told this hit of code? */
static bool was_told(struct flow_asking *asking, const struct tl_access *access)
{
	struct flow_asked *asked = code_of(asking, access->cookie);

	if (!asked || !asked->ahead || asked->ahead != access->identity || !access->registers ||
	    memcmp(asked->ahead_registers.general, access->registers->general,
		   sizeof(access->registers->general)) != 0)
		return false;
	asked->ahead = 0;
	asking->separate = true;
	return true;
}

/* The thread has gone on since: code that it comes to from now on was not told. */
static void go_on(struct flow_asking *asking, uint64_t identity)
{
	for (unsigned i = 0; i < FLOW_ASKED; i++)
		if (asking->asked[i].ahead == identity)
			asking->asked[i].ahead = 0;
}

static bool may_touch(struct flow_asking *asking, uint64_t cookie, const struct insn *insn,
		      const struct tl_access *at)
{
	const struct flow_asked *asked = &asking->asked[cookie % FLOW_ASKED];
	struct insn_registers registers = tool_registers(at->registers, at->pc);
	struct tl_access access = {0};

	return cookie && asked->cookie == cookie && asked->pid == at->pid &&
	       !(asked->access & TL_EXEC) && find_touch(asked, insn, &registers, &access);
}

/* Of a hit of code: what the instruction before it may have touched was not told. */
static void doubt_before(struct flow_asking *asking, const struct tl_access *access)
{
	const struct flow_asked *asked = code_of(asking, access->cookie);

	if (!asked || asking->separate || !asked->before.length || !access->registers)
		return;
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++) {
		const struct flow_question *question = &asking->question[i];

		if (may_touch(asking, question->cookie, &asked->before, access) ||
		    may_touch(asking, question->code_cookie, &asked->before, access) ||
		    may_touch(asking, question->goal_cookie, &asked->before, access) ||
		    may_touch(asking, question->far_cookie, &asked->before, access))
			asking->asker->forget(asking->state, i);
	}
}

static void hit_all(struct flow_asking *asking, const struct tl_access *access, flow_hit_fn *hit)
{
	bool done = is_instruction_done(asking, access);

	doubt_before(asking, access);
	if (done && !(access->access & TL_READ))
		hit_others(asking, access, true, hit);
	hit(asking->state, access);
	if (!done)
		return;
	if (access->access & TL_READ)
		hit_others(asking, access, true, hit);
	hit_others(asking, access, false, hit);
	hit_codes(asking, access, hit);
}

/*
 * Has a return read its address there? The thread is where that leads to, and no instruction before
 * it tells which one it was. No value is followed by way of it, and it stores nothing: what was
 * seen before holds still, as of a place on the stack that calls use in turn.
 */
static bool is_return(const struct tl_access *access)
{
	uint64_t stack, mask;

	if (!(access->access & TL_GUESSED) || access->access & (TL_KERNEL | TL_LATE) ||
	    !access->registers || !access->value_known || access->length < 4)
		return false;
	stack = access->registers->general[insn_arch.stack_pointer];
	mask = access->length < 8 ? (1ull << 8 * access->length) - 1 : UINT64_MAX;
	return access->address - (stack - 8) < 8 &&
	       access->value ==
		       (access->registers->pc >> 8 * (access->address - (stack - 8)) & mask);
}

void flow_asking_hit(struct flow_asking *asking, const struct tl_access *access, flow_hit_fn *hit)
{
	int number = flow_asking_find(asking, access);
	struct flow_asked *asked = &asking->asked[access->cookie % FLOW_ASKED];
	struct tl_access seen = *access;

	if (access->after_loss)
		forget_others(asking, NULL);
	if (number < 0)
		return;
	note_frame(asking, access, asked);
	if (was_told(asking, access))
		return;
	go_on(asking, access->identity);
	if (access->others_ended) {
		asking->services->count(asking->host, "flow-hits-deaf", 1);
		asking->asker->forget(asking->state, (unsigned)number);
		return;
	}
	if (is_return(access)) {
		asking->services->count(asking->host, "flow-hits-returns", 1);
		return;
	}
	if (has_failed(asking, access))
		seen.access &= ~(unsigned)TL_WRITE;
	hit_all(asking, &seen, hit);
}

static bool is_asked(const struct flow_asking *asking, uint32_t item)
{
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		if (asking->question[i].item == item)
			return true;
	return false;
}

static uint64_t turns(const struct flow_item *item)
{
	return item->visits + (item->confirmed >= ENOUGH ? TURNS_BEHIND : 0);
}

static uint32_t choose(const struct flow_asking *asking, struct flow_item *chosen)
{
	uint32_t best = FLOW_NO_ITEM;
	struct flow_item item;

	for (uint32_t i = 0; asking->asker->item(asking->state, i, &item); i++) {
		if (item.ended || is_asked(asking, i))
			continue;
		if (best == FLOW_NO_ITEM || turns(&item) < turns(chosen)) {
			best = i;
			*chosen = item;
		}
	}
	return best;
}

static unsigned slots_in_use(const struct flow_asking *asking)
{
	unsigned count = 0;

	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		count += (asking->question[i].cookie != 0) +
			 (asking->question[i].code_cookie != 0) +
			 (asking->question[i].goal_cookie != 0) +
			 (asking->question[i].far_cookie != 0);
	return count;
}

/* False: no further question can be asked now. */
static bool ask_next(struct flow_asking *asking, unsigned question)
{
	struct flow_item item = {0};
	uint32_t index = choose(asking, &item);

	asking->longer = item.longer || item.watches > 2 || (item.visits > 1 && !item.confirmed);
	if (index == FLOW_NO_ITEM ||
	    slots_in_use(asking) + item.watches >
		    asking->services->slots(asking->host, asking->expression.pid) ||
	    !asking->asker->ask(asking->state, question, index))
		return false;
	asking->question[question].item = index;
	asking->question[question].deadline = clock_now() + 2 * FLOW_WINDOW;
	return true;
}

void flow_asking_tick(struct flow_asking *asking)
{
	uint64_t now = clock_now();

	flow_expression_tick(&asking->expression, asking->asker->add, asking->state);
	for (unsigned i = 0; i < FLOW_QUESTIONS && asking->expression.pid > 0; i++) {
		struct flow_question *question = &asking->question[i];

		if (question->item != FLOW_NO_ITEM && now > question->deadline)
			flow_asking_stop(asking, question);
		if (question->item == FLOW_NO_ITEM && !ask_next(asking, i))
			return;
	}
}

void flow_asking_unwatched(struct flow_asking *asking, const struct tl_watch *watch)
{
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++) {
		struct flow_question *question = &asking->question[i];

		if (question->item == FLOW_NO_ITEM)
			continue;
		if (question->cookie == watch->cookie)
			question->cookie = 0;
		else if (question->code_cookie == watch->cookie)
			question->code_cookie = 0;
		else if (question->goal_cookie == watch->cookie)
			question->goal_cookie = 0;
		else if (question->far_cookie == watch->cookie)
			question->far_cookie = 0;
		else
			continue;
		flow_asking_stop(asking, question);
	}
}

void flow_asking_began(struct flow_asking *asking, pid_t pid)
{
	if (asking->processes < FLOW_PROCESSES)
		asking->process[asking->processes++] = pid;
	else
		asking->services->count(asking->host, "flow-processes-refused", 1);
}

static void forget_process(struct flow_asking *asking, pid_t pid)
{
	for (unsigned i = 0; i < asking->processes; i++)
		if (asking->process[i] == pid)
			asking->process[i--] = asking->process[--asking->processes];
}

bool flow_asking_ended(struct flow_asking *asking, pid_t pid)
{
	forget_process(asking, pid);
	if (!flow_expression_ended(&asking->expression, pid))
		return false;
	for (unsigned i = 0; i < FLOW_QUESTIONS; i++)
		flow_asking_stop(asking, &asking->question[i]);
	return true;
}
