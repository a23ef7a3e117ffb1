/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a hit tells through the public interface: instruction, address, size, kind, thread, and the
 * callers, in code built without frame pointers. (The instruction forms one by one: insn_live.)
 */
#include "check.h"

#include <pthread.h>

static _Alignas(64) volatile unsigned char bytes[64];
static struct {
	uintptr_t pc, next_pc;
	const void *addr;
	size_t size;
	unsigned access;
	pid_t tid;
	int depth;
	uintptr_t stack[64];
	int count;
} seen;

static void look(tl_hit *hit, void *arg)
{
	CHECK(arg == &seen && tl_hit_event(hit), "argument");
	seen.pc = tl_hit_pc(hit);
	seen.next_pc = tl_hit_next_pc(hit);
	seen.addr = tl_hit_addr(hit);
	seen.size = tl_hit_size(hit);
	seen.access = tl_hit_access(hit);
	seen.tid = tl_hit_tid(hit);
	seen.depth = tl_hit_backtrace(hit, seen.stack, 64);
	seen.count++;
}

/* Runs one instruction on bytes+8 and checks what is told about it. */
#define CHECK_FORM(name, instruction, first, length, expected)                                     \
	do {                                                                                       \
		uintptr_t at, after;                                                               \
		seen.count = 0;                                                                    \
		__asm__ volatile("lea 1f(%%rip), %0\n\tlea 2f(%%rip), %1\n"                        \
				 "1: " instruction "\n2:"                                          \
				 : "=&r"(at), "=&r"(after)                                         \
				 : "D"(bytes + 8), "a"(1l), "c"(1l)                                \
				 : "memory", "xmm0", "rdx", "rbx");                                \
		CHECK(seen.count == 1, name ": %d hits", seen.count);                              \
		CHECK(seen.pc == at && seen.next_pc == after, name ": pc %#lx, not %#lx", seen.pc, \
		      at);                                                                         \
		CHECK(seen.access == (expected), name ": access %#x, not %#x", seen.access,        \
		      (unsigned)(expected));                                                       \
		CHECK(seen.addr == (const void *)(bytes + (first)) && seen.size == (length),       \
		      name ": %p, %zu bytes", seen.addr, seen.size);                               \
		CHECK_EQUAL(seen.tid, check_gettid());                                             \
	} while (0)

static void check_forms(void)
{
	tl_event *event = check_open(bytes + 8, 8, TL_READ | TL_WRITE, TL_PROCESS, look, &seen);

	CHECK_FORM("byte store", "movb $1, 3(%%rdi)", 11, 1, TL_WRITE);
	CHECK_FORM("word load", "movzwl (%%rdi), %%edx", 8, 2, TL_READ);
	CHECK_FORM("add", "addl %%eax, 4(%%rdi)", 12, 4, TL_READ | TL_WRITE);
	CHECK_FORM("lock add", "lock addl %%eax, 4(%%rdi)", 12, 4, TL_READ | TL_WRITE | TL_ATOMIC);
	CHECK_FORM("xchg", "xchg %%rcx, (%%rdi)", 8, 8, TL_READ | TL_WRITE | TL_ATOMIC);
	CHECK_FORM("store from below", "movq %%rax, -3(%%rdi)", 5, 8, TL_WRITE);
	CHECK_FORM("vector store", "movdqu %%xmm0, -8(%%rdi)", 0, 16, TL_WRITE);
	CHECK_FORM("vector load", "movups (%%rdi), %%xmm0", 8, 16, TL_READ);
	CHECK_FORM("compare", "cmpb $0, 7(%%rdi)", 15, 1, TL_READ);
	CHECK_OK(tl_event_close(event));
}

/* ---- what is pushed ----------------------------------------------------------------------- */

#define PUSHED_TO (sizeof(stack) - 64)

/* On a stack of its own. What was pushed may be taken for a return address, and is none. */
static void check_pushed(void)
{
	static _Alignas(64) unsigned char stack[64 * 1024];
	tl_event *event = check_open(stack + PUSHED_TO - 8, 8, TL_WRITE, TL_PROCESS, look, &seen);

	for (long value = -20; value <= 20; value++) {
		seen.count = 0;
		__asm__ volatile("mov %%rsp, %%rbx\n\tmov %1, %%rsp\n\tpush %0\n\tmov %%rbx, %%rsp"
				 :
				 : "r"(value), "r"(stack + PUSHED_TO)
				 : "memory", "rbx");
		CHECK(seen.count == 1, "%ld pushed: %d hits", value, seen.count);
		CHECK(seen.access == TL_WRITE && seen.addr == stack + PUSHED_TO - 8 &&
			      seen.size == 8,
		      "%ld pushed: %#x", value, seen.access);
	}
	CHECK_OK(tl_event_close(event));
}

/* ---- callers ---------------------------------------------------------------------------- */

#ifdef __clang__ /* which keeps frame pointers for a whole file or not at all */
#define DEEP __attribute__((noinline, disable_tail_calls))
#else
#define DEEP __attribute__((noinline, optimize("omit-frame-pointer", "no-optimize-sibling-calls")))
#endif

static DEEP void deepest(void)
{
	bytes[8] = 1;
	__asm__ volatile("");
}

static DEEP void deeper(int room)
{
	volatile char space[64];

	space[room % 64] = 1;
	deepest();
	__asm__ volatile("" : : "r"(space[room % 64]));
}

static DEEP void deep(void)
{
	deeper(7);
	__asm__ volatile("");
}

static int compare(const void *a, const void *b)
{
	deep();
	return *(const int *)a - *(const int *)b;
}

static bool within(uintptr_t pc, void *function, size_t size)
{
	return pc >= (uintptr_t)function && pc < (uintptr_t)function + size;
}

static void *sort_two(void *arg)
{
	int values[2] = {2, 1};

	qsort(values, 2, sizeof(int), compare);
	return arg;
}

static void check_callers(void)
{
	tl_event *event = check_open(bytes + 8, 1, TL_WRITE, TL_PROCESS, look, &seen);
	pthread_t thread;
	bool in_sort = false;

	pthread_create(&thread, NULL, sort_two, NULL);
	pthread_join(thread, NULL);
	CHECK(seen.depth >= 7, "%d frames", seen.depth);
	CHECK(seen.stack[0] == seen.pc && within(seen.pc, deepest, 64), "frame 0");
	CHECK(within(seen.stack[1], deeper, 128), "frame 1");
	CHECK(within(seen.stack[2], deep, 64), "frame 2");
	CHECK(within(seen.stack[3], compare, 64), "frame 3");
	for (int i = 4; i < seen.depth; i++)
		in_sort |= within(seen.stack[i], sort_two, 256);
	CHECK(in_sort, "through qsort to its caller");
	CHECK_OK(tl_event_close(event));
}

int main(void)
{
	check_hardware();
	check_forms();
	check_pushed();
	check_callers();
	return 0;
}
