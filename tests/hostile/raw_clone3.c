/* SPDX-License-Identifier: Apache-2.0 */
/* A thread made by clone3(2) in assembly: libc knows nothing of it, and it has its maker's TLS. */
#include "hostile.h"
#include <linux/sched.h>
#include <linux/futex.h>

static volatile long raw_counter;
static unsigned tid_word;

/* Runs on its maker's thread pointer: must touch no TLS and call no libc. */
__attribute__((noinline, noreturn)) static void raw_body(void)
{
	for (long i = 0; i < 200000000; i++) {
		raw_counter++;
		if (i % 16 == 0)
			noise_counter++;
	}
	__asm__ volatile("syscall" : : "a"(SYS_exit), "D"(0) : "rcx", "r11", "memory");
	__builtin_unreachable();
}

static void start_raw(char *stack, size_t size)
{
	struct clone_args arguments = {
		.flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			 CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
		.parent_tid = (uintptr_t)&tid_word,
		.child_tid = (uintptr_t)&tid_word,
		.stack = (uintptr_t)stack,
		.stack_size = size,
	};
	register void (*entry)(void) __asm__("r12") = raw_body;
	long result;

	__asm__ volatile("syscall\n\t"
			 "testq %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "xorl %%ebp, %%ebp\n\t"
			 "callq *%%r12\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone3), "D"(&arguments), "S"(sizeof(arguments)), "r"(entry)
			 : "rcx", "r11", "memory");
	expect(result > 0);
}

int main(void)
{
	static char stack[65536] __attribute__((aligned(16)));
	unsigned seen;

	noise_start();
	start_raw(stack, sizeof(stack));
	while ((seen = __atomic_load_n(&tid_word, __ATOMIC_ACQUIRE)))
		syscall(SYS_futex, &tid_word, FUTEX_WAIT, seen, NULL, NULL, 0);
	noise_stop();
	say("raw thread counted to %ld", raw_counter);
	return 0;
}
