/* SPDX-License-Identifier: Apache-2.0 */
#include "trap/spec.h"

#include "base/syscall.h"
#include "event/explain.h"
#include "event/slots.h"
#include "trap/object.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define KNOWN_FLAGS (TL_DISABLED | TL_INCLUDE_KERNEL | TL_REGION | TL_BEST_EFFORT | TL_UNDECODED)
#define KNOWN_ACCESS (TL_READ | TL_WRITE | TL_EXEC)

/* Option structs grow at their end: a newer caller's unknown tail must be zero, so that nothing it
 * asks for is silently ignored. */
static int copy_known(const struct tl_spec *spec, struct tl_spec *known)
{
	if (!spec || spec->size < sizeof(*known))
		return -EINVAL;
	for (size_t i = sizeof(*known); i < spec->size; i++)
		if (((const char *)spec)[i])
			return -E2BIG;
	*known = *spec;
	return 0;
}

static int check_memory(uintptr_t addr, size_t len)
{
	if (!len || addr + len < addr)
		return -EINVAL;
	return 0;
}

static int check_place(const void *addr, size_t len, unsigned access)
{
	if (access & ~KNOWN_ACCESS)
		return -EINVAL;
	if (!(access & TL_EXEC))
		return check_memory((uintptr_t)addr, len);
	return access == TL_EXEC && (len == 0 || len == 1 || len == sizeof(long)) ? 0 : -EINVAL;
}

static int check_threads(const struct tl_spec *spec)
{
	pid_t pid = raw_getpid();

	if (!spec->tids || !spec->ntids)
		return -EINVAL;
	/* A signal in a thread of another process would find no handler of ours there. */
	for (size_t i = 0; i < spec->ntids; i++)
		if (raw_syscall3(SYS_tgkill, pid, spec->tids[i], 0) < 0 &&
		    !(spec->flags & TL_BEST_EFFORT))
			return -ESRCH;
	return 0;
}

int spec_check(const struct tl_spec *spec, struct tl_spec *known)
{
	int err = copy_known(spec, known);

	if (err)
		return err;
	if (!known->access == !known->counter || known->flags & ~KNOWN_FLAGS)
		return -EINVAL;
	if (known->counter && (known->counter > TL_BRANCH_MISSES || !known->period))
		return -EINVAL;
	if (known->access)
		err = check_place(known->addr, known->len, known->access);
	if (!err && known->scope == TL_THREADS)
		err = check_threads(known);
	else if ((unsigned)known->scope > TL_THREADS)
		err = -EINVAL;
	/* Protection keys do not check the fetching of instructions. */
	if (!err && known->access & TL_EXEC && known->flags & TL_REGION)
		err = explain_failure(-ENOTSUP, "a region sees reads and writes, never execution; "
						"leave TL_REGION away for TL_EXEC");
	/* What is a region stays one, however short it is moved to be. */
	if (!(known->access & TL_EXEC) && known->len > SLOTS_MAX_LENGTH)
		known->flags |= TL_REGION;
	return err;
}

int spec_check_move(const tl_event *event, const void *addr, size_t len, unsigned access)
{
	if (event->counter)
		return -EINVAL;
	if (event->flags & TL_REGION)
		return access & TL_EXEC ? -EINVAL : check_place(addr, len, access);
	if (len > SLOTS_MAX_LENGTH)
		return -EINVAL;
	return check_place(addr, len, access);
}
