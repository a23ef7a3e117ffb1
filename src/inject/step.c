/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/step.h"

#include "inject/apart.h"
#include "inject/choose.h"
#include "inject/rush.h"
#include "inject/vdso.h"

#include <errno.h>

#define TRIES 5

struct stepping {
	struct injection *injection;
	step_fn *step;
	void *context;
};

void step_note_stop(struct injection *injection, uint64_t length)
{
	injection->stops++;
	if (injection->stopped < length)
		injection->stopped = length;
}

static int step_apart(void *context)
{
	const struct stepping *stepping = context;
	struct injection *injection = stepping->injection;
	struct vdso vdso;
	struct remote remote;
	struct rush rush;
	int err = vdso_find(injection->pid, &vdso);

	for (int i = 0; i < TRIES && !err; i++) {
		pid_t tid;

		err = choose_some_thread(injection->pid, &tid);
		if (err || apart_is_alone())
			return err ? err : -ECANCELED;
		rush = rush_begin();
		err = remote_begin(&remote, REMOTE_PROCESS(injection), tid, vdso.call);
		if (!err) {
			err = stepping->step(injection, &remote, stepping->context);
			step_note_stop(injection, remote_end(&remote));
			rush_end(&rush);
			return err;
		}
		rush_end(&rush);
		err = err == -ESRCH || err == -ETIMEDOUT ? 0 : err;
	}
	return err ? err : -ESRCH;
}

int step_in_some_thread(struct injection *injection, step_fn *step, void *context)
{
	return apart_run(step_apart, &(struct stepping){injection, step, context});
}
