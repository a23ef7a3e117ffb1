/* SPDX-License-Identifier: Apache-2.0 */
#include "record/area.h"

#include "base/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

_Static_assert(sizeof(struct area) < 2u << 20, "the area stays small");
_Static_assert(ATOMIC_INT_LOCK_FREE == 2 && ATOMIC_LLONG_LOCK_FREE == 2,
	       "words shared between processes need no lock");

_Static_assert(AREA_PROCESSES <= 256, "an index fits into a record's state");

/* Between two accesses to what is shared. Here a test puts every other thread's steps. */
#ifndef AREA_STEP
#define AREA_STEP()
#endif

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW)

static struct area *map_area(int fd)
{
	long result = raw_syscall6(SYS_mmap, 0, sizeof(struct area), PROT_READ | PROT_WRITE,
				   MAP_SHARED, fd, 0);

	return raw_failed(result) ? NULL : (struct area *)result;
}

/* Its number is none of the standard descriptors', which may be closed here. */
static int create_file(void)
{
	int made = (int)raw_syscall3(SYS_memfd_create, (long)"trapline",
				     MFD_CLOEXEC | MFD_ALLOW_SEALING, 0);
	int moved;

	if (made < 0 || made > STDERR_FILENO)
		return made;
	moved = (int)raw_fcntl(made, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	raw_close(made);
	return moved;
}

/* A limit on the size of files is one on memory files too, and SIGXFSZ ends whoever exceeds it:
 * that may be a program that makes an area for itself. */
static bool may_be_so_large(void)
{
	struct rlimit limit;

	return raw_syscall6(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) ||
	       limit.rlim_cur >= sizeof(struct area);
}

int area_create(struct area **area, int *fd)
{
	struct area *mapped;
	int made;

	if (!may_be_so_large())
		return -EFBIG;
	made = create_file();
	if (made < 0)
		return made;
	if (raw_syscall3(SYS_ftruncate, made, sizeof(struct area), 0) ||
	    raw_fcntl(made, F_ADD_SEALS, SEALS)) {
		raw_close(made);
		return -ENOSPC;
	}
	mapped = map_area(made);
	if (!mapped) {
		raw_close(made);
		return -ENOMEM;
	}
	mapped->magic = AREA_MAGIC;
	mapped->version = AREA_VERSION;
	mapped->size = sizeof(*mapped);
	mapped->controller = raw_getpid();
	mapped->controller_fd = made;
	*area = mapped;
	*fd = made;
	return 0;
}

int area_open(struct area **area, int fd)
{
	struct area *mapped;
	struct stat status;

	/* A file too short for the area must not be touched: SIGBUS. Areas are sealed, so what is
	 * long enough now stays so. newfstatat: what the dynamic linker itself uses, for filters.
	 */
	if (raw_syscall6(SYS_newfstatat, fd, (long)"", (long)&status, AT_EMPTY_PATH, 0, 0) ||
	    status.st_size != sizeof(struct area) ||
	    (raw_fcntl(fd, F_GET_SEALS, 0) & SEALS) != SEALS)
		return -EINVAL;
	/* Ours or the system's: a variable that another user set leads nowhere. */
	if (status.st_uid != 0 && status.st_uid != (uid_t)raw_syscall3(SYS_geteuid, 0, 0, 0))
		return -EPERM;
	mapped = map_area(fd);
	if (!mapped)
		return -ENOMEM;
	if (mapped->magic != AREA_MAGIC || mapped->version != AREA_VERSION ||
	    mapped->size != sizeof(*mapped)) {
		area_unmap(mapped);
		return -EINVAL;
	}
	*area = mapped;
	return 0;
}

void area_unmap(struct area *area)
{
	raw_syscall3(SYS_munmap, (long)area, sizeof(*area), 0);
}

static const char *read_number(const char *text, unsigned *number)
{
	unsigned value = 0;

	if (*text < '0' || *text > '9')
		return NULL;
	for (; *text >= '0' && *text <= '9'; text++) {
		if (value > (unsigned)INT_MAX / 10 - 1)
			return NULL;
		value = value * 10 + (unsigned)(*text - '0');
	}
	*number = value;
	return text;
}

static char *write_number(char *at, unsigned number)
{
	char digits[12];
	int count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count > 0)
		*at++ = digits[--count];
	return at;
}

static char *write_text(char *at, const char *text)
{
	while (*text)
		*at++ = *text++;
	return at;
}

int area_locator_path(const char *locator, char path[static AREA_PATH])
{
	unsigned pid, fd;
	uint64_t secret;
	char *at = path;

	locator = read_number(locator, &pid);
	if (!locator || *locator != ':')
		return -EINVAL;
	locator = read_number(locator + 1, &fd);
	if (!locator || (*locator && area_read_secret(locator, &secret)))
		return -EINVAL;
	at = write_number(write_text(at, "/proc/"), pid);
	at = write_number(write_text(at, "/fd/"), fd);
	*at = '\0';
	return 0;
}

