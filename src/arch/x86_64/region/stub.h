/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that runs in the program's own context between a dispatched system call and its return:
 * region/stub.S. [region_stub_begin, region_stub_end) is the range from which Syscall User Dispatch
 * lets system calls pass.
 */
#ifndef REGION_STUB_H
#define REGION_STUB_H

/* Byte offsets in struct stub_frame, for the assembler. */
#define STUB_PC 0
#define STUB_SP 8
#define STUB_FLAGS 16
#define STUB_RDI 24
#define STUB_RSI 32
#define STUB_RDX 40
#define STUB_R10 48
#define STUB_R8 56
#define STUB_R9 64
#define STUB_RESULT 72
#define STUB_RIGHTS 80
#define STUB_REPORT 88
#define STUB_CHILD 104
#define STUB_HIDDEN 112
#define STUB_RBX 120
#define STUB_BUSY 128

/* Left free by a handler's entry between the signal frame and the handler's own stack: what is put
 * there outlives the handler and does not overwrite what rt_sigreturn(2) is to read. */
#define STUB_RESERVED 288
#define STUB_CHILD_COVER 1
#define STUB_CHILD_FORKED 2

/* And in struct region_thread. */
#define THREAD_SELECTOR 0
#define THREAD_COVERED 1
#define THREAD_FORKED 2
#define THREAD_HIDDEN 8

#ifndef __ASSEMBLER__

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

/* What a stub needs to finish a call, on the program's stack: below the signal frame that brought
 * us the call, or at the top of a new task's stack. For vfork(), whose child goes on using the
 * stack of its parent, it comes from a pool. */
struct stub_frame {
	uint64_t pc, sp, flags;		     /* where and how the program goes on */
	uint64_t rdi, rsi, rdx, r10, r8, r9; /* its arguments */
	uint64_t result;
	uint64_t rights; /* to the key, put back after the call */
	uint64_t report; /* enum stub_report; 0: nobody needs to know that the call is over */
	uint64_t number;
	uint64_t child;	 /* STUB_CHILD_…: what to do where the call returns in a new task */
	uint64_t hidden; /* the new task's region_thread.hidden */
	uint64_t rbx;	 /* vfork(): the program's */
	uint64_t busy;	 /* vfork(): taken from the pool */
	/* Copies of arguments that the kernel gets instead of the program's. */
	uint64_t mask;
	uint64_t mask_pointer, mask_size;
	uint8_t clone_arguments[128];
};

_Static_assert(offsetof(struct stub_frame, pc) == STUB_PC &&
		       offsetof(struct stub_frame, sp) == STUB_SP &&
		       offsetof(struct stub_frame, flags) == STUB_FLAGS &&
		       offsetof(struct stub_frame, rdi) == STUB_RDI &&
		       offsetof(struct stub_frame, rsi) == STUB_RSI &&
		       offsetof(struct stub_frame, rdx) == STUB_RDX &&
		       offsetof(struct stub_frame, r10) == STUB_R10 &&
		       offsetof(struct stub_frame, r8) == STUB_R8 &&
		       offsetof(struct stub_frame, r9) == STUB_R9 &&
		       offsetof(struct stub_frame, result) == STUB_RESULT &&
		       offsetof(struct stub_frame, rights) == STUB_RIGHTS &&
		       offsetof(struct stub_frame, report) == STUB_REPORT &&
		       offsetof(struct stub_frame, child) == STUB_CHILD &&
		       offsetof(struct stub_frame, hidden) == STUB_HIDDEN &&
		       offsetof(struct stub_frame, rbx) == STUB_RBX &&
		       offsetof(struct stub_frame, busy) == STUB_BUSY,
	       "region/stub.S knows the layout");

_Static_assert(sizeof(struct stub_frame) == STUB_RESERVED && STUB_RESERVED % 16 == 0,
	       "a handler's entry leaves room for it");

#define STUB_SYMBOL extern const char __attribute__((visibility("hidden")))

STUB_SYMBOL region_stub_begin[], region_stub_end[];
STUB_SYMBOL region_stub_call[];	   /* sp: the frame */
STUB_SYMBOL region_stub_call_32[]; /* the same by int $0x80 */
STUB_SYMBOL region_stub_clone[];   /* sp: the frame, also in the new task */
STUB_SYMBOL region_stub_vfork[];   /* rbx: the frame */
STUB_SYMBOL region_stub_bare[];	   /* nothing changed; for calls that do not return */
STUB_SYMBOL region_stub_close[];   /* sp: the frame; the call is over */
STUB_SYMBOL region_stub_report[];  /* sp: the frame; about to be dispatched again */
STUB_SYMBOL region_stub_copies[], region_stub_copied[]; /* of region_stub_copy() */
STUB_SYMBOL region_stub_reported[]; /* where a call with `report` set is dispatched again */

/* Handlers' entries: open every key, so that no memory the handler uses is closed to it, then call
 * the function named, with the rights as the kernel had set them as a fourth argument. */
void region_enter_fault(int signal, siginfo_t *info, void *context); /* region_on_fault() */
void region_enter_call(int signal, siginfo_t *info, void *context);  /* region_on_call() */
void region_enter_visit(int signal, siginfo_t *info, void *context); /* region_on_visit() */
/* Where these and other handlers of ours return to: rt_sigreturn(2). */
void region_stub_return(void);

/* Bytes left of `length`: a fault ends it. */
size_t region_stub_copy(void *to, const void *from, size_t length);

/* Where the interrupted thread is about to have the end of a call dispatched, it does not. */
void region_stub_forget(ucontext_t *context);

void region_on_fault(int signal, siginfo_t *info, void *context, uint32_t rights);
void region_on_call(int signal, siginfo_t *info, void *context, uint32_t rights);
void region_on_visit(int signal, siginfo_t *info, void *context, uint32_t rights);

#endif
#endif
