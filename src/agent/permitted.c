/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/permitted.h"

#include "agent/arch.h"
#include "base/seccomp_run.h"

#include <linux/seccomp.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#define FILTER_MOST 4096 /* BPF_MAXINSNS */

/* The system calls that the library makes outside handlers. Handlers make none once the program has
 * set a filter. */
static const struct {
	long number;
	bool begins; /* in a program that begins to be watched */
} calls[] = {
	{SYS_getpid, true},	  {SYS_gettid, true},	      {SYS_tgkill, false},
	{SYS_nanosleep, false},	  {SYS_faccessat, true},      {SYS_openat, true},
	{SYS_fstat, true},	  {SYS_pread64, true},	      {SYS_close, true},
	{SYS_mmap, true},	  {SYS_munmap, true},	      {SYS_madvise, true},
	{SYS_futex, true},	  {SYS_getppid, true},	      {SYS_arch_prctl, true},
	{SYS_prctl, true},	  {SYS_getuid, true},	      {SYS_geteuid, true},
	{SYS_getgid, true},	  {SYS_getegid, true},	      {SYS_fgetxattr, true},
	{SYS_rt_sigaction, true}, {SYS_rt_sigprocmask, true}, {SYS_process_vm_readv, true},
	{SYS_newfstatat, false},  {SYS_readlink, false},      {SYS_prlimit64, false},
};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static _Atomic uint32_t forbidden; /* a bit for each of `calls` */
_Static_assert(CALLS <= 32, "bits");

static bool allows(const struct sock_fprog *filter, long number)
{
	struct seccomp_data call = {.nr = (int)number, .arch = agent_arch.audit};

	for (int i = 0; i < 2; i++) {
		unsigned verdict = seccomp_run(filter->filter, filter->len, &call) &
				   SECCOMP_RET_ACTION_FULL;

		if (verdict != SECCOMP_RET_ALLOW && verdict != SECCOMP_RET_LOG)
			return false;
		memset(call.args, 0xff, sizeof(call.args));
	}
	return true;
}

void permitted_note(const struct sock_fprog *filter)
{
	if (!filter->filter || filter->len > FILTER_MOST)
		return;
	for (size_t i = 0; i < CALLS; i++)
		if (!allows(filter, calls[i].number))
			atomic_fetch_or(&forbidden, 1u << i);
}

bool permitted(long number)
{
	uint32_t bits = atomic_load_explicit(&forbidden, memory_order_relaxed);

	for (size_t i = 0; bits && i < CALLS; i++)
		if (calls[i].number == number)
			return !(bits >> i & 1);
	return true;
}

bool permitted_to_begin(void)
{
	uint32_t bits = atomic_load_explicit(&forbidden, memory_order_relaxed);

	for (size_t i = 0; bits && i < CALLS; i++)
		if (calls[i].begins && bits >> i & 1)
			return false;
	return true;
}
