/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a thread will do, foretold and compared with what it does: a child is stepped through
 * sorting, hashing, formatting and searching, in its own code and the C library's. Now and then the
 * next instructions are carried out ahead; then each register held to be known, each branch and
 * each address must be what the CPU makes of it. A branch on flags that were not known may go the
 * other way: that ends a forecast and is no error, but must not be the rule.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "insn/forward.h"
#include "insn/insn.h"

#define FORECAST 96 /* instructions */
#define BETWEEN 131 /* steps from one forecast to the next */
#define STEPS 200000

struct state {
	uint64_t general[16], pc;
	uint16_t known;
	struct insn_forward_access told[4];
	unsigned count;
	bool guess; /* it depends on flags that are not known */
};

static struct {
	pid_t pid;
	struct state state[FORECAST];
	unsigned length, at;
	unsigned long compared, registers, accesses, guesses, lost, forecasts, wrong;
} test;

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static uint32_t hash(const unsigned char *text, size_t length)
{
	uint32_t value = 2166136261u;

	for (size_t i = 0; i < length; i++) {
		value = (value ^ text[i]) * 16777619u;
		value ^= value >> 13;
		if (value & 1)
			value += (uint32_t)(int8_t)text[i] << (i & 7);
	}
	return value;
}

static int work(void)
{
	int number[300];
	char text[200];
	uint32_t sum = 0;

	for (int i = 0; i < 300; i++)
		number[i] = (int)(hash((unsigned char *)&i, sizeof(i)) % 10000) - 5000;
	qsort(number, 300, sizeof(number[0]), compare);
	for (int i = 0; i < 40; i++) {
		int length = snprintf(text, sizeof(text), "%d %x %s|%c", number[i * 7],
				      (unsigned)number[i], strchr("abc,def", ','), 'a' + i % 26);

		sum += hash((unsigned char *)text, (size_t)length) +
		       (uint32_t)strtol(text, NULL, 10);
		/* By what no compiler knows: div, of 32 and of 64 bits. */
		sum += (uint32_t)length / ((uint32_t)number[i] | 1u);
		sum += (uint32_t)((unsigned long)number[i] % ((unsigned long)length + 3));
		/* And idiv, behind cdq and cqo. */
		sum += (uint32_t)(number[i] / (length + 2));
		sum += (uint32_t)((long)number[i] % (-3L - length));
	}
	return sum != 0;
}

static int read_child(void *context, uint64_t address, void *to, size_t length)
{
	struct iovec local = {to, length}, remote = {(void *)address, length};

	(void)context;
	return process_vm_readv(test.pid, &local, 1, &remote, 1, 0) == (ssize_t)length ? 0
										       : -EFAULT;
}

static void note(void *context, const struct insn_forward_access *access)
{
	struct state *state = &test.state[test.length];

	(void)context;
	if (state->count < 4)
		state->told[state->count++] = *access;
}

static void registers_of(const struct user_regs_struct *from, uint64_t general[16])
{
	const uint64_t list[16] = {from->rax, from->rcx, from->rdx, from->rbx, from->rsp, from->rbp,
				   from->rsi, from->rdi, from->r8,  from->r9,  from->r10, from->r11,
				   from->r12, from->r13, from->r14, from->r15};

	memcpy(general, list, sizeof(list));
}

static size_t read_code(uint64_t pc, uint8_t bytes[INSN_MAX_LENGTH])
{
	size_t length = INSN_MAX_LENGTH;

	while (length && read_child(NULL, pc, bytes, length))
		length--;
	return length;
}

