/* SPDX-License-Identifier: Apache-2.0 */
#include "base/call_arguments.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <time.h>
#include <trapline/event.h>

struct row {
	bool known;
	struct call_argument argument[CALL_ARGUMENTS];
};

#define R TL_READ
#define W TL_WRITE
#define NOTHING               \
	{                     \
		.known = true \
	}
#define ROW(...)                                           \
	{                                                  \
		.known = true, .argument = { __VA_ARGS__ } \
	}
#define IN(pointer, size)                       \
	{                                       \
		CALL_FIXED, pointer, R, 0, size \
	}
#define OUT(pointer, size)                      \
	{                                       \
		CALL_FIXED, pointer, W, 0, size \
	}
#define INOUT(pointer, size)                        \
	{                                           \
		CALL_FIXED, pointer, R | W, 0, size \
	}
#define IN_BYTES(pointer, count)                   \
	{                                          \
		CALL_COUNTED, pointer, R, count, 1 \
	}
#define IN_ARRAY(pointer, count, size)                \
	{                                             \
		CALL_COUNTED, pointer, R, count, size \
	}
#define INOUT_ARRAY(pointer, count, size)                 \
	{                                                 \
		CALL_COUNTED, pointer, R | W, count, size \
	}
#define IN_RESULT(pointer, count)                   \
	{                                           \
		CALL_RETURNED, pointer, R, count, 1 \
	}
#define OUT_RESULT(pointer, count)                  \
	{                                           \
		CALL_RETURNED, pointer, W, count, 1 \
	}
#define OUT_RESULT_ARRAY(pointer, count, size)         \
	{                                              \
		CALL_RETURNED, pointer, W, count, size \
	}
#define OUT_VARIABLE(pointer, count)                \
	{                                           \
		CALL_VARIABLE, pointer, W, count, 1 \
	}
#define PATH(pointer)                         \
	{                                     \
		CALL_STRING, pointer, R, 0, 1 \
	}
#define IN_VECTOR(pointer, count)                 \
	{                                         \
		CALL_VECTOR, pointer, R, count, 0 \
	}
#define OUT_VECTOR(pointer, count)                \
	{                                         \
		CALL_VECTOR, pointer, W, count, 0 \
	}
#define SET(pointer)                            \
	{                                       \
		CALL_BITS, pointer, R | W, 0, 0 \
	}

/* The kernel's own layouts, where libc's differ or are named otherwise. */
#define TIMEVAL 16
#define KERNEL_ACTION 32
#define KERNEL_MASK 8
#define KERNEL_RLIMIT 16
#define STATX_BYTES 256
#define SIGINFO_SIZE 128
#define WAITED_INFO 28 /* bytes of it, up to the status */
#define EPOLL_EVENT 12

_Static_assert(sizeof(struct stat) == 144 && sizeof(struct epoll_event) == EPOLL_EVENT,
	       "libc's layouts are the kernel's");

