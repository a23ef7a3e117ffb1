/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/confine.h"

#include "base/own_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Files are mapped whole, and the largest debug files have 2 GiB. */
#define ADDRESS_SPACE (8ull << 30)
#define DESCRIPTORS 4096

#define X32 0x40000000u

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1 /* its shadow takes terabytes of address space */
#else
#define SANITIZED 0
#endif

static int (*ask_to_open)(const char *path);

/* ---- the filter ------------------------------------------------------------------------- */

#define ARGUMENT(index) (offsetof(struct seccomp_data, args) + 8 * (index)) /* its low half */
#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)(offset))
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define REFUSAL (SECCOMP_RET_ERRNO | EPERM)
#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_ALLOW)
/* Allowed without (with) one of the bits in an argument. */
#define ALLOW_WITHOUT(name, index, bits)                                              \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(ARGUMENT(index)), \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), ANSWER(REFUSAL),  \
		ANSWER(SECCOMP_RET_ALLOW)
#define ALLOW_WITH(name, index, bits)                                                 \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 4), LOAD(ARGUMENT(index)), \
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 1, 0), ANSWER(REFUSAL),  \
		ANSWER(SECCOMP_RET_ALLOW)
#define TRAP(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), ANSWER(SECCOMP_RET_TRAP)

static const struct sock_filter filter[] = {
	LOAD(offsetof(struct seccomp_data, arch)),
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0),
	ANSWER(SECCOMP_RET_KILL_PROCESS),
	LOAD(offsetof(struct seccomp_data, nr)),
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32, 0, 1),
	ANSWER(SECCOMP_RET_KILL_PROCESS),
	/* The asker. A datagram elsewhere needs a socket, and there is but the one. */
	ALLOW(recvmsg),
	ALLOW(sendmsg),
	/* What it handed over. */
	ALLOW(read),
	ALLOW(pread64),
	ALLOW(lseek),
	ALLOW(fstat),
	ALLOW_WITH(newfstatat, 3, AT_EMPTY_PATH),
	ALLOW_WITHOUT(fcntl, 1, ~(unsigned)F_GETFD), /* and F_DUPFD, which is 0 */
	ALLOW(close),
	/* Memory, none of which becomes code. */
	ALLOW_WITHOUT(mmap, 2, PROT_EXEC),
	ALLOW_WITHOUT(mprotect, 2, PROT_EXEC),
	ALLOW(munmap),
	ALLOW(mremap),
	ALLOW(brk),
	ALLOW(madvise),
	/* A process's own affairs. */
	ALLOW(futex),
	ALLOW(clock_gettime),
	ALLOW(sysinfo), /* qsort(3) */
	ALLOW(getpid),
	ALLOW(gettid),
	ALLOW(rt_sigreturn),
	ALLOW(exit),
	ALLOW(exit_group),
	/* Paths are the asker's to follow, also for libdw, which opens some files itself. */
	TRAP(openat),
	ANSWER(REFUSAL),
};

/* ---- openat(2) -------------------------------------------------------------------------- */

static int again(const char *number)
{
	int fd = fcntl((int)strtol(number, NULL, 10), F_DUPFD, 0);

	return fd < 0 ? -errno : fd;
}

static int open_for(int directory, const char *path, int flags)
{
	if ((flags & O_ACCMODE) != O_RDONLY || (flags & (O_CREAT | O_DIRECTORY)))
		return -EPERM;
	if (strncmp(path, OWN_PATH, strlen(OWN_PATH)) == 0) /* here, not at the asker */
		return again(path + strlen(OWN_PATH));
	if (directory != AT_FDCWD && path[0] != '/')
		return -EPERM;
	return ask_to_open(path);
}

/* Synchronous, and only where open() was called: nothing was interrupted. */
static void on_call(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	int error = errno;

	(void)number, (void)info;
	registers[REG_RAX] = open_for((int)registers[REG_RDI], (const char *)registers[REG_RSI],
				      (int)registers[REG_RDX]);
	errno = error;
}

/* ----------------------------------------------------------------------------------------- */

static void limit(int resource, rlim_t most)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) < 0)
		return;
	if (limit.rlim_max > most)
		limit.rlim_max = most;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

/* Whoever runs out of memory, it is the reader that goes: it is started anew. */
static void volunteer(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (write(fd, "1000", 4) < 0)
		errno = 0; /* it is not worth more than the attempt */
	close(fd);
}

/* Under a filter capset(2) may end whoever calls it, as services often have it (@privileged).
 * Nothing that our own filter allows asks for a capability; this only stands behind it. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {0};

	if (prctl(PR_GET_SECCOMP) == 0)
		syscall(SYS_capset, &header, none);
}

/* prctl(2) rather than seccomp(2): filters of services allow the one and not the other. */
bool symbol_confine(int (*open)(const char *path))
{
	struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]),
				     (struct sock_filter *)filter};

	ask_to_open = open;
	volunteer();
	if (!SANITIZED)
		limit(RLIMIT_AS, ADDRESS_SPACE);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_NPROC, 0);
	limit(RLIMIT_NOFILE, DESCRIPTORS);
	prctl(PR_SET_DUMPABLE, 0);
	drop_capabilities();
	sigaction(SIGSYS, &action, NULL);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0;
}
