/* SPDX-License-Identifier: Apache-2.0 */
#include "base/seccomp_run.h"

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Linux, Documentation/networking/filter.rst; what seccomp takes of it: kernel/seccomp.c,
 * seccomp_check_filter(). */
struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	const struct seccomp_data *call;
};

static bool load(struct machine *machine, const struct sock_filter *at, uint32_t *to)
{
	switch (BPF_MODE(at->code)) {
	case BPF_IMM:
		*to = at->k;
		return true;
	case BPF_ABS:
		if (at->k > sizeof(*machine->call) - sizeof(*to))
			return false;
		memcpy(to, (const char *)machine->call + at->k, sizeof(*to));
		return true;
	case BPF_MEM:
		if (at->k >= BPF_MEMWORDS)
			return false;
		*to = machine->memory[at->k];
		return true;
	case BPF_LEN:
		*to = sizeof(*machine->call);
		return true;
	default:
		return false;
	}
}

static bool compute(struct machine *machine, const struct sock_filter *at)
{
	uint32_t value = BPF_SRC(at->code) == BPF_X ? machine->x : at->k;

	switch (BPF_OP(at->code)) {
	case BPF_ADD:
		machine->a += value;
		return true;
	case BPF_SUB:
		machine->a -= value;
		return true;
	case BPF_MUL:
		machine->a *= value;
		return true;
	case BPF_DIV:
		machine->a = value ? machine->a / value : 0;
		return value;
	case BPF_AND:
		machine->a &= value;
		return true;
	case BPF_OR:
		machine->a |= value;
		return true;
	case BPF_XOR:
		machine->a ^= value;
		return true;
	case BPF_LSH:
		machine->a = value < 32 ? machine->a << value : 0;
		return true;
	case BPF_RSH:
		machine->a = value < 32 ? machine->a >> value : 0;
		return true;
	case BPF_NEG:
		machine->a = -machine->a;
		return true;
	default:
		return false;
	}
}

/* How many instructions are passed over. */
static uint32_t jump(const struct machine *machine, const struct sock_filter *at)
{
	uint32_t value = BPF_SRC(at->code) == BPF_X ? machine->x : at->k;
	bool holds;

	switch (BPF_OP(at->code)) {
	case BPF_JA:
		return at->k;
	case BPF_JEQ:
		holds = machine->a == value;
		break;
	case BPF_JGT:
		holds = machine->a > value;
		break;
	case BPF_JGE:
		holds = machine->a >= value;
		break;
	default:
		holds = machine->a & value;
		break;
	}
	return holds ? at->jt : at->jf;
}

static bool store(struct machine *machine, const struct sock_filter *at, uint32_t value)
{
	if (at->k >= BPF_MEMWORDS)
		return false;
	machine->memory[at->k] = value;
	return true;
}

/* Everything but jumps and returns. */
static bool step(struct machine *machine, const struct sock_filter *at)
{
	switch (BPF_CLASS(at->code)) {
	case BPF_LD:
		return load(machine, at, &machine->a);
	case BPF_LDX:
		return load(machine, at, &machine->x);
	case BPF_ST:
		return store(machine, at, machine->a);
	case BPF_STX:
		return store(machine, at, machine->x);
	case BPF_ALU:
		return compute(machine, at);
	case BPF_MISC:
		if (BPF_MISCOP(at->code) == BPF_TAX)
			machine->x = machine->a;
		else
			machine->a = machine->x;
		return true;
	default:
		return false;
	}
}

unsigned seccomp_run(const struct sock_filter *code, unsigned length,
		     const struct seccomp_data *call)
{
	struct machine machine = {.call = call};

	/* Jumps lead forward alone, so this ends. */
	for (uint64_t i = 0; i < length; i++) {
		const struct sock_filter *at = &code[i];

		if (BPF_CLASS(at->code) == BPF_RET)
			return BPF_RVAL(at->code) == BPF_A ? machine.a : at->k;
		if (BPF_CLASS(at->code) == BPF_JMP)
			i += jump(&machine, at);
		else if (!step(&machine, at))
			break;
	}
	return SECCOMP_RET_KILL_PROCESS;
}
