/* SPDX-License-Identifier: Apache-2.0 */
#include "contact/patience.h"

#include "agent/state.h"
#include "base/syscall.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdatomic.h>

#define ASLEEP_MOST 50 /* slices, one second together */
/* ns; the area may say anything, since the program can write to it. */
#define BOUND_MOST 20000000000ull

/* A controller that this program started may end before it has begun: a wrong option, say. */
bool agent_has_gone(const struct area *area)
{
	pid_t controller = __atomic_load_n(&area->controller, __ATOMIC_RELAXED);

	return area_is_closed(area) ||
	       (area->root && controller != area->root && !atomic_load(&area->life) &&
		raw_syscall3(SYS_kill, controller, 0, 0) == -ESRCH);
}

struct patience patience_begin(uint64_t bound)
{
	return (struct patience){.until = agent_now() + (bound < BOUND_MOST ? bound : BOUND_MOST)};
}

struct patience patience_begin_firm(uint64_t bound)
{
	struct patience patience = patience_begin(bound);

	patience.firm = true;
	return patience;
}

bool patience_goes_on(const struct patience *patience)
{
	struct area *area = agent_state.area;

	if (agent_has_gone(area) || (!patience->firm && atomic_load(&area->unanswered)))
		return false;
	if (agent_now() < patience->until && patience->asleep < ASLEEP_MOST)
		return true;
	atomic_store(&area->unanswered, 1);
	return false;
}

bool patience_wait(struct patience *patience, _Atomic uint32_t *word, uint32_t seen)
{
	uint64_t now = agent_now();
	struct timespec left = {0, PATIENCE_SLICE};
	long result;

	if (!patience_goes_on(patience))
		return false;
	if (patience->until - now < PATIENCE_SLICE)
		left.tv_nsec = now < patience->until ? (long)(patience->until - now) : 1;
	result = raw_futex((uint32_t *)word, FUTEX_WAIT, seen, &left);
	/* The controller was rung before and has not woken in the whole PATIENCE_SLICE. */
	if (result == -ETIMEDOUT && atomic_load(&agent_state.area->waiting))
		patience->asleep++;
	return result != -ENOSYS;
}
