/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of covered threads, each dispatched to us by SIGSYS. A call is not made here but, by
 * a stub, in the program's own context with the key open (region/stub.S). Where it may touch a
 * region the stub has it dispatched a second time when it is over, and the hits are delivered.
 */
#include "base/counters.h"
#include "base/syscall.h"
#include "insn/insn.h"
#include "region/region.h"
#include "region/call_memory.h"
#include "region/copy.h"
#include "region/filter.h"
#include "region/set.h"
#include "region/thread.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <string.h>
#include <trapline/event.h>

#define DISPATCH_CODE 2 /* SYS_USER_DISPATCH; Debian 12's libc has no name for it */
#define CALL_LENGTH 2	/* bytes of syscall, and of int $0x80 */
#define VFORKS_MAX 64	/* threads in vfork() at one moment */
#define LONGEST_HANDLED_CLONE 128

static struct stub_frame vfork_frames[VFORKS_MAX];

static struct region_call call_of(const ucontext_t *context, uint64_t number)
{
	const greg_t *registers = context->uc_mcontext.gregs;

	return (struct region_call){
		.number = number,
		.argument = {(uint64_t)registers[REG_RDI], (uint64_t)registers[REG_RSI],
			     (uint64_t)registers[REG_RDX], (uint64_t)registers[REG_R10],
			     (uint64_t)registers[REG_R8], (uint64_t)registers[REG_R9]},
		.result = REGION_CALL_PENDING};
}

static void write_memory(uintptr_t to, const void *from, size_t length, long *result)
{
	if (!region_copy_to(to, from, length))
		*result = -EFAULT;
}

/* ---- frames ----------------------------------------------------------------------------- */

static void fill_frame(struct stub_frame *frame, ucontext_t *context, uintptr_t sp)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	uint32_t pkru = 0;

	region_key_change_saved(context, 0, 0, &pkru);
	frame->pc = (uint64_t)registers[REG_RIP];
	frame->sp = sp;
	frame->flags = (uint64_t)registers[REG_EFL];
	frame->rdi = (uint64_t)registers[REG_RDI];
	frame->rsi = (uint64_t)registers[REG_RSI];
	frame->rdx = (uint64_t)registers[REG_RDX];
	frame->r10 = (uint64_t)registers[REG_R10];
	frame->r8 = (uint64_t)registers[REG_R8];
	frame->r9 = (uint64_t)registers[REG_R9];
	frame->rights = pkru & region_key_bits();
	frame->number = (uint64_t)registers[REG_RAX];
	frame->report = 0;
	frame->child = 0;
	frame->hidden = region_thread.hidden;
}

/* In the room that our entry has left below the signal frame: return address, padding, frame. */
static struct stub_frame *place_frame(ucontext_t *context)
{
	struct stub_frame *frame = (struct stub_frame *)((uintptr_t)context - 16 - STUB_RESERVED);

	fill_frame(frame, context, (uintptr_t)context->uc_mcontext.gregs[REG_RSP]);
	return frame;
}

/* On a stack that nobody uses yet. */
static struct stub_frame *place_child_frame(ucontext_t *context, uintptr_t sp)
{
	struct stub_frame *frame = (struct stub_frame *)((sp - sizeof(struct stub_frame)) & ~15ul);

	fill_frame(frame, context, sp);
	return frame;
}

static void open_key(ucontext_t *context)
{
	uint32_t pkru;

	region_key_change_saved(context, region_key_bits(), 0, &pkru);
}

static void go(ucontext_t *context, const char *stub)
{
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)stub;
}

static void go_with_frame(ucontext_t *context, struct stub_frame *frame, const char *stub)
{
	context->uc_mcontext.gregs[REG_RSP] = (greg_t)frame;
	open_key(context);
	go(context, stub);
}

/* The call is over without having been made: as the processor would have left it. */
static void complete(ucontext_t *context, long result)
{
	greg_t *registers = context->uc_mcontext.gregs;

	registers[REG_RAX] = result;
	registers[REG_RCX] = registers[REG_RIP];
	registers[REG_R11] = registers[REG_EFL];
}

/* ---- signal masks ----------------------------------------------------------------------- */

