/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A system call, for base/syscall.h. x86-64 convention: number in rax, arguments in rdi rsi rdx r10
 * r8 r9; rcx and r11 are destroyed (System V ABI, A.2.1).
 */
#ifndef BASE_CALL_H
#define BASE_CALL_H

static inline long raw_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static inline long raw_syscall3(long number, long a, long b, long c)
{
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c)
			 : "rcx", "r11", "memory");
	return result;
}

#endif
