/* SPDX-License-Identifier: Apache-2.0 */
#include "region/call_memory.h"

#include "base/syscall.h"
#include "region/copy.h"

#include <linux/futex.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <trapline/event.h>

#define LONGEST_STRING 4096 /* PATH_MAX */
#define STRING_PIECE 256
#define IOV_PIECE 8
#define IOV_LIMIT 1024 /* UIO_MAXIOV */

enum extent {
	NONE,
	FIXED,	  /* `size` bytes */
	COUNTED,  /* argument number `count` times `size` */
	RETURNED, /* the same, but no more than the result times `size`; nothing if it failed */
	VARIABLE, /* as many as the 32-bit word says that argument `count` points to */
	STRING,	  /* up to the first NUL */
	VECTOR,	  /* struct iovec[argument `count`], of which the result's bytes are touched */
	MESSAGE,  /* struct msghdr, likewise */
	BITS,	  /* one bit each of argument `count`, in longs */
};

/* One memory argument. `pointer` and `count` are argument numbers. */
struct memory_argument {
	uint8_t extent;
	uint8_t pointer;
	uint8_t access;
	uint8_t count;
	uint16_t size;
};

#define ARGUMENTS_MAX 4

struct row {
	bool known;
	struct memory_argument argument[ARGUMENTS_MAX];
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
#define IN(pointer, size)                  \
	{                                  \
		FIXED, pointer, R, 0, size \
	}
#define OUT(pointer, size)                 \
	{                                  \
		FIXED, pointer, W, 0, size \
	}
#define INOUT(pointer, size)                   \
	{                                      \
		FIXED, pointer, R | W, 0, size \
	}
#define IN_BYTES(pointer, count)              \
	{                                     \
		COUNTED, pointer, R, count, 1 \
	}
#define IN_ARRAY(pointer, count, size)           \
	{                                        \
		COUNTED, pointer, R, count, size \
	}
#define INOUT_ARRAY(pointer, count, size)            \
	{                                            \
		COUNTED, pointer, R | W, count, size \
	}
#define IN_RESULT(pointer, count)              \
	{                                      \
		RETURNED, pointer, R, count, 1 \
	}
#define OUT_RESULT(pointer, count)             \
	{                                      \
		RETURNED, pointer, W, count, 1 \
	}
#define OUT_RESULT_ARRAY(pointer, count, size)    \
	{                                         \
		RETURNED, pointer, W, count, size \
	}
#define OUT_VARIABLE(pointer, count)           \
	{                                      \
		VARIABLE, pointer, W, count, 1 \
	}
#define PATH(pointer)                    \
	{                                \
		STRING, pointer, R, 0, 1 \
	}
#define IN_VECTOR(pointer, count)            \
	{                                    \
		VECTOR, pointer, R, count, 0 \
	}
#define OUT_VECTOR(pointer, count)           \
	{                                    \
		VECTOR, pointer, W, count, 0 \
	}
#define SET(pointer)                       \
	{                                  \
		BITS, pointer, R | W, 0, 0 \
	}

/* The kernel's own layouts, where libc's differ or are named otherwise. */
#define TIMESPEC 16
#define TIMEVAL 16
#define KERNEL_ACTION 32
#define KERNEL_MASK 8
#define KERNEL_RLIMIT 16
#define STATX_BYTES 256
#define SIGINFO_SIZE 128
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
	[SYS_nanosleep] = ROW(IN(0, TIMESPEC)),
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
	[SYS_sendmsg] = ROW({MESSAGE, 1, R, 0, 0}),
	[SYS_recvmsg] = ROW({MESSAGE, 1, W, 0, 0}),
	[SYS_shutdown] = NOTHING,
	[SYS_bind] = ROW(IN_BYTES(1, 2)),
	[SYS_listen] = NOTHING,
	[SYS_getsockname] = ROW(OUT_VARIABLE(1, 2), INOUT(2, 4)),
	[SYS_getpeername] = ROW(OUT_VARIABLE(1, 2), INOUT(2, 4)),
	[SYS_socketpair] = ROW(OUT(3, 8)),
	[SYS_setsockopt] = ROW(IN_BYTES(3, 4)),
	[SYS_getsockopt] = ROW(OUT_VARIABLE(3, 4), INOUT(4, 4)),
	[SYS_clone] = NOTHING,
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
	[SYS_rt_sigtimedwait] = ROW(IN(0, KERNEL_MASK), OUT(1, SIGINFO_SIZE), IN(2, TIMESPEC)),
	[SYS_rt_sigqueueinfo] = ROW(IN(2, SIGINFO_SIZE)),
	[SYS_rt_sigsuspend] = ROW(IN(0, KERNEL_MASK)),
	[SYS_sigaltstack] = ROW(IN(0, 24), OUT(1, 24)),
	[SYS_statfs] = ROW(PATH(0), OUT(1, sizeof(struct statfs))),
	[SYS_fstatfs] = ROW(OUT(1, sizeof(struct statfs))),
	[SYS_arch_prctl] = NOTHING,
	[SYS_setrlimit] = ROW(IN(1, KERNEL_RLIMIT)),
	[SYS_gettid] = NOTHING,
	[SYS_time] = ROW(OUT(0, 8)),
	[SYS_sched_setaffinity] = ROW(IN_BYTES(2, 1)),
	[SYS_sched_getaffinity] = ROW(OUT_RESULT(2, 1)),
	[SYS_fadvise64] = NOTHING,
	[SYS_timer_create] = ROW(IN(1, 64), OUT(2, 4)),
	[SYS_timer_settime] = ROW(IN(2, 2 * TIMESPEC), OUT(3, 2 * TIMESPEC)),
	[SYS_timer_gettime] = ROW(OUT(1, 2 * TIMESPEC)),
	[SYS_timer_delete] = NOTHING,
	[SYS_clock_settime] = ROW(IN(1, TIMESPEC)),
	[SYS_clock_gettime] = ROW(OUT(1, TIMESPEC)),
	[SYS_clock_getres] = ROW(OUT(1, TIMESPEC)),
	[SYS_clock_nanosleep] = ROW(IN(2, TIMESPEC)),
	[SYS_exit_group] = NOTHING,
	[SYS_epoll_create] = NOTHING,
	[SYS_epoll_create1] = NOTHING,
	[SYS_epoll_wait] = ROW(OUT_RESULT_ARRAY(1, 2, EPOLL_EVENT)),
	[SYS_epoll_pwait] = ROW(OUT_RESULT_ARRAY(1, 2, EPOLL_EVENT), IN(4, KERNEL_MASK)),
	[SYS_epoll_pwait2] =
		ROW(OUT_RESULT_ARRAY(1, 2, EPOLL_EVENT), IN(3, TIMESPEC), IN(4, KERNEL_MASK)),
	[SYS_epoll_ctl] = ROW(IN(3, EPOLL_EVENT)),
	[SYS_tgkill] = NOTHING,
	[SYS_tkill] = NOTHING,
	[SYS_waitid] = ROW(OUT(2, SIGINFO_SIZE), OUT(4, sizeof(struct rusage))),
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
	[SYS_pselect6] = ROW(SET(1), SET(2), SET(3), INOUT(4, TIMESPEC)),
	[SYS_ppoll] = ROW(INOUT_ARRAY(0, 1, sizeof(struct pollfd)), INOUT(2, TIMESPEC),
			  IN(3, KERNEL_MASK)),
	[SYS_set_robust_list] = NOTHING,
	[SYS_utimensat] = ROW(PATH(1), IN(2, 2 * TIMESPEC)),
	[SYS_eventfd] = NOTHING,
	[SYS_eventfd2] = NOTHING,
	[SYS_fallocate] = NOTHING,
	[SYS_timerfd_create] = NOTHING,
	[SYS_timerfd_settime] = ROW(IN(2, 2 * TIMESPEC), OUT(3, 2 * TIMESPEC)),
	[SYS_timerfd_gettime] = ROW(OUT(1, 2 * TIMESPEC)),
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
	[SYS_clone3] = ROW(IN_BYTES(0, 1)),
	[SYS_openat2] = ROW(PATH(1), IN_BYTES(2, 3)),
};