int area_attach(struct area **area, const char *locator)
{
	char path[AREA_PATH];
	int err = area_locator_path(locator, path), fd;

	if (err)
		return err;
	fd = (int)raw_syscall6(SYS_openat, AT_FDCWD, (long)path,
			       O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0, 0, 0);
	if (fd < 0)
		return fd;
	err = area_open(area, fd);
	raw_close(fd);
	return err;
}

void area_locator(const struct area *area, pid_t pid, char locator[static AREA_LOCATOR])
{
	char *at = write_number(locator, (unsigned)pid);

	*at = ':';
	at = write_number(at + 1, (unsigned)area->controller_fd);
	area_write_secret(at, area->secret);
}

pid_t area_locator_pid(const char *locator)
{
	unsigned pid;

	return read_number(locator, &pid) ? (pid_t)pid : 0;
}

int area_locator_secret(const char *locator, uint64_t *secret)
{
	const char *last = strrchr(locator, ':');

	return last ? area_read_secret(last, secret) : -EINVAL;
}

void area_ring(struct area *area)
{
	/* Sequentially consistent on both sides (control/control.c): either the controller sees
	 * the new count, or this sees that it waits. */
	atomic_fetch_add(&area->doorbell, 1);
	if (atomic_load(&area->waiting))
		raw_futex((uint32_t *)&area->doorbell, FUTEX_WAKE, 1, NULL);
}

/* Free, for its next use. */
static uint64_t next_use(uint64_t state)
{
	return ((state >> 16) + 1) << 16;
}

struct area_hit *area_hit_claim(struct area *area, uint32_t process, uint64_t *ticket)
{
	uint32_t start = atomic_fetch_add_explicit(&area->next_hit, 1, memory_order_relaxed);

	for (uint32_t i = 0; i < AREA_HITS; i++) {
		struct area_hit *hit = &area->hit[(start + i) % AREA_HITS];
		uint64_t state = atomic_load_explicit(&hit->state, memory_order_relaxed);

		if (area_hit_state(state) != AREA_HIT_FREE)
			continue;
		AREA_STEP();
		*ticket = state >> 16 << 16 | (uint64_t)(process & 0xff) << 8;
		if (atomic_compare_exchange_strong_explicit(
			    &hit->state, &state, *ticket | AREA_HIT_FILLING, memory_order_acquire,
			    memory_order_relaxed))
			return hit;
	}
	return NULL;
}

void area_hit_publish(struct area_hit *hit, uint64_t ticket)
{
	uint64_t filling = ticket | AREA_HIT_FILLING;

	atomic_compare_exchange_strong_explicit(&hit->state, &filling, ticket | AREA_HIT_HELD,
						memory_order_release, memory_order_relaxed);
}

void area_hit_leave(struct area_hit *hit, uint64_t ticket, uint64_t now)
{
	uint64_t held = ticket | AREA_HIT_HELD, leaving = ticket | AREA_HIT_LEAVING;

	if (!atomic_compare_exchange_strong_explicit(&hit->state, &held, ticket | AREA_HIT_LEAVING,
						     memory_order_acquire, memory_order_relaxed))
		return;
	AREA_STEP();
	atomic_store_explicit(&hit->exit_time, now, memory_order_relaxed);
	AREA_STEP();
	atomic_compare_exchange_strong_explicit(&hit->state, &leaving, ticket | AREA_HIT_DONE,
						memory_order_release, memory_order_relaxed);
}

void area_hit_copy(struct area_hit *to, const struct area_hit *from)
{
	memcpy(to, from, offsetof(struct area_hit, stack));
	to->process = area_hit_owner(atomic_load_explicit(&from->state, memory_order_relaxed));
	if (to->value_length > AREA_VALUE)
		to->value_length = AREA_VALUE;
	if (to->stack_length > AREA_STACK)
		to->stack_length = AREA_STACK;
	to->thread[AREA_NAME - 1] = '\0';
	memcpy(to->stack, from->stack, to->stack_length);
}

bool area_hit_take(struct area_hit *hit)
{
	uint64_t state = atomic_load_explicit(&hit->state, memory_order_relaxed);

	if (area_hit_state(state) != AREA_HIT_HELD && area_hit_state(state) != AREA_HIT_DONE)
		return false;
	AREA_STEP();
	/* Release: who claims it next overwrites what was read here. */
	return atomic_compare_exchange_strong_explicit(&hit->state, &state, next_use(state),
						       memory_order_release, memory_order_relaxed);
}

void area_hit_reclaim(struct area_hit *hit)
{
	uint64_t state = atomic_load_explicit(&hit->state, memory_order_relaxed);

	atomic_store_explicit(&hit->state, next_use(state), memory_order_release);
}
