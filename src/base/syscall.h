/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Raw system calls for code that a signal handler can reach: no errno, no cancellation, no libc.
 * Each returns -errno on failure. raw_syscall3() and raw_syscall6() are the architecture's.
 */
#ifndef BASE_SYSCALL_H
#define BASE_SYSCALL_H

#include "base/call.h"

#include <linux/perf_event.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>

/* Is the result an error? Of calls that return an address, which may be negative, too. */
static inline bool raw_failed(long result)
{
	return result < 0 && result > -4096;
}

static inline pid_t raw_gettid(void)
{
	return (pid_t)raw_syscall3(SYS_gettid, 0, 0, 0);
}

static inline pid_t raw_getpid(void)
{
	return (pid_t)raw_syscall3(SYS_getpid, 0, 0, 0);
}

static inline int raw_close(int fd)
{
	return (int)raw_syscall3(SYS_close, fd, 0, 0);
}

static inline int raw_ioctl(int fd, unsigned long request, unsigned long argument)
{
	return (int)raw_syscall3(SYS_ioctl, fd, (long)request, (long)argument);
}

static inline int raw_fcntl(int fd, int command, unsigned long argument)
{
	return (int)raw_syscall3(SYS_fcntl, fd, command, (long)argument);
}

static inline int raw_perf_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu,
				      int group, unsigned long flags)
{
	return (int)raw_syscall6(SYS_perf_event_open, (long)attr, pid, cpu, group, (long)flags, 0);
}

/* Copy from our own memory without faulting; returns bytes copied or -errno. It is asked for by the
 * calling thread's id: the process's is its first thread's, which has no memory any more once it
 * has ended (pthread_exit() in main()). */
static inline ssize_t raw_read_pieces(const struct iovec *to, const struct iovec *from,
				      unsigned count)
{
	return (ssize_t)raw_syscall6(SYS_process_vm_readv, raw_gettid(), (long)to, count,
				     (long)from, count, 0);
}

static inline ssize_t raw_read_memory(void *to, uintptr_t from, size_t length)
{
	struct iovec local = {to, length};
	struct iovec remote = {(void *)from, length};

	return raw_read_pieces(&local, &remote, 1);
}

static inline int raw_nanosleep(uint64_t nanoseconds)
{
	struct timespec duration = {(time_t)(nanoseconds / 1000000000u),
				    (long)(nanoseconds % 1000000000u)};

	return (int)raw_syscall3(SYS_nanosleep, (long)&duration, 0, 0);
}

static inline int raw_futex(uint32_t *word, int operation, uint32_t value,
			    const struct timespec *timeout)
{
	return (int)raw_syscall6(SYS_futex, (long)word, operation, value, (long)timeout, 0, 0);
}

/* With a pointer, by which its receiver knows it as ours. */
static inline long raw_queue_signal(pid_t tid, int signal, void *pointer)
{
	siginfo_t info = {.si_signo = signal, .si_code = SI_QUEUE};
	pid_t pid = raw_getpid();

	info.si_pid = pid;
	info.si_value.sival_ptr = pointer;
	return raw_syscall6(SYS_rt_tgsigqueueinfo, pid, tid, signal, (long)&info, 0, 0);
}

static inline int raw_sigprocmask(int how, const uint64_t *set, uint64_t *old)
{
	return (int)raw_syscall6(SYS_rt_sigprocmask, how, (long)set, (long)old, sizeof(uint64_t), 0,
				 0);
}

#endif