#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

struct walk {
	const struct region_call *call;
	region_call_visitor *visit;
	void *context;
};

static void visit(const struct walk *walk, uintptr_t first, size_t length, unsigned access)
{
	if (first && length && first + length > first)
		walk->visit(walk->context, first, length, access);
}

/* Bytes the call has moved as its result says; without limit while it is pending. */
static size_t moved(const struct region_call *call, size_t unit)
{
	if (call->result == REGION_CALL_PENDING)
		return SIZE_MAX;
	return raw_failed((long)call->result) ? 0 : (size_t)call->result * unit;
}

static size_t at_most(size_t length, size_t limit)
{
	return length < limit ? length : limit;
}

/* While pending the longest; afterwards, where it does not matter for its length to be read, too.
 */
static size_t string_length(const struct region_call *call, uintptr_t at)
{
	char piece[STRING_PIECE];
	size_t length = 0;

	if (call->result == REGION_CALL_PENDING)
		return LONGEST_STRING;
	while (length < LONGEST_STRING) {
		size_t want = STRING_PIECE - (at + length) % STRING_PIECE;

		if (!region_copy_from(piece, at + length, want))
			return length;
		for (size_t i = 0; i < want; i++)
			if (!piece[i])
				return length + i + 1;
		length += want;
	}
	return length;
}