static uint64_t changed_mask(uint64_t mask, uint64_t set, long how, long *result)
{
	switch (how) {
	case SIG_BLOCK:
		return mask | set;
	case SIG_UNBLOCK:
		return mask & ~set;
	case SIG_SETMASK:
		return set;
	default:
		*result = -EINVAL;
		return mask;
	}
}

/* rt_sigprocmask(2), on the mask that returning from our handler will set. */
static void change_mask(ucontext_t *context, const struct region_call *call)
{
	uint64_t mask = saved_mask(context) | region_thread.hidden, set = 0, changed = mask;
	long result = 0;

	if (call->argument[3] != sizeof(mask))
		result = -EINVAL;
	else if (call->argument[1] && !region_copy_from(&set, call->argument[1], sizeof(set)))
		result = -EFAULT;
	else if (call->argument[1])
		changed = changed_mask(mask, set, (long)call->argument[0], &result);
	if (!result && call->argument[2])
		write_memory(call->argument[2], &mask, sizeof(mask), &result);
	if (!result)
		set_saved_mask(context, region_thread_filter_mask(changed) &
						~(SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP)));
	complete(context, result);
}

/* rt_sigaction(2): the kernel gets a mask that leaves faults possible. */
static void change_action(ucontext_t *context, const struct region_call *call)
{
	struct kernel_action action, old;
	int number = (int)call->argument[0];
	uint64_t hidden = region_thread_hidden_action(number);
	bool change = call->argument[1] != 0;
	long result;

	if (change && !region_copy_from(&action, call->argument[1], sizeof(action))) {
		complete(context, -EFAULT);
		return;
	}
	/* posix_spawn()'s child resets every signal before it calls execve(), which resets ours. */
	if (change && region_thread_needs(number, &action))
		change = false;
	if (change)
		region_thread_filter_action(number, &action);
	result = raw_syscall6(SYS_rt_sigaction, number, change ? (long)&action : 0, (long)&old,
			      (long)call->argument[3], 0, 0);
	old.mask |= hidden;
	if (!result && call->argument[2])
		write_memory(call->argument[2], &old, sizeof(old), &result);
	complete(context, result);
}

/* rt_sigreturn(2) restores the mask in the frame at sp: Linux, struct rt_sigframe; at the call the
 * return address is popped, so siginfo or ucontext's place does not depend on it. */
static void return_from_signal(ucontext_t *context)
{
	ucontext_t *restored = (ucontext_t *)context->uc_mcontext.gregs[REG_RSP];

	set_saved_mask(restored,
		       region_thread_filter_mask(saved_mask(restored) | region_thread.hidden));
	go(context, region_stub_bare);
}

/* A mask that holds for the time of the call. */
static void substitute_mask(struct stub_frame *frame, greg_t *pointer)
{
	if (*pointer && region_copy_from(&frame->mask, (uintptr_t)*pointer, sizeof(frame->mask)) &&
	    frame->mask & PROTECTED_SIGNALS) {
		frame->mask &= ~PROTECTED_SIGNALS;
		*pointer = (greg_t)&frame->mask;
	}
}

/* pselect6's last argument points to a pointer and a size. */
static void substitute_indirect_mask(struct stub_frame *frame, greg_t *pointer)
{
	greg_t mask;

	if (!*pointer || !region_copy_from(&frame->mask_pointer, (uintptr_t)*pointer,
					   sizeof(frame->mask_pointer) + sizeof(frame->mask_size)))
		return;
	mask = (greg_t)frame->mask_pointer;
	substitute_mask(frame, &mask);
	frame->mask_pointer = (uint64_t)mask;
	*pointer = (greg_t)&frame->mask_pointer;
}

static void substitute(struct stub_frame *frame, ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;

	switch (frame->number) {
	case SYS_rt_sigsuspend:
		substitute_mask(frame, &registers[REG_RDI]);
		break;
	case SYS_ppoll:
		substitute_mask(frame, &registers[REG_R10]);
		break;
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
		substitute_mask(frame, &registers[REG_R8]);
		break;
	case SYS_pselect6:
		substitute_indirect_mask(frame, &registers[REG_R9]);
		break;
	}
}

/* ---- new tasks -------------------------------------------------------------------------- */

struct clone_head {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size;
};

/* A task of this memory whose thread-local storage belongs to another running one has no place to
 * keep what we need. */
