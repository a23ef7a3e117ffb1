/* SPDX-License-Identifier: Apache-2.0 */
/* System calls that a signal has interrupted, as its handler finds them. */
#ifndef SIGNAL_RESTART_H
#define SIGNAL_RESTART_H

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define X86_SYSCALL_LENGTH 2 /* 0f 05 */

/* Of signal(7): those that end with EINTR unless the handler's action says SA_RESTART. The kernel
 * begins some others again whatever it says, fork(2) and FUTEX_LOCK_PI among them. */
static inline bool x86_ends_by_handler(long call, long second)
{
	static const short calls[] = {
		SYS_read,    SYS_readv,	   SYS_write,	  SYS_writev,	    SYS_ioctl,
		SYS_open,    SYS_openat,   SYS_openat2,	  SYS_creat,	    SYS_wait4,
		SYS_waitid,  SYS_accept,   SYS_accept4,	  SYS_connect,	    SYS_recvfrom,
		SYS_recvmsg, SYS_sendto,   SYS_sendmsg,	  SYS_flock,	    SYS_fcntl,
		SYS_splice,  SYS_tee,	   SYS_vmsplice,  SYS_mq_timedsend, SYS_mq_timedreceive,
		SYS_preadv,  SYS_pwritev,  SYS_getrandom, SYS_sendfile,	    SYS_recvmmsg,
		SYS_preadv2, SYS_pwritev2, SYS_sendmmsg,
	};
	const long operation = second & ~(long)(FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME);

	if (call == SYS_futex)
		return operation == FUTEX_WAIT || operation == FUTEX_WAIT_BITSET;
	for (unsigned i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i] == call)
			return true;
	return false;
}

/*
 * The kernel has set the thread back to the instruction, with the call's number in rax; rcx is
 * where it would have returned to and r11 the flags, since the instruction itself wrote those. At a
 * breakpoint on that instruction, which a call in a loop reaches with rcx as it was, the flags of
 * the frame have the resume flag besides. Accepted: a thread that a signal meets right before the
 * same instruction as the last time, rcx and flags unchanged since then, is taken for one that has
 * made its call: it is told EINTR of it a moment early.
 */
static inline bool x86_begins_again(const ucontext_t *context)
{
	const greg_t *registers = context->uc_mcontext.gregs;

	return registers[REG_RCX] == registers[REG_RIP] + X86_SYSCALL_LENGTH &&
	       registers[REG_R11] == registers[REG_EFL] &&
	       x86_ends_by_handler(registers[REG_RAX], registers[REG_RSI]);
}

static inline void x86_end_call(ucontext_t *context)
{
	greg_t *registers = context->uc_mcontext.gregs;

	if (!x86_begins_again(context))
		return;
	registers[REG_RIP] += X86_SYSCALL_LENGTH;
	registers[REG_RAX] = -EINTR;
}

#endif
