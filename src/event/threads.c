/* SPDX-License-Identifier: Apache-2.0 */
#include "event/threads.h"

#include "base/memory.h"
#include "base/pieces.h"
#include "base/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

/* Threads of a set that takes no page. */
#define FEW 64u
#define MANY 1024u

static struct pieces pieces;
static pid_t piece[PIECES][FEW];

struct kernel_dirent {
	uint64_t inode;
	int64_t offset;
	uint16_t length;
	uint8_t type;
	char name[];
};

static void free_tids(const struct thread_set *set)
{
	if (!pieces_give(&pieces, piece, sizeof(piece[0]), set->tids))
		page_free(set->tids, set->capacity * sizeof(*set->tids));
}

void thread_set_destroy(struct thread_set *set)
{
	free_tids(set);
	memset(set, 0, sizeof(*set));
}

static int thread_set_grow(struct thread_set *set)
{
	size_t capacity = FEW;
	pid_t *tids = set->capacity ? NULL : pieces_take(&pieces, piece, sizeof(piece[0]));

	if (!tids) {
		capacity = set->capacity < MANY ? MANY : set->capacity * 4;
		tids = page_allocate(capacity * sizeof(*tids));
	}
	if (!tids)
		return -ENOMEM;
	if (set->count)
		memcpy(tids, set->tids, set->count * sizeof(*tids));
	free_tids(set);
	set->tids = tids;
	set->capacity = capacity;
	return 0;
}

int thread_set_add(struct thread_set *set, pid_t tid)
{
	if (set->count == set->capacity) {
		int err = thread_set_grow(set);

		if (err)
			return err;
	}
	set->tids[set->count++] = tid;
	return 0;
}

bool thread_set_contains(const struct thread_set *set, pid_t tid)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->tids[i] == tid)
			return true;
	return false;
}

static void task_directory(char *path, pid_t pid)
{
	char digits[12];
	int count = 0;

	if (!pid) {
		memcpy(path, "/proc/self/task", sizeof("/proc/self/task"));
		return;
	}
	for (; pid; pid /= 10)
		digits[count++] = (char)('0' + pid % 10);
	memcpy(path, "/proc/", 6);
	path += 6;
	while (count)
		*path++ = digits[--count];
	memcpy(path, "/task", sizeof("/task"));
}

static pid_t parse_tid(const char *name)
{
	pid_t tid = 0;

	for (; *name >= '0' && *name <= '9'; name++)
		tid = tid * 10 + (*name - '0');
	return tid;
}

static int add_entries(struct thread_set *set, const char *buffer, long length)
{
	for (long at = 0; at < length;) {
		const struct kernel_dirent *entry = (const void *)(buffer + at);
		pid_t tid = parse_tid(entry->name);
		int err = tid ? thread_set_add(set, tid) : 0;

		if (err)
			return err;
		at += entry->length;
	}
	return 0;
}

int thread_set_list_paced(struct thread_set *set, pid_t pid, void (*between)(void))
{
	_Alignas(8) char buffer[768];
	char path[32];
	long length;
	int fd, err = 0;

	task_directory(path, pid);
	fd = (int)raw_syscall6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_DIRECTORY | O_CLOEXEC,
			       0, 0, 0);
	if (fd < 0)
		return fd;
	while (!err &&
	       (length = raw_syscall3(SYS_getdents64, fd, (long)buffer, sizeof(buffer))) > 0) {
		err = add_entries(set, buffer, length);
		if (between)
			between();
	}
	if (!err && length < 0)
		err = (int)length;
	raw_close(fd);
	return err;
}

int thread_set_list(struct thread_set *set, pid_t pid)
{
	return thread_set_list_paced(set, pid, NULL);
}

/* How many threads there are now: the links of their directory beside its own two (Linux,
 * fs/proc/base.c, proc_task_getattr()). */
static long count_threads(void)
{
	static const char path[] = "/proc/self/task";
	struct stat status;
	long err = raw_syscall6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&status, 0, 0, 0);

	return err < 0 ? err : (long)status.st_nlink - 2;
}

/*
 * Who was listed before the count and lives after it was there when it was made. A single thread is
 * the caller, whatever it is called by a /proc of another pid namespace.
 */
int thread_set_list_whole(struct thread_set *set, bool *whole)
{
	int err = thread_set_list(set, 0);
	long count = err ? err : count_threads(), alive = 0;

	if (count == 1) {
		set->count = 0;
		*whole = true;
		return thread_set_add(set, raw_gettid());
	}
	if (count < 0)
		return (int)count;
	for (size_t i = 0; i < set->count; i++)
		alive += raw_syscall3(SYS_tgkill, raw_getpid(), set->tids[i], 0) == 0;
	*whole = alive == count;
	return 0;
}