static void walk_vector(const struct walk *walk, uintptr_t at, size_t count, unsigned access)
{
	struct iovec piece[IOV_PIECE];
	size_t left = moved(walk->call, 1);

	count = at_most(count, IOV_LIMIT);
	visit(walk, at, count * sizeof(piece[0]), TL_READ);
	while (count && left) {
		size_t here = at_most(count, IOV_PIECE);

		if (!region_copy_from(piece, at, here * sizeof(piece[0])))
			return;
		for (size_t i = 0; i < here && left; i++) {
			size_t length = at_most(piece[i].iov_len, left);

			visit(walk, (uintptr_t)piece[i].iov_base, length, access);
			left -= left == SIZE_MAX ? 0 : length;
		}
		at += here * sizeof(piece[0]);
		count -= here;
	}
}

/* recvmsg(2) writes the lengths of what it filled back to the header. */
static void walk_message(const struct walk *walk, uintptr_t at, unsigned access)
{
	struct msghdr header;

	visit(walk, at, sizeof(header), access == TL_WRITE ? TL_READ | TL_WRITE : TL_READ);
	if (!region_copy_from(&header, at, sizeof(header)) || raw_failed((long)walk->call->result))
		return;
	visit(walk, (uintptr_t)header.msg_name, header.msg_namelen, access);
	visit(walk, (uintptr_t)header.msg_control, header.msg_controllen, access);
	walk_vector(walk, (uintptr_t)header.msg_iov, header.msg_iovlen, access);
}

static void walk_argument(const struct walk *walk, const struct memory_argument *memory)
{
	const struct region_call *call = walk->call;
	uintptr_t at = call->argument[memory->pointer];
	uint64_t count = call->argument[memory->count];
	unsigned access = memory->access;
	uint32_t word = 0;

	/* A call that failed has written nothing, as far as can be told. */
	if (!at || (raw_failed((long)call->result) && !(access &= TL_READ)))
		return;
	switch (memory->extent) {
	case FIXED:
		visit(walk, at, memory->size, access);
		break;
	case COUNTED:
		visit(walk, at, count * memory->size, access);
		break;
	case RETURNED:
		visit(walk, at, at_most(count * memory->size, moved(call, memory->size)), access);
		break;
	case VARIABLE:
		if (region_copy_from(&word, count, sizeof(word)))
			visit(walk, at, word, access);
		break;
	case STRING:
		visit(walk, at, string_length(call, at), access);
		break;
	case VECTOR:
		walk_vector(walk, at, count, access);
		break;
	case MESSAGE:
		walk_message(walk, at, access);
		break;
	case BITS:
		visit(walk, at, (count + 63) / 64 * 8, access);
		break;
	}
}

/* Waking compares nothing: the kernel only uses the address (private) or looks up its page. */
static void walk_futex(const struct walk *walk)
{
	const uint64_t *argument = walk->call->argument;

	switch (argument[1] & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		visit(walk, argument[3], TIMESPEC, TL_READ);
		visit(walk, argument[0], 4, TL_READ);
		break;
	case FUTEX_CMP_REQUEUE:
		visit(walk, argument[0], 4, TL_READ);
		break;
	case FUTEX_WAKE_OP:
		visit(walk, argument[4], 4, TL_READ | TL_WRITE);
		break;
	case FUTEX_LOCK_PI:
	case FUTEX_TRYLOCK_PI:
	case FUTEX_UNLOCK_PI:
		visit(walk, argument[0], 4, TL_READ | TL_WRITE);
		break;
	}
}

bool region_call_memory(const struct region_call *call, region_call_visitor *visitor, void *context)
{
	struct walk walk = {call, visitor, context};

	if (call->number == SYS_futex) {
		walk_futex(&walk);
		return true;
	}
	if (call->number >= ROW_COUNT || !rows[call->number].known)
		return false;
	for (int i = 0; i < ARGUMENTS_MAX; i++)
		walk_argument(&walk, &rows[call->number].argument[i]);
	return true;
}

bool region_call_maps(const struct region_call *call, uintptr_t *start, size_t *length)
{
	bool pending = call->result == REGION_CALL_PENDING;

	if ((call->number != SYS_mmap && call->number != SYS_mremap) ||
	    raw_failed((long)call->result))
		return false;
	/* Where, only the result tells. */
	*start = pending ? 0 : (uintptr_t)call->result;
	*length = pending ? SIZE_MAX : call->argument[call->number == SYS_mmap ? 1 : 2];
	return true;
}
