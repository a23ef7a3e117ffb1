/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/running.h"

#include "base/counters.h"
#include "base/lock.h"
#include "base/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#define RECORDS 8192
#define WAIT_STEP_NS 50000
#define STEPS_BEFORE_DOUBT 200 /* of 50 us each: after 10 ms the owner of a record may be gone */

static struct running records[RECORDS];
static unsigned records_used; /* high-water mark */

static __thread struct running *own_record __attribute__((tls_model("initial-exec")));

static bool thread_exists(pid_t tid)
{
	return raw_syscall3(SYS_tgkill, raw_getpid(), tid, 0) != -ESRCH;
}

/* OWNER_ANONYMOUS where a seccomp filter of the program may forbid gettid(2): then no thread is
 * found to have ended, either. */
static pid_t own_tid(void)
{
	return __atomic_load_n(&owner_lock_anonymous, __ATOMIC_RELAXED) ? OWNER_ANONYMOUS
									: raw_gettid();
}

static void note_used(unsigned index)
{
	unsigned used = __atomic_load_n(&records_used, __ATOMIC_RELAXED);

	while (used <= index && !__atomic_compare_exchange_n(&records_used, &used, index + 1, false,
							     __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		;
}

static struct running *claim(unsigned index, pid_t expected, pid_t tid)
{
	struct running *record = &records[index];

	if (!__atomic_compare_exchange_n(&record->tid, &expected, tid, false, __ATOMIC_SEQ_CST,
					 __ATOMIC_RELAXED))
		return NULL;
	__atomic_store_n(&record->event, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&record->beside, NULL, __ATOMIC_RELAXED);
	__atomic_store_n(&record->parked, 0, __ATOMIC_RELAXED);
	memset(record->root, 0, sizeof(record->root));
	note_used(index);
	return record;
}

/* Takes a free record, or one of a thread that has ended. */
static struct running *claim_any(pid_t tid)
{
	struct running *record;

	for (unsigned i = 0; i < RECORDS; i++) {
		if (__atomic_load_n(&records[i].tid, __ATOMIC_RELAXED))
			continue;
		record = claim(i, 0, tid);
		if (record)
			return record;
	}
	for (unsigned i = 0; i < RECORDS && tid != OWNER_ANONYMOUS; i++) {
		pid_t owner = __atomic_load_n(&records[i].tid, __ATOMIC_RELAXED);

		if (thread_exists(owner))
			continue;
		record = claim(i, owner, tid);
		if (record)
			return record;
	}
	return NULL;
}

/*
 * Does the record belong to a handler that was left? A record whose event is still set was either
 * left by longjmp(), or belongs to the thread whose thread-local storage this one shares
 * (clone(CLONE_VM) without CLONE_SETTLS), which may be in a handler.
 */
static bool abandoned(struct running *record)
{
	if (record->tid != own_tid())
		return false;
	counter_increment(COUNTER_HANDLERS_ABANDONED);
	__atomic_store_n(&record->parked, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&record->beside, NULL, __ATOMIC_RELEASE);
	__atomic_store_n(&record->event, NULL, __ATOMIC_RELEASE);
	return true;
}

struct running *running_acquire(void)
{
	struct running *record = own_record;
	pid_t tid;

	if (record && (!record->event || abandoned(record)))
		return record;
	tid = own_tid();
	record = claim_any(tid);
	if (record)
		own_record = record;
	return record;
}

struct running *running_current(void)
{
	struct running *record = own_record;

	return record && record->event ? record : NULL;
}

static int read_stat(pid_t tid, char *text, size_t size)
{
	char path[48] = "/proc/self/task/";
	char digits[12];
	size_t length = strlen(path);
	int count = 0, fd;
	long got;

	for (; tid; tid /= 10)
		digits[count++] = (char)('0' + tid % 10);
	while (count)
		path[length++] = digits[--count];
	memcpy(path + length, "/stat", sizeof("/stat"));
	fd = (int)raw_syscall6(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return fd;
	got = raw_syscall3(SYS_read, fd, (long)text, (long)size - 1);
	raw_close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? 0 : -EIO;
}

/* The blocked signals 1 to 31 are field 32 of proc(5)'s stat; field 3 follows the thread's name,
 * which is in parentheses and may itself hold some. */
#define STAT_FIELD_BLOCKED 32

/* Handlers run with every signal blocked, so a thread that has SIGTRAP open has left its handler
 * without returning, and one that does not exist has ended in it. */
static bool left_handler(pid_t tid)
{
	char text[640];
	const char *field;
	uint64_t mask = 0;
	int err = read_stat(tid, text, sizeof(text));

	if (err)
		return err == -ENOENT || err == -ESRCH;
	field = strrchr(text, ')');
	for (int number = 2; field && number < STAT_FIELD_BLOCKED; number++)
		field = strchr(field + 1, ' ');
	if (!field)
		return false;
	for (field++; *field >= '0' && *field <= '9'; field++)
		mask = mask * 10 + (uint64_t)(*field - '0');
	return !(mask & 1ull << (SIGTRAP - 1));
}

static bool runs(const struct running *record, const tl_event *event)
{
	return (__atomic_load_n(&record->event, __ATOMIC_SEQ_CST) == event ||
		__atomic_load_n(&record->beside, __ATOMIC_SEQ_CST) == event) &&
	       !__atomic_load_n(&record->parked, __ATOMIC_SEQ_CST);
}

static void forget(tl_event **of, tl_event *event)
{
	__atomic_compare_exchange_n(of, &event, NULL, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

static void wait_for(struct running *record, tl_event *event)
{
	for (unsigned step = 0; runs(record, event); step++) {
		if (step >= STEPS_BEFORE_DOUBT && step % STEPS_BEFORE_DOUBT == 0 &&
		    left_handler(__atomic_load_n(&record->tid, __ATOMIC_RELAXED))) {
			counter_increment(COUNTER_HANDLERS_ABANDONED);
			forget(&record->event, event);
			forget(&record->beside, event);
			return;
		}
		raw_nanosleep(WAIT_STEP_NS);
	}
}

void running_wait(tl_event *event)
{
	struct running *self = running_current();
	unsigned used = __atomic_load_n(&records_used, __ATOMIC_SEQ_CST);

	if (self)
		__atomic_store_n(&self->parked, 1, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < used; i++)
		if (&records[i] != self && runs(&records[i], event))
			wait_for(&records[i], event);
	if (self)
		__atomic_store_n(&self->parked, 0, __ATOMIC_SEQ_CST);
}
