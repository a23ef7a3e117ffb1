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
		return explain_failure(-EINVAL, "spec.size is too small; set it to "
						"sizeof(struct tl_spec)");
	for (size_t i = sizeof(*known); i < spec->size; i++)
		if (((const char *)spec)[i])
			return -E2BIG;
	*known = *spec;
	return 0;
}

static int check_memory(uintptr_t addr, size_t len)
{
	if (!len)
		return explain_failure(-EINVAL,
				       "len is 0; memory needs at least one byte to watch");
	if (addr + len < addr)
		return explain_failure(-EINVAL, "the range ends beyond the last address; give a "
						"smaller len");
	return 0;
}

static int check_place(const void *addr, size_t len, unsigned access)
{
	if (access & ~KNOWN_ACCESS)
		return explain_failure(-EINVAL,
				       "access may hold TL_READ, TL_WRITE and TL_EXEC; the "
				       "other bits are only told, never asked for");
	if (!addr)
		return explain_failure(-EINVAL, "addr is 0; set it to what is to be watched");
	if (!(access & TL_EXEC))
		return check_memory((uintptr_t)addr, len);
	if (access != TL_EXEC)
		return explain_failure(-EINVAL,
				       "TL_EXEC goes alone; open another event for reads and "
				       "writes of that address");
	if (len != 0 && len != 1 && len != sizeof(long))
		return explain_failure(-EINVAL,
				       "a break on code covers one instruction; set len to 0");
	return 0;
}

static int check_threads(const struct tl_spec *spec)
{
	pid_t pid = raw_getpid();

	if (!spec->tids || !spec->ntids)
		return explain_failure(-EINVAL, "TL_THREADS needs the threads: set tids and ntids");
	/* A signal in a thread of another process would find no handler of ours there. */
	for (size_t i = 0; i < spec->ntids; i++)
		if (raw_syscall3(SYS_tgkill, pid, spec->tids[i], 0) < 0 &&
		    !(spec->flags & TL_BEST_EFFORT))
			return -ESRCH;
	return 0;
}

static int check_kind(const struct tl_spec *spec)
{
	if (!spec->access == !spec->counter)
		return explain_failure(-EINVAL, "set either access, to watch memory or code, or "
						"counter, to count something");
	if (spec->flags & ~KNOWN_FLAGS)
		return explain_failure(-EINVAL,
				       "flags holds a bit that this library does not know");
	if (spec->counter > TL_BRANCH_MISSES)
		return explain_failure(-EINVAL, "counter is none that this library knows");
	if (spec->counter && !spec->period)
		return explain_failure(-EINVAL, "a counter needs a period, in its own unit");
	if ((unsigned)spec->scope > TL_THREADS)
		return explain_failure(-EINVAL, "scope is none of enum tl_scope");
	return 0;
}

int spec_check(const struct tl_spec *spec, struct tl_spec *known)
{
	int err;

	explain_clear();
	err = copy_known(spec, known);
	if (!err)
		err = check_kind(known);
	if (err)
		return err;
	if (known->access)
		err = check_place(known->addr, known->len, known->access);
	if (!err && known->scope == TL_THREADS)
		err = check_threads(known);
	/* Protection keys do not check the fetching of instructions. */
	if (!err && known->access & TL_EXEC && known->flags & TL_REGION)
		err = explain_failure(-ENOTSUP, "a region sees reads and writes, never execution; "
						"leave TL_REGION away for TL_EXEC");
	/* An event that is opened as a region stays one, also when it is moved to few bytes. */
	if (!(known->access & TL_EXEC) && known->len > SLOTS_MAX_LENGTH)
		known->flags |= TL_REGION;
	return err;
}

int spec_check_move(const tl_event *event, const void *addr, size_t len, unsigned access)
{
	explain_clear();
	if (event->counter)
		return explain_failure(-EINVAL,
				       "a counter watches no place, so it cannot be moved");
	if (event->flags & TL_REGION && access & TL_EXEC)
		return explain_failure(-EINVAL,
				       "a region cannot be moved to code; open an event with "
				       "TL_EXEC");
	if (event->flags & TL_REGION)
		return check_place(addr, len, access);
	if (len > SLOTS_MAX_LENGTH)
		return explain_failure(-EINVAL,
				       "an event on hardware slots stays on them, so len is at "
				       "most 8; open another with TL_REGION");
	return check_place(addr, len, access);
}
