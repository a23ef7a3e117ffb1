/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Safepoints whose polls load through a pointer of the thread's own (as thread-local handshakes of
 * Java virtual machines do, JEP 312): armed by turning the pointer to a page that cannot be read.
 * The page is made once and its rights never change.
 */
#include <errno.h>

#include "base/memory.h"
#include "base/syscall.h"
#include "insn/arch.h"
#include "insn/length.h"
#include "safepoint/safepoint.h"
#include "signal/arch.h"
#include "region/fault.h"

#define TRAPS 64
#define TRAP_SIZE 4096ul
#define INSTRUCTION_MAX INSN_MAX_LENGTH

/* Which safepoint each trap page belongs to. Written under traps_lock, and only while the safepoint
 * has no registered thread; handlers read it without the lock. */
static struct {
	uintptr_t page;
	struct tl_safepoint *safepoint;
} traps[TRAPS];
static pthread_mutex_t traps_lock = PTHREAD_MUTEX_INITIALIZER;

static struct tl_safepoint *find_trap(uintptr_t address)
{
	uintptr_t page = address & ~(TRAP_SIZE - 1);

	for (int i = 0; page && i < TRAPS; i++)
		if (__atomic_load_n(&traps[i].page, __ATOMIC_ACQUIRE) == page)
			return traps[i].safepoint;
	return NULL;
}

/* The thread is executing it, so its page can be read; what follows on the next one perhaps not. */
static int poll_length(uintptr_t pc)
{
	size_t here = TRAP_SIZE - pc % TRAP_SIZE;
	int length =
		insn_length((const uint8_t *)pc, here < INSTRUCTION_MAX ? here : INSTRUCTION_MAX);
	uint8_t bytes[INSTRUCTION_MAX];
	ssize_t available;

	if (length != -ENODATA)
		return length;
	available = raw_read_memory(bytes, pc, sizeof(bytes));
	return available > 0 ? insn_length(bytes, (size_t)available) : -EFAULT;
}

/* Resumes the thread after the poll, a load whose value is never used. */
static bool skip_poll(ucontext_t *context)
{
	uintptr_t pc = signal_arch.pc(context);
	int length = poll_length(pc);

	if (length > 0)
		signal_arch.go_on_at(context, pc + (uintptr_t)length);
	return length > 0;
}

static bool on_fault(const siginfo_t *info, ucontext_t *context)
{
	struct tl_safepoint *safepoint = find_trap((uintptr_t)info->si_addr);
	struct safepoint_thread *thread = safepoint ? safepoint_self(safepoint) : NULL;

	if (!thread || !skip_poll(context))
		return false;
	/* In a blocking region it counts as stopped already, and may run. */
	if (!thread->blocking_depth)
		safepoint_park(thread, context);
	return true;
}

static int enter(uintptr_t page, struct tl_safepoint *safepoint)
{
	int err = -ENOSPC;

	pthread_mutex_lock(&traps_lock);
	for (int i = 0; i < TRAPS && err; i++) {
		if (traps[i].page)
			continue;
		traps[i].safepoint = safepoint;
		__atomic_store_n(&traps[i].page, page, __ATOMIC_RELEASE);
		err = 0;
	}
	pthread_mutex_unlock(&traps_lock);
	return err;
}

int safepoint_open_trap(struct tl_safepoint *safepoint)
{
	void *page = page_allocate(TRAP_SIZE);
	int err;

	if (!page)
		return -ENOMEM;
	err = mprotect(page, TRAP_SIZE, PROT_NONE) ? -errno : fault_claim(on_fault);
	if (!err)
		err = enter((uintptr_t)page, safepoint);
	if (err)
		page_free(page, TRAP_SIZE);
	else
		safepoint->trap = page;
	return err;
}

void safepoint_close_trap(struct tl_safepoint *safepoint)
{
	if (!safepoint->trap)
		return;
	pthread_mutex_lock(&traps_lock);
	for (int i = 0; i < TRAPS; i++)
		if (traps[i].page == (uintptr_t)safepoint->trap)
			__atomic_store_n(&traps[i].page, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&traps_lock);
	page_free((void *)safepoint->trap, TRAP_SIZE);
	safepoint->trap = NULL;
}
