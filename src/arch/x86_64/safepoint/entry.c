/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries of the functions in which a thread counts as stopped. A collector finds roots in the
 * registers that a call preserves; a C function would already have saved them in a frame of its
 * own, which is gone when the thread runs on in its blocking region. So they are saved here, before
 * anything changes them, and handed on as fifth argument:
 *
 *	r8 -> r15 r14 r13 r12 rbp rbx return-address     (struct safepoint_saved)
 */
#include "safepoint/safepoint.h"

#define ENTRY(name, target)                                                             \
	__asm__(".pushsection .text\n"                                                  \
		".globl " #name "\n"                                                    \
		".type " #name ", @function\n" #name ":\n"                              \
		".cfi_startproc\n\t"                                                    \
		"endbr64\n\t"                                                           \
		"pushq %rbx\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset %rbx, 0\n\t" \
		"pushq %rbp\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_rel_offset %rbp, 0\n\t" \
		"pushq %r12\n\t.cfi_adjust_cfa_offset 8\n\t"                            \
		"pushq %r13\n\t.cfi_adjust_cfa_offset 8\n\t"                            \
		"pushq %r14\n\t.cfi_adjust_cfa_offset 8\n\t"                            \
		"pushq %r15\n\t.cfi_adjust_cfa_offset 8\n\t"                            \
		"movq %rsp, %r8\n\t"                                                    \
		"subq $8, %rsp\n\t.cfi_adjust_cfa_offset 8\n\t"                         \
		"call " #target "\n\t" /* The target preserved r12 to r15. */           \
		"addq $40, %rsp\n\t.cfi_adjust_cfa_offset -40\n\t"                      \
		"popq %rbp\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_restore %rbp\n\t"       \
		"popq %rbx\n\t.cfi_adjust_cfa_offset -8\n\t.cfi_restore %rbx\n\t"       \
		"ret\n"                                                                 \
		".cfi_endproc\n"                                                        \
		".size " #name ", . - " #name "\n"                                      \
		".popsection\n")

ENTRY(tl_safepoint_enter_blocking, safepoint_enter_blocking);
ENTRY(tl_safepoint_stop, safepoint_stop);
ENTRY(tl_safepoint_handshake, safepoint_handshake);
