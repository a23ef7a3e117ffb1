/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/fix.h"

#include "base/syscall.h"
#include "inject/memory.h"
#include "inject/step.h"
#include "inject/turn.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static int with_turn(struct injection *injection, step_fn *step, void *context)
{
	int turn = turn_begin(injection->pid), err;

	err = step_in_some_thread(injection, step, context);
	turn_end(turn);
	return err;
}

static int unmap(struct injection *injection, struct remote *remote, void *context)
{
	struct inject_fix *fix = context;

	(void)injection;
	return (int)REMOTE_CALL(remote, SYS_munmap, fix->base, fix->size);
}

/* Each part with what it may do in the end: code that was writable before is refused on some
 * systems (prctl(2), PR_SET_MDWE). */
static int map_parts(struct remote *remote, const struct inject_fix *fix)
{
	for (unsigned i = 0; i < fix->count; i++) {
		const struct inject_part *part = &fix->part[i];
		long mapped = REMOTE_CALL(remote, SYS_mmap, fix->base + part->offset, part->size,
					  (uint64_t)part->protection,
					  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, (uint64_t)-1, 0);

		if (raw_failed(mapped))
			return (int)mapped;
	}
	return 0;
}

static int map(struct injection *injection, struct remote *remote, void *context)
{
	struct inject_fix *fix = context;
	long base = REMOTE_CALL(remote, SYS_mmap, 0, fix->size, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, (uint64_t)-1, 0);
	int err;

	if (raw_failed(base))
		return (int)base;
	fix->base = (uint64_t)base;
	err = map_parts(remote, fix);
	if (err)
		unmap(injection, remote, fix);
	return err;
}

int inject_fix_map(struct injection *injection, struct inject_fix *fix)
{
	int err = with_turn(injection, map, fix);

	if (err)
		fix->base = 0;
	return err;
}

struct filling {
	const struct inject_fix *fix;
	const char *bytes;
};

/* The length of a part up to its last byte that is not zero: mapped memory has zeros already. */
static size_t filled(const char *bytes, uint64_t size)
{
	while (size && !bytes[size - 1])
		size--;
	return size;
}

static int fill(struct injection *injection, struct remote *remote, void *context)
{
	const struct filling *filling = context;
	const struct inject_fix *fix = filling->fix;
	int err = 0;

	(void)injection;
	for (unsigned i = 0; i < fix->count && !err; i++) {
		const struct inject_part *part = &fix->part[i];
		const char *bytes = filling->bytes + part->offset;

		err = memory_write_code(remote->tid, fix->base + part->offset, bytes,
					filled(bytes, part->size));
	}
	return err;
}

int inject_fix_fill(struct injection *injection, struct inject_fix *fix, const void *bytes)
{
	int err = with_turn(injection, fill, &(struct filling){fix, bytes});

	if (err)
		inject_fix_unmap(injection, fix);
	return err;
}

void inject_fix_unmap(struct injection *injection, struct inject_fix *fix)
{
	if (fix->base)
		with_turn(injection, unmap, fix);
	fix->base = 0;
}

int inject_redirect_set(const struct injection *injection, const struct injected_redirect *redirect,
			unsigned count)
{
	const uint64_t at = injection->own + offsetof(struct injected_own, redirect);
	struct injected_redirect table[INJECTED_REDIRECTS] = {0};

	if (count > INJECTED_REDIRECTS)
		return -ENOSPC;
	memcpy(table, redirect, count * sizeof(*table));
	return memory_write(injection->pid, at, table, sizeof(table));
}

int inject_redirect_switch(const struct injection *injection, bool on)
{
	const uint64_t at = injection->own + offsetof(struct injected_own, redirecting);
	const uint32_t redirecting = on;

	return memory_write(injection->pid, at, &redirecting, sizeof(redirecting));
}
