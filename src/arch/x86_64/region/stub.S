/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dispatched system call is made here, in the program's context, so that everything about it but
 * the place is as the program has it: stack pointer within the same stack, signal mask, restart
 * after a signal. The key is open meanwhile; a signal handler that runs during the call has the
 * kernel's initial rights. The registers end as a system call leaves them: rcx = next pc, r11 =
 * flags, rax = result, all others untouched.
 */
#include "region/stub.h"

#define NUMBER_RT_SIGRETURN 15
#define NUMBER_PRCTL 157
#define PR_SET_SYSCALL_USER_DISPATCH 59
#define DISPATCH_ON 1
#define SELECTOR_ALLOW 0
#define SELECTOR_BLOCK 1

	.section .note.GNU-stack, "", @progbits
	.text
	.hidden region_thread, region_dispatch_over

	.macro HIDDEN name
	.globl \name
	.hidden \name
	.balign 16
\name:
	.endm

	.macro RDPKRU
	.byte 0x0f, 0x01, 0xee
	.endm

	.macro WRPKRU
	.byte 0x0f, 0x01, 0xef
	.endm

	/* Give back rights (at \frame); destroys rax, rcx, rdx. */
	.macro CLOSE frame
	xorl	%ecx, %ecx
	RDPKRU
	orl	STUB_RIGHTS(\frame), %eax
	WRPKRU
	.endm

	.macro LOAD_ARGUMENTS frame
	movq	STUB_RDI(\frame), %rdi
	movq	STUB_RSI(\frame), %rsi
	movq	STUB_RDX(\frame), %rdx
	movq	STUB_R10(\frame), %r10
	movq	STUB_R8(\frame), %r8
	movq	STUB_R9(\frame), %r9
	.endm

	/* In a new task: turn dispatching on, unless it has ended for all. It may end meanwhile: this
	 * task is visited before the second look, or sees it there. Destroys all argument registers. */
	.macro COVER_CHILD frame
	movq	region_thread@gottpoff(%rip), %r11
	testl	$STUB_CHILD_FORKED, STUB_CHILD(\frame)
	jz	1f
	movb	$1, %fs:THREAD_FORKED(%r11)
1:	cmpb	$0, region_dispatch_over(%rip)
	jne	4f
	movb	$1, %fs:THREAD_COVERED(%r11)
	movb	$SELECTOR_BLOCK, %fs:THREAD_SELECTOR(%r11)
	movq	STUB_HIDDEN(\frame), %rcx
	movq	%rcx, %fs:THREAD_HIDDEN(%r11)
	movq	%fs:0, %r8
	leaq	THREAD_SELECTOR(%r8, %r11), %r8
	movl	$PR_SET_SYSCALL_USER_DISPATCH, %edi
	movl	$DISPATCH_ON, %esi
	leaq	region_stub_begin(%rip), %rdx
	movl	$(region_stub_end - region_stub_begin), %r10d
	movl	$NUMBER_PRCTL, %eax
	syscall
	cmpb	$0, region_dispatch_over(%rip)
	je	4f
	movq	region_thread@gottpoff(%rip), %r11
	movb	$SELECTOR_ALLOW, %fs:THREAD_SELECTOR(%r11)
4:
	.endm

HIDDEN region_stub_begin

	/* CFA = STUB_SP(%rsp), return address at STUB_PC(%rsp): a backtrace goes on to the caller. */
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape 0x0f, 0x03, 0x77, STUB_SP, 0x06
	.cfi_escape 0x10, 0x10, 0x02, 0x77, STUB_PC
	nop
HIDDEN region_stub_call_32
	int	$0x80
	jmp	after
HIDDEN region_stub_call
	syscall
after:
	movq	%rax, STUB_RESULT(%rsp)
	cmpl	$0, STUB_REPORT(%rsp)
	jne	report