static void foretell(const struct user_regs_struct *now)
{
	struct insn_forward forward = {
		.pc = now->rip, .known = 0xffff, .read = read_child, .tell = note};
	int err = 0;

	registers_of(now, forward.general);
	test.at = 1; /* the first is where it is now */
	test.forecasts++;
	for (test.length = 0; test.length < FORECAST && !err; test.length++) {
		struct state *state = &test.state[test.length];
		uint8_t bytes[INSN_MAX_LENGTH];
		size_t available = read_code(forward.pc, bytes);
		struct insn insn = {0};
		bool leaves;

		memcpy(state->general, forward.general, sizeof(state->general));
		state->known = forward.known;
		state->pc = forward.pc;
		state->count = 0;
		insn_decode(bytes, available, forward.pc, &insn);
		state->guess = insn.conditional && insn.flow == INSN_FLOW_BRANCH &&
			       !forward.flags_known;
		err = insn_forward_step(&forward, bytes, available, &leaves);
	}
}

static void check_accesses(const struct state *state, const struct user_regs_struct *now)
{
	struct insn_registers registers = {
		.pc = now->rip, .flags = now->eflags, .fs_base = now->fs_base};
	uint8_t bytes[INSN_MAX_LENGTH];
	struct insn insn;

	registers_of(now, registers.general);
	if (!state->count || insn_decode(bytes, read_code(now->rip, bytes), now->rip, &insn))
		return;
	for (unsigned i = 0; i < state->count; i++) {
		bool found = false;

		for (unsigned j = 0; j < insn.operand_count; j++) {
			uint64_t address, length;

			/* How many bytes a string instruction or bit test touches is told apart. */
			found |= !insn_operand_before(&insn, j, &registers, &address, &length) &&
				 address == state->told[i].address;
		}
		test.accesses++;
		if (!found && insn.operand_count && insn.operand[0].bit_index < 0) {
			printf("%#llx: told of an access to %#lx\n", now->rip,
			       (unsigned long)state->told[i].address);
			test.wrong++;
		}
	}
}

static void check(const struct user_regs_struct *now)
{
	const struct state *state = &test.state[test.at];
	uint64_t general[16];

	/* A string instruction is stepped through element by element. */
	if (now->rip == state[-1].pc && now->rip != state->pc)
		return;
	test.at++;
	if (state->pc != now->rip) {
		bool guessed = test.at > 1 && test.state[test.at - 2].guess;

		test.lost += guessed;
		test.wrong += !guessed;
		if (!guessed)
			printf("at %#llx and not %#lx, after %#lx\n", now->rip,
			       (unsigned long)state->pc,
			       (unsigned long)(test.at > 1 ? test.state[test.at - 2].pc : 0));
		test.length = 0;
		return;
	}
	test.compared++;
	test.guesses += state->guess;
	registers_of(now, general);
	for (int i = 0; i < 16; i++) {
		if (!(state->known >> i & 1))
			continue;
		test.registers++;
		if (general[i] == state->general[i])
			continue;
		printf("register %d at %#llx is %#lx and not %#lx\n", i, now->rip,
		       (unsigned long)general[i], (unsigned long)state->general[i]);
		test.wrong++;
		test.length = 0;
		return;
	}
	check_accesses(state, now);
}

static void run_child(void)
{
	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	_exit(work() ? 0 : 1);
}

int main(void)
{
	unsigned long steps = 0;
	int status;

	test.pid = fork();
	if (test.pid == 0)
		run_child();
	waitpid(test.pid, &status, 0);
	while (WIFSTOPPED(status) && steps < STEPS && test.wrong < 10) {
		struct user_regs_struct now;

		ptrace(PTRACE_GETREGS, test.pid, 0, &now);
		if (test.at < test.length)
			check(&now);
		if (test.at >= test.length && steps % BETWEEN == 0)
			foretell(&now);
		if (ptrace(PTRACE_SINGLESTEP, test.pid, 0, 0) || waitpid(test.pid, &status, 0) < 0)
			break;
		steps++;
	}
	kill(test.pid, SIGKILL);
	printf("%lu steps, %lu forecasts, %lu instructions compared, %lu registers, %lu accesses, "
	       "%lu branches on unknown flags, %lu went the other way, %lu wrong\n",
	       steps, test.forecasts, test.compared, test.registers, test.accesses, test.guesses,
	       test.lost, test.wrong);
	return test.wrong || test.forecasts < 100 || test.compared < 20 * test.forecasts;
}
