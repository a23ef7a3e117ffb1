/* SPDX-License-Identifier: Apache-2.0 */
/* x86-64's agent/hooks.h. */
#ifndef AGENT_ARCH_H
#define AGENT_ARCH_H

#include "agent/hooks.h"

#include "base/syscall.h"

#include <elf.h>
#include <linux/audit.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

static inline void x86_agent_registers(const ucontext_t *context, struct area_registers *to)
{
	static const uint8_t order[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
					  REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
					  REG_R12, REG_R13, REG_R14, REG_R15};

	for (int i = 0; i < 16; i++)
		to->general[i] = (uint64_t)context->uc_mcontext.gregs[order[i]];
	to->pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
	to->flags = (uint64_t)context->uc_mcontext.gregs[REG_EFL];
}

/* Pushed by AGENT_ENTRY_KEPT(), below the return address. */
static inline bool x86_kept(const void *noted, struct area_registers *to)
{
	static const uint8_t order[6] = {3, 5, 12, 13, 14, 15}; /* rbx, rbp, r12 … r15 */
	const uint64_t *word = noted;

	for (int i = 0; i < 6; i++)
		to->general[order[i]] = word[i];
	to->pc = word[6];
	to->general[4] = (uint64_t)&word[7];
	return true;
}

static inline bool x86_divert(ucontext_t *context, uint64_t from, uint64_t to)
{
	if ((uint64_t)context->uc_mcontext.gregs[REG_RIP] != from)
		return false;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)to;
	return true;
}

static inline uint64_t x86_pointer_by_instruction(void)
{
	uint64_t base;

	__asm__("rdfsbase %0" : "=r"(base));
	return base;
}

/* AT_HWCAP2 bit 1 (Documentation/arch/x86; asm/hwcap2.h). */
static inline bool x86_has_instruction(void)
{
	return getauxval(AT_HWCAP2) & 2u;
}

/* The thread pointer's first word points to itself: ELF TLS, x86-64 psABI. */
static inline uintptr_t x86_thread_pointer(void)
{
	uintptr_t pointer;

	__asm__("mov %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

static inline uintptr_t x86_stack_pointer(void)
{
	uintptr_t value;

	__asm__("mov %%rsp, %0" : "=r"(value));
	return value;
}

static inline bool x86_may_read_clock(void)
{
	int mode = PR_TSC_ENABLE;

	raw_syscall6(SYS_prctl, PR_GET_TSC, (long)&mode, 0, 0, 0, 0);
	return mode != PR_TSC_SIGSEGV;
}

static inline void x86_copy(void *to, const void *from, size_t length)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(length) : : "memory");
}

static inline void x86_fill(void *to, int byte, size_t length)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(length) : "a"(byte) : "memory");
}

static const struct agent_hooks agent_arch = {
	.machine = EM_X86_64,
	.audit = AUDIT_ARCH_X86_64,
	.sequence_word = 0x53053053,
	.registers = x86_agent_registers,
	.kept = x86_kept,
	.divert = x86_divert,
	.pointer_by_instruction = x86_pointer_by_instruction,
	.has_instruction = x86_has_instruction,
	.thread_pointer = x86_thread_pointer,
	.stack_pointer = x86_stack_pointer,
	.may_read_clock = x86_may_read_clock,
	.copy = x86_copy,
	.fill = x86_fill,
};