HIDDEN region_stub_close
close:
	CLOSE	%rsp
	LOAD_ARGUMENTS %rsp
	pushq	STUB_FLAGS(%rsp)
	popfq
	movq	STUB_RESULT(%rsp), %rax
	movq	STUB_FLAGS(%rsp), %r11
	movq	STUB_PC(%rsp), %rcx
	movq	STUB_SP(%rsp), %rsp
	jmp	*%rcx

HIDDEN region_stub_clone
	syscall
	movq	%rax, STUB_RESULT(%rsp)
	testq	%rax, %rax
	jnz	close
	testl	$STUB_CHILD_COVER, STUB_CHILD(%rsp)
	jz	close
	COVER_CHILD %rsp
	jmp	close
	.cfi_endproc

	/*
	 * Parent and child return here with one stack and one frame, the child first and the parent
	 * when the child has left their memory: neither writes to the frame but the parent last.
	 */
HIDDEN region_stub_vfork
	syscall
	movq	%rax, %r11
	testq	%rax, %rax
	jz	5f
	/* The child has the same storage, and may have ended the dispatching of its own. */
	cmpb	$0, region_dispatch_over(%rip)
	jne	2f
	movq	region_thread@gottpoff(%rip), %rax
	movq	STUB_HIDDEN(%rbx), %rcx
	movq	%rcx, %fs:THREAD_HIDDEN(%rax)
	movb	$SELECTOR_BLOCK, %fs:THREAD_SELECTOR(%rax)
	jmp	2f
5:	COVER_CHILD %rbx
	xorl	%r11d, %r11d
2:	CLOSE	%rbx
	LOAD_ARGUMENTS %rbx
	leaq	-128(%rsp), %rsp
	pushq	STUB_FLAGS(%rbx)
	movq	STUB_PC(%rbx), %rcx
	movq	%rbx, %rax
	movq	STUB_RBX(%rax), %rbx
	testq	%r11, %r11
	jz	3f
	movq	$0, STUB_BUSY(%rax)
3:	popfq
	leaq	128(%rsp), %rsp
	movq	%r11, %rax
	jmp	*%rcx

HIDDEN region_stub_bare
	syscall
	ud2

	/* Unwinders know a signal frame by these very bytes. */
	.balign 16
	nop
HIDDEN region_stub_return
	movq	$NUMBER_RT_SIGRETURN, %rax
	syscall
	ud2

HIDDEN region_stub_end

	/* From outside the range this call is dispatched, and region_on_call() finishes what was
	 * begun; where dispatching has been switched off meanwhile it fails and nobody is told. */
HIDDEN region_stub_report
report:
	cmpb	$0, region_dispatch_over(%rip)
	jne	close
	movq	$-1, %rax
	syscall
	.globl	region_stub_reported
	.hidden	region_stub_reported
region_stub_reported:
	jmp	close

	/* Copies rdx bytes from rsi to rdi; returns how many are left. Where a fault stops it
	 * region_on_fault() goes on at the last label. */
HIDDEN region_stub_copy
	movq	%rdx, %rcx
HIDDEN region_stub_copies
	rep movsb
HIDDEN region_stub_copied
	movq	%rcx, %rax
	ret

	/* rsp is 8 beyond a multiple of 16 here, as at any function's entry. */
	.macro ENTER name, function
HIDDEN \name
	.cfi_startproc
	movq	%rdx, %r8
	xorl	%ecx, %ecx
	RDPKRU
	movl	%eax, %r9d
	xorl	%eax, %eax
	WRPKRU
	movq	%r8, %rdx
	movl	%r9d, %ecx
	subq	$(STUB_RESERVED + 8), %rsp
	.cfi_adjust_cfa_offset STUB_RESERVED + 8
	call	\function
	addq	$(STUB_RESERVED + 8), %rsp
	.cfi_adjust_cfa_offset -(STUB_RESERVED + 8)
	ret
	.cfi_endproc
	.endm

	.hidden	region_on_fault, region_on_call, region_on_visit
ENTER region_enter_fault, region_on_fault
ENTER region_enter_call, region_on_call
ENTER region_enter_visit, region_on_visit
