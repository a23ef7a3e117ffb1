/* SPDX-License-Identifier: Apache-2.0 */
/* Whose is the action of SIGTRAP? /proc tells only that there is a handler. */
#include "inject/inject.h"

#include "inject/actions.h"
#include "inject/apart.h"
#include "inject/choose.h"
#include "inject/remote.h"
#include "inject/rush.h"
#include "inject/vdso.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

struct asking {
	struct injection *injection;
	uint64_t call; /* struct vdso's */
	struct injected_action action;
};

static int ask_apart(void *context)
{
	struct asking *asking = context;
	const struct injection *injection = asking->injection;
	const uint64_t room = injection->own + offsetof(struct injected_own, room);
	struct remote remote;
	struct rush rush;
	pid_t tid;
	int err = choose_some_thread(injection->pid, &tid);

	if (err || apart_is_alone())
		return err ? err : -ECANCELED;
	rush = rush_begin();
	err = remote_begin(&remote, REMOTE_PROCESS(injection), tid, asking->call);
	if (!err) {
		err = actions_ask(&remote, room, SIGTRAP, &asking->action);
		remote_end(&remote);
	}
	rush_end(&rush);
	return err;
}

int inject_asks_action(pid_t pid)
{
	struct inject_reason reason;
	struct injection injection;
	struct asking asking = {.injection = &injection};
	struct vdso vdso;
	int err;

	if (inject_find(pid, &injection, &reason) != 1)
		return -ESRCH;
	err = vdso_find(pid, &vdso);
	asking.call = vdso.call;
	if (!err)
		err = apart_run(ask_apart, &asking);
	close(injection.pidfd);
	return err ? err : asking.action.handler == injection.entry;
}
