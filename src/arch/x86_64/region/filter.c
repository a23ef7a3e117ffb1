/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions make system calls in the program's name, and change the place from which its own are
 * made. What a filter says of those is asked of the filter itself before it is on.
 */
#include "region/filter.h"

#include "base/memory.h"
#include "base/seccomp_run.h"
#include "base/syscall.h"
#include "region/copy.h"
#include "region/region.h"
#include "region/thread.h"
#include "signal/borrower.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>

#define FILTER_MOST 4096 /* BPF_MAXINSNS */
/* Numbers of calls by int $0x80: Linux, arch/x86/entry/syscalls/syscall_32.tbl. */
#define PRCTL_32 172
#define SECCOMP_32 354

/* Made for what the program does itself: without these a covered thread does not get on. */
static const int always[] = {SYS_rt_sigreturn, SYS_rt_sigaction, SYS_rt_sigprocmask};

/* For opening, closing and what is mapped anew, and under the lock around them. */
static const int changing[] = {SYS_openat,    SYS_read,	      SYS_close,     SYS_pkey_mprotect,
			       SYS_mprotect,  SYS_mmap,	      SYS_munmap,    SYS_getpid,
			       SYS_gettid,    SYS_tgkill,     SYS_nanosleep, SYS_clock_gettime,
			       SYS_futex,     SYS_getdents64, SYS_lseek,     SYS_rt_tgsigqueueinfo,
			       SYS_newfstatat};

static const int copying[] = {SYS_process_vm_readv, SYS_process_vm_writev, SYS_gettid};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static bool passes(const struct sock_filter *code, unsigned length, const struct seccomp_data *call)
{
	unsigned verdict = seccomp_run(code, length, call) & SECCOMP_RET_ACTION_FULL;

	return verdict == SECCOMP_RET_ALLOW || verdict == SECCOMP_RET_LOG;
}

static bool all_pass(const struct sock_filter *code, unsigned length, const int *numbers,
		     size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct seccomp_data call = {.nr = numbers[i], .arch = AUDIT_ARCH_X86_64};

		if (!passes(code, length, &call))
			return false;
		memset(call.args, 0xff, sizeof(call.args));
		if (!passes(code, length, &call))
			return false;
	}
	return true;
}

/* Of a new task. */
static bool dispatching_passes(const struct sock_filter *code, unsigned length)
{
	struct seccomp_data call = {.nr = SYS_prctl,
				    .arch = AUDIT_ARCH_X86_64,
				    .args = {PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON,
					     (uintptr_t)region_stub_begin,
					     region_stub_end - region_stub_begin,
					     (uintptr_t)&region_thread.selector}};

	return passes(code, length, &call);
}

/* Where a call is made is the stub, not the program's place. */
static bool looks_at_place(const struct sock_filter *code, unsigned length)
{
	const unsigned place = offsetof(struct seccomp_data, instruction_pointer);

	for (unsigned i = 0; i < length; i++)
		if (code[i].code == (BPF_LD | BPF_W | BPF_ABS) &&
		    (code[i].k == place || code[i].k == place + 4))
			return true;
	return false;
}

enum region_filter region_filter_judge(const struct sock_filter *code, unsigned length,
				       bool *copies)
{
	*copies = all_pass(code, length, copying, COUNT(copying));
	if (looks_at_place(code, length) || !dispatching_passes(code, length) ||
	    !all_pass(code, length, always, COUNT(always)))
		return REGION_FILTER_ENDS;
	return all_pass(code, length, changing, COUNT(changing)) ? REGION_FILTER_FREE
								 : REGION_FILTER_FREEZES;
}

static bool judged_to_end(const struct sock_filter *code, unsigned length)
{
	bool copies;
	enum region_filter verdict = region_filter_judge(code, length, &copies);

	if (!copies)
		region_copy_alone();
	if (verdict == REGION_FILTER_FREEZES)
		region_freeze();
	return verdict == REGION_FILTER_ENDS;
}

/* What the kernel will refuse is no filter. */
static bool filter_ends(uintptr_t address)
{
	struct sock_fprog program;
	struct sock_filter *code;
	size_t size;
	bool ends = false;

	if (!region_copy_from(&program, address, sizeof(program)) || !program.len ||
	    program.len > FILTER_MOST)
		return false;
	size = program.len * sizeof(*code);
	code = page_allocate(size);
	if (!code)
		return true;
	if (region_copy_from(code, (uintptr_t)program.filter, size))
		ends = judged_to_end(code, program.len);
	page_free(code, size);
	return ends;
}

enum restriction { NONE, WHOLE, FILTERED };

static enum restriction by_mode(greg_t mode)
{
	if (mode == SECCOMP_MODE_STRICT)
		return WHOLE;
	return mode == SECCOMP_MODE_FILTER ? FILTERED : NONE;
}

static enum restriction restriction_of(const greg_t *registers, bool wide)
{
	greg_t number = registers[REG_RAX];
	int first = (int)registers[wide ? REG_RDI : REG_RBX];
	greg_t second = registers[wide ? REG_RSI : REG_RCX];

	if (number == (wide ? SYS_seccomp : SECCOMP_32))
		return first == SECCOMP_SET_MODE_STRICT	  ? WHOLE
		       : first == SECCOMP_SET_MODE_FILTER ? FILTERED
							  : NONE;
	if (number != (wide ? SYS_prctl : PRCTL_32))
		return NONE;
	if (first == PR_SET_SYSCALL_USER_DISPATCH)
		return second == PR_SYS_DISPATCH_OFF ? NONE : WHOLE;
	return first == PR_SET_SECCOMP ? by_mode(second) : NONE;
}

/* Of a frozen process the calls to judge by may be forbidden already. */
bool region_filter_ends_all(const ucontext_t *context, unsigned architecture)
{
	const greg_t *registers = context->uc_mcontext.gregs;
	bool wide = architecture == AUDIT_ARCH_X86_64;
	enum restriction restriction = restriction_of(registers, wide);

	if (restriction == NONE)
		return false;
	if (region_is_frozen()) {
		region_copy_alone();
		return false;
	}
	/* A child that borrows this memory leaves alone: its restriction is its own. */
	return borrower_is() || restriction == WHOLE || !wide ||
	       filter_ends((uintptr_t)registers[REG_RDX]);
}
