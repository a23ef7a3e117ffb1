/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/batch.h"

#include "base/syscall.h"
#include "inject/memory.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
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

static int run_singly(struct batch *batch, struct remote *remote)
{
	bool failed = false;
	int err = 0;

	for (unsigned i = 0; i < batch->count && !err; i++) {
		struct injected_call *call = &batch->call[i];

		if (failed && !call->cleanup)
			continue;
		err = run_one(remote, call);
		failed |= !call->cleanup && raw_failed((long)call->result);
	}
	return err;
}

/* Signals of others that arrived during the run are sent once more, now that they are blocked: to
 * the thread or to the process, as they were. After an error the run has told no ids. Accepted: a
 * signal that kill(2) sent to the process comes from the process itself then, if the thread is not
 * its first (mask/mask.c). */
static void send_again(const struct batch *batch, struct remote *remote, const siginfo_t *info)
{
	const long process = REMOTE_CALL(remote, SYS_getpid, 0),
		   thread = REMOTE_CALL(remote, SYS_gettid, 0);

	if (process < 0 || thread < 0 ||
	    memory_write(remote->tid, batch->table, info, sizeof(*info)))
		return;
	if (info->si_code == SI_TKILL)
		REMOTE_CALL(remote, SYS_rt_tgsigqueueinfo, (uint64_t)process, (uint64_t)thread,
			    (uint64_t)info->si_signo, batch->table);
	else if (REMOTE_CALL(remote, SYS_rt_sigqueueinfo, (uint64_t)process,
			     (uint64_t)info->si_signo, batch->table))
		REMOTE_CALL(remote, SYS_kill, (uint64_t)process, (uint64_t)info->si_signo);
}

int batch_run(struct batch *batch, struct remote *remote)
{
	const size_t length = batch->count * sizeof(batch->call[0]);
	struct remote_run run = {.registers = remote->registers, .signal = BATCH_SIGNAL};
	int err, unread;

	if (!batch->run || !remote->batches)
		return run_singly(batch, remote);
	run.registers.rip = batch->run;
	/* the thread is in no call that the kernel would begin again */
	run.registers.orig_rax = (uint64_t)-1;
	run.registers.rbx = batch->table;
	run.registers.r12 = batch->table + length;
	run.registers.rbp = BATCH_SIGNAL;
	run.registers.r14 = run.registers.r15 = 0;
	err = memory_write(remote->tid, batch->table, batch->call, length);
	if (err)
		return err;
	err = remote_run(remote, &run);
	/* Some calls may have been made even if the run has failed. */
	unread = memory_read(remote->tid, batch->table, batch->call, length);
	for (unsigned i = 0; i < run.foreign_count; i++)
		send_again(batch, remote, &run.foreign[i]);
	return err ? err : unread;
}