#define X86_ENTRY(name, before, save, restore)                              \
	__asm__(".pushsection .text\n"                                      \
		".globl " #name "\n"                                        \
		".type " #name ", @function\n" #name ":\n"                  \
		".cfi_startproc\n"                                          \
		"endbr64\n" save "call " #before "\n" restore "jmp *%rax\n" \
		".cfi_endproc\n"                                            \
		".size " #name ", . - " #name "\n.popsection")

#define X86_PUSH(register) "push %" register "\n.cfi_adjust_cfa_offset 8\n"
#define X86_POP(register) "pop %" register "\n.cfi_adjust_cfa_offset -8\n"
/* The stack is aligned at the call: 8 bytes of return address, an even number of registers, 8 more.
 */
#define X86_ALIGN "sub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
#define X86_ALIGNED "add $8, %rsp\n.cfi_adjust_cfa_offset -8\n"

#define AGENT_ENTRY(name, before)                                          \
	X86_ENTRY(name, before, X86_PUSH("rdi") X86_PUSH("rsi") X86_ALIGN, \
		  X86_ALIGNED X86_POP("rsi") X86_POP("rdi"))

#define AGENT_ENTRY_OF_SIX(name, before)                                                         \
	X86_ENTRY(name, before,                                                                  \
		  X86_PUSH("rdi") X86_PUSH("rsi") X86_PUSH("rdx") X86_PUSH("rcx") X86_PUSH("r8") \
			  X86_PUSH("r9") X86_ALIGN,                                              \
		  X86_ALIGNED X86_POP("r9") X86_POP("r8") X86_POP("rcx") X86_POP("rdx")          \
			  X86_POP("rsi") X86_POP("rdi"))

#define AGENT_ENTRY_KEPT(name, body)                                                           \
	__asm__(".pushsection .text\n"                                                         \
		".globl " #name "\n"                                                           \
		".type " #name ", @function\n" #name ":\n"                                     \
		".cfi_startproc\n"                                                             \
		"endbr64\n" X86_PUSH("r15") X86_PUSH("r14") X86_PUSH("r13") X86_PUSH("r12")    \
			X86_PUSH("rbp")                                                        \
				X86_PUSH("rbx") "mov %rsp, %r8\n" X86_ALIGN "call " #body "\n" \
						"add $56, %rsp\n.cfi_adjust_cfa_offset -56\n"  \
						"ret\n"                                        \
						".cfi_endproc\n"                               \
						".size " #name ", . - " #name "\n.popsection")

/* rax and rdx: where it goes on, and with what. */
#define AGENT_ENTRY_BEGIN(name, begin)                                                   \
	__asm__(".pushsection .text\n"                                                   \
		".globl " #name "\n"                                                     \
		".hidden " #name "\n"                                                    \
		".type " #name ", @function\n" #name ":\n"                               \
		".cfi_startproc\n"                                                       \
		"endbr64\n" X86_ALIGN "call " #begin "\n" X86_ALIGNED "mov %rdx, %rdi\n" \
		"jmp *%rax\n"                                                            \
		".cfi_endproc\n"                                                         \
		".size " #name ", . - " #name "\n.popsection")

#define AGENT_RESTORER(name)                                    \
	__asm__(".section .text." #name ", \"ax\", @progbits\n" \
		".globl " #name "\n"                            \
		".hidden " #name "\n"                           \
		".type " #name ", @function\n" #name ":\n"      \
		"	mov $15, %rax\n"                              \
		"	syscall\n"                                    \
		".previous\n")

/*
 * rbx: the first struct injected_call, r12: the end of the last; r14 and r15 are zero. rax: 0, or
 * the number of a call with arguments in rdi, rsi and rdx that comes first; if it fails rbx is its
 * error, and it is the only one. At its end
 * r13 is the process's id, r14 the thread's, as it calls them itself, r15 is set, and the thread
 * sends itself the signal in ebp, for which it is stopped by whoever traces it. It uses no stack:
 * that is the program's.
 */
#define INJECTED_RUN(name)                                          \
	__asm__(".section .text." #name ", \"ax\", @progbits\n"     \
		".globl " #name "\n"                                \
		".hidden " #name "\n"                               \
		".type " #name ", @function\n" #name ":\n"          \
		"	test %rax, %rax\n"                                \
		"	jz 1f\n"                                          \
		"	syscall\n"                                        \
		"	test %rax, %rax\n"                                \
		"	jz 1f\n"                                          \
		"	mov %rax, %rbx\n"                                 \
		"	jmp 5f\n"                                         \
		"1:	cmp %r12, %rbx\n"                               \
		"	jae 5f\n"                                         \
		"	test %r14, %r14\n" /* one has failed */     \
		"	jz 2f\n"                                          \
		"	cmpq $0, 72(%rbx)\n" /* cleanup */          \
		"	je 4f\n"                                          \
		"2:	mov 56(%rbx), %rax\n" /* from */            \
		"	test %rax, %rax\n"                                \
		"	jz 3f\n"                                          \
		"	movslq (%rax), %rax\n"                            \
		"	mov 64(%rbx), %rcx\n" /* index */           \
		"	mov %rax, 8(%rbx,%rcx,8)\n"                       \
		"3:	mov (%rbx), %rax\n" /* number, arguments */ \
		"	mov 8(%rbx), %rdi\n"                              \
		"	mov 16(%rbx), %rsi\n"                             \
		"	mov 24(%rbx), %rdx\n"                             \
		"	mov 32(%rbx), %r10\n"                             \
		"	mov 40(%rbx), %r8\n"                              \
		"	mov 48(%rbx), %r9\n"                              \
		"	syscall\n"                                        \
		"	mov %rax, 80(%rbx)\n" /* result */          \
		"	cmp $-4095, %rax\n"                               \
		"	jb 4f\n"                                          \
		"	cmpq $0, 72(%rbx)\n" /* cleanup */          \
		"	jne 4f\n"                                         \
		"	mov $1, %r14d\n"                                  \
		"4:	add $88, %rbx\n"                                \
		"	jmp 1b\n"                                         \
		"5:	mov $39, %eax\n" /* getpid(2) */            \
		"	syscall\n"                                        \
		"	mov %rax, %r13\n"                                 \
		"	mov $186, %eax\n" /* gettid(2) */           \
		"	syscall\n"                                        \
		"	mov %rax, %r14\n"                                 \
		"	mov %r13, %rdi\n"                                 \
		"	mov %r14, %rsi\n"                                 \
		"	mov %ebp, %edx\n"                                 \
		"	mov $1, %r15d\n"                                  \
		"	mov $234, %eax\n" /* tgkill(2) */           \
		"	syscall\n"                                        \
		"	jmp 5b\n"                                         \
		".previous\n")

#endif