static uint64_t child_of(uint64_t flags)
{
	if (!(flags & CLONE_VM))
		return STUB_CHILD_COVER | STUB_CHILD_FORKED;
	if (flags & (CLONE_SETTLS | CLONE_VFORK))
		return STUB_CHILD_COVER;
	counter_increment(COUNTER_THREADS_UNCOVERED);
	return 0;
}

static void share_stack(ucontext_t *context, uint64_t flags)
{
	greg_t *registers = context->uc_mcontext.gregs;

	for (int i = 0; i < VFORKS_MAX; i++) {
		struct stub_frame *frame = &vfork_frames[i];
		uint64_t expected = 0;

		if (!__atomic_compare_exchange_n(&frame->busy, &expected, 1, false,
						 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		fill_frame(frame, context, (uintptr_t)registers[REG_RSP]);
		frame->child = child_of(flags);
		frame->rbx = (uint64_t)registers[REG_RBX];
		registers[REG_RBX] = (greg_t)frame;
		open_key(context);
		go(context, region_stub_vfork);
		return;
	}
	complete(context, -EAGAIN);
}

static void create(ucontext_t *context, uint64_t flags, greg_t *stack)
{
	struct stub_frame *frame, *child;

	if (flags & CLONE_VM && !(stack && *stack)) {
		share_stack(context, flags);
		return;
	}
	frame = place_frame(context);
	frame->child = child_of(flags);
	if (stack && *stack) {
		child = place_child_frame(context, (uintptr_t)*stack);
		child->child = frame->child;
		*stack = (greg_t)child;
	}
	go_with_frame(context, frame, region_stub_clone);
}

static void create_by_struct(ucontext_t *context, const struct region_call *call)
{
	greg_t *registers = context->uc_mcontext.gregs;
	struct stub_frame *frame = place_frame(context);
	struct clone_head *head = (struct clone_head *)frame->clone_arguments;
	size_t size = call->argument[1];
	greg_t top;

	if (size < sizeof(*head) || size > LONGEST_HANDLED_CLONE ||
	    !region_copy_from(frame->clone_arguments, call->argument[0], size)) {
		/* The kernel refuses it, or knows more about it than we do. */
		counter_increment(COUNTER_THREADS_UNCOVERED);
		go_with_frame(context, frame, region_stub_call);
		return;
	}
	top = head->stack ? (greg_t)(head->stack + head->stack_size) : 0;
	create(context, head->flags, &top);
	if (head->stack) {
		head->stack_size = (uint64_t)top - head->stack;
		registers[REG_RDI] = (greg_t)head;
	}
}

/* ---- calls ------------------------------------------------------------------------------ */

struct overlap {
	bool any;
};

static void note_overlap(void *context, uintptr_t first, size_t length, unsigned access)
{
	struct overlap *overlap = context;

	(void)access;
	overlap->any = overlap->any || region_set_overlaps(first, first + length);
}

/* A callback's own calls are not reported. */
static bool inside_handler(const ucontext_t *context)
{
	return saved_mask(context) & SIGNAL_BIT(SIGTRAP) && region_events->is_inside();
}

static bool needs_report(const struct region_call *call, const ucontext_t *context)
{
	struct overlap overlap = {false};
	uintptr_t start;
	size_t length;

	if (region_call_maps(call, &start, &length))
		return true;
	if (!region_call_memory(call, note_overlap, &overlap))
		counter_increment(COUNTER_CALLS_UNATTRIBUTED);
	return overlap.any && !inside_handler(context);
}

static void pass(ucontext_t *context, const struct region_call *call, bool wide)
{
	struct stub_frame *frame = place_frame(context);

	substitute(frame, context);
	frame->report = wide && needs_report(call, context);
	go_with_frame(context, frame, wide ? region_stub_call : region_stub_call_32);
}

static void begin_call(ucontext_t *context, uint64_t number, bool wide)
{
	greg_t *registers = context->uc_mcontext.gregs;
	struct region_call call = call_of(context, number);

	if (!wide) {
		pass(context, &call, false);
		return;
	}
	switch (number) {
	case SYS_rt_sigprocmask:
		change_mask(context, &call);
		break;
	case SYS_rt_sigaction:
		change_action(context, &call);
		break;
	case SYS_rt_sigreturn:
		return_from_signal(context);
		break;
	case SYS_exit:
	case SYS_exit_group:
		go(context, region_stub_bare);
		break;
	case SYS_fork:
		create(context, 0, NULL);
		break;
	case SYS_vfork:
		create(context, CLONE_VM | CLONE_VFORK, NULL);
		break;
	case SYS_clone:
		create(context, call.argument[0], &registers[REG_RSI]);
		break;
	case SYS_clone3:
		create_by_struct(context, &call);
		break;
	default:
		pass(context, &call, true);
	}
}

/* ---- the end of a call ------------------------------------------------------------------ */

struct delivery {
	const struct stub_frame *frame;
	ucontext_t *context;
	struct region_guard guard;
};

static void deliver_overlaps(void *argument, uintptr_t first, size_t length, unsigned access)
{
	struct delivery *delivery = argument;
	struct insn_access found = {.pc = delivery->frame->pc - CALL_LENGTH,
				    .first = first,
				    .length = length,
				    .access = access | TL_KERNEL};
	struct region_cursor cursor = {0};
	struct region_entry entry;

	while (region_set_next(first, first + length, &cursor, &entry)) {
		if (!(access & entry.access)) {
			counter_increment(COUNTER_HITS_FILTERED);
			continue;
		}
		region_callback_begin(delivery->guard);
		region_events->hit(entry.index, entry.generation, &found, delivery->context);
		region_callback_end();
	}
}

static void end_call(ucontext_t *context, struct region_guard guard)
{
	greg_t *registers = context->uc_mcontext.gregs;
	struct stub_frame frame = *(struct stub_frame *)registers[REG_RSP];
	struct region_call call;
	struct delivery delivery = {&frame, context, guard};
	uintptr_t start;
	size_t length;
	uint32_t pkru;

	registers[REG_RDI] = (greg_t)frame.rdi;
	registers[REG_RSI] = (greg_t)frame.rsi;
	registers[REG_RDX] = (greg_t)frame.rdx;
	registers[REG_R10] = (greg_t)frame.r10;
	registers[REG_R8] = (greg_t)frame.r8;
	registers[REG_R9] = (greg_t)frame.r9;
	registers[REG_RIP] = (greg_t)frame.pc;
	registers[REG_RSP] = (greg_t)frame.sp;
	registers[REG_EFL] = (greg_t)frame.flags;
	complete(context, (long)frame.result);
	region_key_change_saved(context, 0, (uint32_t)frame.rights, &pkru);
	call = call_of(context, frame.number);
	call.result = (int64_t)frame.result;
	if (region_call_maps(&call, &start, &length))
		region_refresh(start, length);
	else
		region_call_memory(&call, deliver_overlaps, &delivery);
}

/* ---- the signal ------------------------------------------------------------------------- */

static void dispatch_call(siginfo_t *info, ucontext_t *context, struct region_guard *guard)
{
	if (region_thread.forked) {
		region_thread.forked = 0;
		region_after_fork();
	}
	if ((uintptr_t)context->uc_mcontext.gregs[REG_RIP] == (uintptr_t)region_stub_reported) {
		end_call(context, *guard);
	} else if (region_filter_ends_all(context, info->si_arch)) {
		region_thread_uncover(context, guard);
		region_end();
		context->uc_mcontext.gregs[REG_RIP] -= CALL_LENGTH;
	} else if (!region_any()) {
		region_thread_uncover(context, guard);
		context->uc_mcontext.gregs[REG_RIP] -= CALL_LENGTH;
	} else {
		begin_call(context, (uint64_t)context->uc_mcontext.gregs[REG_RAX],
			   info->si_arch == AUDIT_ARCH_X86_64);
	}
}

void region_on_call(int signal, siginfo_t *info, void *context, uint32_t rights)
{
	int saved_errno = errno;
	struct region_guard guard;

	if (info->si_code != DISPATCH_CODE || !region_thread.covered) {
		region_rights_write(rights);
		region_thread_chain(signal, info, context);
		errno = saved_errno;
		return;
	}
	guard = region_guard_enter(rights);
	dispatch_call(info, context, &guard);
	region_guard_leave(guard);
	region_thread_clean(context);
	errno = saved_errno;
}
