/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/filters.h"

#include "base/seccomp_run.h"
#include "inject/batch.h"
#include "inject/status.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILTERS_MOST 128
#define CALL_LENGTH 2 /* bytes of `syscall`: the kernel tells what follows it */
#define ANY UINT64_MAX
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Of arguments that are addresses, lengths or numbers of descriptors any may come. */
struct wanted {
	long number;
	uint64_t arguments[6];
};

static const struct wanted entering[] = {
	{SYS_mmap, {ANY, ANY, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, ANY, 0}},
	{SYS_mmap, {ANY, ANY, PROT_READ | PROT_WRITE, MAP_SHARED, ANY, 0}},
	{SYS_mprotect, {ANY, ANY, PROT_READ | PROT_WRITE, ANY, ANY, ANY}},
	{SYS_munmap, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_socketpair, {AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ANY, ANY, ANY}},
	{SYS_recvmsg, {ANY, ANY, MSG_CMSG_CLOEXEC | MSG_DONTWAIT, ANY, ANY, ANY}},
	{SYS_close, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_rt_sigaction, {ANY, ANY, ANY, sizeof(uint64_t), ANY, ANY}},
	{SYS_rt_sigtimedwait, {ANY, ANY, ANY, sizeof(uint64_t), ANY, ANY}},
	{SYS_rt_tgsigqueueinfo, {ANY, ANY, SIGTRAP, ANY, ANY, ANY}},
	{SYS_sigaltstack, {0, ANY, ANY, ANY, ANY, ANY}},
	{SYS_rt_sigreturn, {ANY, ANY, ANY, ANY, ANY, ANY}},
	/* The vDSO's clock makes it where the machine's is none that it may read. */
	{SYS_clock_gettime, {ANY, ANY, ANY, ANY, ANY, ANY}},
};

/* src/handler/handler.c and what it calls; src/process/restriction.c has the same list. */
static const struct wanted handling[] = {
	{SYS_futex, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_nanosleep, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_rt_sigprocmask, {ANY, ANY, ANY, sizeof(uint64_t), ANY, ANY}},
	{SYS_gettid, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_getpid, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_prctl, {PR_GET_NAME, ANY, ANY, ANY, ANY, ANY}},
	{SYS_prctl, {PR_GET_TSC, ANY, ANY, ANY, ANY, ANY}},
	{SYS_process_vm_readv, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_getrusage, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_sched_yield, {ANY, ANY, ANY, ANY, ANY, ANY}},
	/* src/signal/interrupted.c */
	{SYS_rt_sigpending, {ANY, sizeof(uint64_t), ANY, ANY, ANY, ANY}},
	{SYS_rt_sigaction, {ANY, 0, ANY, sizeof(uint64_t), ANY, ANY}},
};

/* src/inject/batch.c: without these the calls of entering are made one by one. */
static const struct wanted batching[] = {
	{SYS_getpid, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_gettid, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_tgkill, {ANY, ANY, BATCH_SIGNAL, ANY, ANY, ANY}},
	{SYS_rt_tgsigqueueinfo, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_rt_sigqueueinfo, {ANY, ANY, ANY, ANY, ANY, ANY}},
	{SYS_kill, {ANY, ANY, ANY, ANY, ANY, ANY}},
};

bool filters_are_shown(void)
{
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {{0}};
	struct status own;

	return !syscall(SYS_capget, &header, data) && data[0].effective >> CAP_SYS_ADMIN & 1 &&
	       !status_read(getpid(), &own) && own.seccomp == SECCOMP_MODE_DISABLED;
}

static bool allows(const struct sock_filter *code, unsigned length, const struct wanted *wanted,
		   uint64_t call)
{
	struct seccomp_data data = {.nr = (int)wanted->number, .arch = AUDIT_ARCH_X86_64};

	for (uint64_t any = 0; any <= 1; any++) {
		unsigned verdict;

		data.instruction_pointer = any ? 0 : call + CALL_LENGTH;
		for (int i = 0; i < 6; i++)
			data.args[i] = wanted->arguments[i] == ANY ? any * (ANY >> 1)
								   : wanted->arguments[i];
		verdict = seccomp_run(code, length, &data) & SECCOMP_RET_ACTION_FULL;
		if (verdict != SECCOMP_RET_ALLOW && verdict != SECCOMP_RET_LOG)
			return false;
	}
	return true;
}

static bool allows_all(const struct sock_filter *code, unsigned length, const struct wanted *wanted,
		       size_t count, uint64_t call)
{
	for (size_t i = 0; i < count; i++)
		if (!allows(code, length, &wanted[i], call))
			return false;
	return true;
}

/* The last is told by ENOENT. */
struct filters filters_ask(pid_t tid, uint64_t call)
{
	static struct sock_filter code[BPF_MAXINSNS];
	struct filters filters = {FILTERS_ALL, 0, true};

	for (; filters.count < FILTERS_MOST; filters.count++) {
		void *number = (void *)(long)filters.count;
		long length = ptrace(PTRACE_SECCOMP_GET_FILTER, tid, number, NULL);

		if (length < 0 && filters.count && errno == ENOENT)
			return filters;
		if (length < 0 || length > BPF_MAXINSNS ||
		    ptrace(PTRACE_SECCOMP_GET_FILTER, tid, number, code) != length ||
		    !allows_all(code, (unsigned)length, entering, COUNT_OF(entering), call))
			break;
		if (!allows_all(code, (unsigned)length, handling, COUNT_OF(handling), call))
			filters.verdict = FILTERS_ENTER;
		if (!allows_all(code, (unsigned)length, batching, COUNT_OF(batching), call))
			filters.batch = false;
	}
	filters.verdict = FILTERS_FORBID;
	return filters;
}