static const struct row rows[] = {
	[SYS_read] = ROW(OUT_RESULT(1, 2)),
	[SYS_write] = ROW(IN_RESULT(1, 2)),
	[SYS_open] = ROW(PATH(0)),
	[SYS_close] = NOTHING,
	[SYS_stat] = ROW(PATH(0), OUT(1, sizeof(struct stat))),
	[SYS_fstat] = ROW(OUT(1, sizeof(struct stat))),
	[SYS_lstat] = ROW(PATH(0), OUT(1, sizeof(struct stat))),
	[SYS_poll] = ROW(INOUT_ARRAY(0, 1, sizeof(struct pollfd))),
	[SYS_lseek] = NOTHING,
	[SYS_mmap] = NOTHING,
	[SYS_mprotect] = NOTHING,
	[SYS_munmap] = NOTHING,
	[SYS_brk] = NOTHING,
	[SYS_rt_sigaction] = ROW(IN(1, KERNEL_ACTION), OUT(2, KERNEL_ACTION)),
	[SYS_rt_sigprocmask] = ROW(IN(1, KERNEL_MASK), OUT(2, KERNEL_MASK)),
	[SYS_rt_sigreturn] = NOTHING,
	[SYS_pread64] = ROW(OUT_RESULT(1, 2)),
	[SYS_pwrite64] = ROW(IN_RESULT(1, 2)),
	[SYS_readv] = ROW(OUT_VECTOR(1, 2)),
	[SYS_writev] = ROW(IN_VECTOR(1, 2)),
	[SYS_access] = ROW(PATH(0)),
	[SYS_pipe] = ROW(OUT(0, 8)),
	[SYS_select] = ROW(SET(1), SET(2), SET(3), INOUT(4, TIMEVAL)),
	[SYS_sched_yield] = NOTHING,
	[SYS_mremap] = NOTHING,
	[SYS_msync] = NOTHING,
	[SYS_madvise] = NOTHING,
	[SYS_dup] = NOTHING,
	[SYS_dup2] = NOTHING,
	[SYS_dup3] = NOTHING,
	[SYS_pause] = NOTHING,
	[SYS_nanosleep] = ROW(IN(0, CALL_TIMESPEC), OUT(1, CALL_TIMESPEC)),
	[SYS_getitimer] = ROW(OUT(1, 2 * TIMEVAL)),
	[SYS_alarm] = NOTHING,
	[SYS_setitimer] = ROW(IN(1, 2 * TIMEVAL), OUT(2, 2 * TIMEVAL)),
	[SYS_getpid] = NOTHING,
	[SYS_sendfile] = ROW(INOUT(2, 8)),
	[SYS_socket] = NOTHING,
	[SYS_connect] = ROW(IN_BYTES(1, 2)),
	[SYS_accept] = ROW(OUT_VARIABLE(1, 2), INOUT(2, 4)),
	[SYS_accept4] = ROW(OUT_VARIABLE(1, 2), INOUT(2, 4)),
	[SYS_sendto] = ROW(IN_RESULT(1, 2), IN_BYTES(4, 5)),
	[SYS_recvfrom] = ROW(OUT_RESULT(1, 2), OUT_VARIABLE(4, 5), INOUT(5, 4)),
	[SYS_sendmsg] = ROW({CALL_MESSAGE, 1, R, 0, 0}),
	[SYS_recvmsg] = ROW({CALL_MESSAGE, 1, W, 0, 0}),
	[SYS_shutdown] = NOTHING,
	[SYS_bind] = ROW(IN_BYTES(1, 2)),
	[SYS_listen] = NOTHING,
	[SYS_getsockname] = ROW(OUT_VARIABLE(1, 2), INOUT(2, 4)),
	[SYS_getpeername] = ROW(OUT_VARIABLE(1, 2), INOUT(2, 4)),
	[SYS_socketpair] = ROW(OUT(3, 8)),
	[SYS_setsockopt] = ROW(IN_BYTES(3, 4)),
	[SYS_getsockopt] = ROW(OUT_VARIABLE(3, 4), INOUT(4, 4)),
	[SYS_fork] = NOTHING,
	[SYS_vfork] = NOTHING,
	[SYS_execve] = ROW(PATH(0)),
	[SYS_exit] = NOTHING,
	[SYS_wait4] = ROW(OUT(1, 4), OUT(3, sizeof(struct rusage))),
	[SYS_kill] = NOTHING,
	[SYS_uname] = ROW(OUT(0, sizeof(struct utsname))),
	[SYS_fsync] = NOTHING,
	[SYS_fdatasync] = NOTHING,
	[SYS_truncate] = ROW(PATH(0)),
	[SYS_ftruncate] = NOTHING,
	[SYS_getdents64] = ROW(OUT_RESULT(1, 2)),
	[SYS_getcwd] = ROW(OUT_RESULT(0, 1)),
	[SYS_chdir] = ROW(PATH(0)),
	[SYS_fchdir] = NOTHING,
	[SYS_rename] = ROW(PATH(0), PATH(1)),
	[SYS_mkdir] = ROW(PATH(0)),
	[SYS_rmdir] = ROW(PATH(0)),
	[SYS_link] = ROW(PATH(0), PATH(1)),
	[SYS_unlink] = ROW(PATH(0)),
	[SYS_symlink] = ROW(PATH(0), PATH(1)),
	[SYS_readlink] = ROW(PATH(0), OUT_RESULT(1, 2)),
	[SYS_chmod] = ROW(PATH(0)),
	[SYS_fchmod] = NOTHING,
	[SYS_chown] = ROW(PATH(0)),
	[SYS_fchown] = NOTHING,
	[SYS_umask] = NOTHING,
	[SYS_gettimeofday] = ROW(OUT(0, TIMEVAL), OUT(1, 8)),
	[SYS_getrlimit] = ROW(OUT(1, KERNEL_RLIMIT)),
	[SYS_getrusage] = ROW(OUT(1, sizeof(struct rusage))),
	[SYS_sysinfo] = ROW(OUT(0, sizeof(struct sysinfo))),
	[SYS_times] = ROW(OUT(0, sizeof(struct tms))),
	[SYS_getuid] = NOTHING,
	[SYS_getgid] = NOTHING,
	[SYS_geteuid] = NOTHING,
	[SYS_getegid] = NOTHING,
	[SYS_getppid] = NOTHING,
	[SYS_setsid] = NOTHING,
	[SYS_rt_sigpending] = ROW(OUT(0, KERNEL_MASK)),
	[SYS_rt_sigtimedwait] = ROW(IN(0, KERNEL_MASK), OUT(1, SIGINFO_SIZE), IN(2, CALL_TIMESPEC)),
	[SYS_rt_sigqueueinfo] = ROW(IN(2, SIGINFO_SIZE)),
	[SYS_rt_sigsuspend] = ROW(IN(0, KERNEL_MASK)),
	[SYS_sigaltstack] = ROW(IN(0, 24), OUT(1, 24)),
	[SYS_statfs] = ROW(PATH(0), OUT(1, sizeof(struct statfs))),
	[SYS_fstatfs] = ROW(OUT(1, sizeof(struct statfs))),
	[SYS_setrlimit] = ROW(IN(1, KERNEL_RLIMIT)),
	[SYS_gettid] = NOTHING,
	[SYS_time] = ROW(OUT(0, 8)),
	[SYS_sched_setaffinity] = ROW(IN_BYTES(2, 1)),
	[SYS_sched_getaffinity] = ROW(OUT_RESULT(2, 1)),
	[SYS_fadvise64] = NOTHING,
	[SYS_timer_create] = ROW(IN(1, 64), OUT(2, 4)),
	[SYS_timer_settime] = ROW(IN(2, 2 * CALL_TIMESPEC), OUT(3, 2 * CALL_TIMESPEC)),
	[SYS_timer_gettime] = ROW(OUT(1, 2 * CALL_TIMESPEC)),
	[SYS_timer_delete] = NOTHING,
	[SYS_clock_settime] = ROW(IN(1, CALL_TIMESPEC)),
	[SYS_clock_gettime] = ROW(OUT(1, CALL_TIMESPEC)),
	[SYS_clock_getres] = ROW(OUT(1, CALL_TIMESPEC)),
	[SYS_clock_nanosleep] = ROW(IN(2, CALL_TIMESPEC), OUT(3, CALL_TIMESPEC)),
	[SYS_exit_group] = NOTHING,
	[SYS_epoll_create] = NOTHING,
	[SYS_epoll_create1] = NOTHING,
	[SYS_epoll_wait] = ROW(OUT_RESULT_ARRAY(1, 2, EPOLL_EVENT)),
	[SYS_epoll_pwait] = ROW(OUT_RESULT_ARRAY(1, 2, EPOLL_EVENT), IN(4, KERNEL_MASK)),
	[SYS_epoll_pwait2] =
		ROW(OUT_RESULT_ARRAY(1, 2, EPOLL_EVENT), IN(3, CALL_TIMESPEC), IN(4, KERNEL_MASK)),
	[SYS_epoll_ctl] = ROW(IN(3, EPOLL_EVENT)),
	[SYS_tgkill] = NOTHING,
	[SYS_tkill] = NOTHING,
	[SYS_waitid] = ROW(OUT(2, WAITED_INFO), OUT(4, sizeof(struct rusage))),
	[SYS_openat] = ROW(PATH(1)),
	[SYS_mkdirat] = ROW(PATH(1)),
	[SYS_newfstatat] = ROW(PATH(1), OUT(2, sizeof(struct stat))),
	[SYS_unlinkat] = ROW(PATH(1)),
	[SYS_renameat] = ROW(PATH(1), PATH(3)),
	[SYS_renameat2] = ROW(PATH(1), PATH(3)),
	[SYS_linkat] = ROW(PATH(1), PATH(3)),
	[SYS_symlinkat] = ROW(PATH(0), PATH(2)),
	[SYS_readlinkat] = ROW(PATH(1), OUT_RESULT(2, 3)),
	[SYS_fchmodat] = ROW(PATH(1)),
	[SYS_fchownat] = ROW(PATH(1)),
	[SYS_faccessat] = ROW(PATH(1)),
	[SYS_faccessat2] = ROW(PATH(1)),
	[SYS_pselect6] = ROW(SET(1), SET(2), SET(3), INOUT(4, CALL_TIMESPEC)),
	[SYS_ppoll] = ROW(INOUT_ARRAY(0, 1, sizeof(struct pollfd)), INOUT(2, CALL_TIMESPEC),
			  IN(3, KERNEL_MASK)),
	[SYS_set_robust_list] = NOTHING,
	[SYS_utimensat] = ROW(PATH(1), IN(2, 2 * CALL_TIMESPEC)),
	[SYS_eventfd] = NOTHING,
	[SYS_eventfd2] = NOTHING,
	[SYS_fallocate] = NOTHING,
	[SYS_timerfd_create] = NOTHING,
	[SYS_timerfd_settime] = ROW(IN(2, 2 * CALL_TIMESPEC), OUT(3, 2 * CALL_TIMESPEC)),
	[SYS_timerfd_gettime] = ROW(OUT(1, 2 * CALL_TIMESPEC)),
	[SYS_signalfd4] = ROW(IN_BYTES(1, 2)),
	[SYS_pipe2] = ROW(OUT(0, 8)),
	[SYS_inotify_init1] = NOTHING,
	[SYS_preadv] = ROW(OUT_VECTOR(1, 2)),
	[SYS_pwritev] = ROW(IN_VECTOR(1, 2)),
	[SYS_preadv2] = ROW(OUT_VECTOR(1, 2)),
	[SYS_pwritev2] = ROW(IN_VECTOR(1, 2)),
	[SYS_perf_event_open] = ROW(IN(0, 64)),
	[SYS_prlimit64] = ROW(IN(2, KERNEL_RLIMIT), OUT(3, KERNEL_RLIMIT)),
	[SYS_process_vm_readv] = ROW(OUT_VECTOR(1, 2)),
	[SYS_process_vm_writev] = ROW(IN_VECTOR(1, 2)),
	[SYS_getrandom] = ROW(OUT_RESULT(0, 1)),
	[SYS_memfd_create] = ROW(PATH(0)),
	[SYS_membarrier] = NOTHING,
	[SYS_copy_file_range] = ROW(INOUT(1, 8), INOUT(3, 8)),
	[SYS_pkey_mprotect] = NOTHING,
	[SYS_pkey_alloc] = NOTHING,
	[SYS_pkey_free] = NOTHING,
	[SYS_statx] = ROW(PATH(1), OUT(4, STATX_BYTES)),
	[SYS_rseq] = NOTHING,
	[SYS_close_range] = NOTHING,
	[SYS_openat2] = ROW(PATH(1), IN_BYTES(2, 3)),
};

const struct call_argument *call_arguments(uint64_t number)
{
	if (number >= sizeof(rows) / sizeof(rows[0]) || !rows[number].known)
		return NULL;
	return rows[number].argument;
}

bool call_argument_is_used(uint64_t number, const struct call_argument *memory,
			   const uint64_t argument[], int64_t result)
{
	switch (number) {
	case SYS_wait4: /* 0: no child has changed its state */
		return result > 0;
	case SYS_waitid: /* of which the result does not tell that */
		return memory->pointer != 4 || result > 0;
	case SYS_epoll_ctl:
		return (uint32_t)argument[1] != EPOLL_CTL_DEL;
	case SYS_accept:
	case SYS_accept4:
		return argument[1] != 0;
	case SYS_recvfrom:
		return memory->pointer != 5 || argument[4] != 0;
	case SYS_nanosleep: /* the time that is left, where a signal has ended it */
		return memory->pointer != 1 || result == -EINTR;
	case SYS_clock_nanosleep:
		return memory->pointer != 3 || (result == -EINTR && !(argument[1] & TIMER_ABSTIME));
	default:
		return true;
	}
}

uint64_t call_variable_length(uint64_t address, uint64_t count, uint32_t told)
{
	return count > address && count - address < told ? count - address : told;
}
