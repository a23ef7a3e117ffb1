/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/batch.h"

#include "base/syscall.h"
#include "inject/memory.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* The code of INJECTED_RUN knows these offsets. */
#define AT(member, offset) (offsetof(struct injected_call, member) == (offset))
_Static_assert(AT(number, 0) && AT(argument, 8) && AT(from, 56) && AT(index, 64) &&
		       AT(cleanup, 72) && AT(result, 80) && sizeof(struct injected_call) == 88,
	       "the layout of struct injected_call");

struct injected_call *batch_add(struct batch *batch, long number, const uint64_t arguments[6])
{
	struct injected_call *call = &batch->call[batch->count++];

	*call = (struct injected_call){.number = (uint64_t)number, .result = INJECTED_NOT_MADE};
	memcpy(call->argument, arguments, sizeof(call->argument));
	return call;
}

int batch_error(const struct batch *batch)
{
	for (unsigned i = 0; i < batch->count; i++) {
		const struct injected_call *call = &batch->call[i];

		if (call->cleanup)
			continue;
		if (call->result == INJECTED_NOT_MADE)
			return -ECANCELED;
		if (raw_failed((long)call->result))
			return (int)call->result;
	}
	return 0;
}

static int run_one(struct remote *remote, struct injected_call *call)
{
	int value, err;

	if (call->from) {
		err = memory_read(remote->tid, call->from, &value, sizeof(value));
		if (err)
			return err;
		call->argument[call->index] = (uint64_t)(int64_t)value;
	}
	call->result = remote_call(remote, (long)call->number, call->argument);
	return 0;
}

static int unlock(struct batch *batch, struct remote *remote)
{
	long err;

	if (!batch->locked.length)
		return 0;
	err = REMOTE_CALL(remote, SYS_mprotect, batch->locked.start, batch->locked.length,
			  PROT_READ | PROT_WRITE);
	if (!err)
		batch->locked.length = 0;
	return (int)err;
}

static int run_singly(struct batch *batch, struct remote *remote)
{
	bool failed = false;
	int err = unlock(batch, remote);

	for (unsigned i = 0; i < batch->count && !err; i++) {
		struct injected_call *call = &batch->call[i];

		if (failed && !call->cleanup)
			continue;
		err = run_one(remote, call);
		failed |= !call->cleanup && raw_failed((long)call->result);
	}
	return err;
}

static int write_table(const struct batch *batch, pid_t tid, const void *from, size_t length)
{
	return batch->locked.length ? memory_write_code(tid, batch->table, from, length)
				    : memory_write(tid, batch->table, from, length);
}

/* Signals of others that arrived during the run are sent once more, now that they are blocked: to
 * the thread or to the process, as they were. After an error the run has told no ids. Accepted: a
 * signal that kill(2) sent to the process comes from the process itself then, if the thread is not
 * its first (mask/mask.c). */
static void send_again(const struct batch *batch, struct remote *remote, const siginfo_t *info)
{
	const long process = REMOTE_CALL(remote, SYS_getpid, 0),
		   thread = REMOTE_CALL(remote, SYS_gettid, 0);

	if (process < 0 || thread < 0 || write_table(batch, remote->tid, info, sizeof(*info)))
		return;
	if (info->si_code == SI_TKILL)
		REMOTE_CALL(remote, SYS_rt_tgsigqueueinfo, (uint64_t)process, (uint64_t)thread,
			    (uint64_t)info->si_signo, batch->table);
	else if (REMOTE_CALL(remote, SYS_rt_sigqueueinfo, (uint64_t)process,
			     (uint64_t)info->si_signo, batch->table))
		REMOTE_CALL(remote, SYS_kill, (uint64_t)process, (uint64_t)info->si_signo);
}

/* The registers that INJECTED_RUN begins with. */
static void set_registers(const struct batch *batch, struct user_regs_struct *registers)
{
	registers->rip = batch->run;
	/* the thread is in no call that the kernel would begin again */
	registers->orig_rax = (uint64_t)-1;
	registers->rax = batch->locked.length ? SYS_mprotect : 0;
	registers->rdi = batch->locked.start;
	registers->rsi = batch->locked.length;
	registers->rdx = PROT_READ | PROT_WRITE;
	registers->rbx = batch->table;
	registers->r12 = batch->table + batch->count * sizeof(batch->call[0]);
	registers->rbp = BATCH_SIGNAL;
	registers->r14 = registers->r15 = 0;
}

/* Was what is locked unlocked? The run ends with the error in rbx if not. */
static int note_unlocked(struct batch *batch, const struct user_regs_struct *registers)
{
	if (batch->locked.length && raw_failed((long)registers->rbx))
		return (int)registers->rbx;
	batch->locked.length = 0;
	return 0;
}

int batch_run(struct batch *batch, struct remote *remote)
{
	const size_t length = batch->count * sizeof(batch->call[0]);
	struct remote_run run = {.registers = remote->registers, .signal = BATCH_SIGNAL};
	int err, unread;

	if (!batch->run || !remote->batches)
		return run_singly(batch, remote);
	set_registers(batch, &run.registers);
	err = write_table(batch, remote->tid, batch->call, length);
	if (err)
		return err;
	err = remote_run(remote, &run);
	if (!err)
		err = note_unlocked(batch, &run.registers);
	/* Some calls may have been made even if the run has failed. */
	unread = memory_read(remote->tid, batch->table, batch->call, length);
	for (unsigned i = 0; i < run.foreign_count; i++)
		send_again(batch, remote, &run.foreign[i]);
	return err ? err : unread;
}
