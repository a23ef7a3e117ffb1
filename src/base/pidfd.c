/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pidfd.h"

#include "base/syscall.h"

#include <errno.h>
#include <poll.h>

/* Without memory for poll(2) one that was waited for still is no target of signals, so that nobody
 * waits for its end for ever. */
bool pidfd_has_ended(int pidfd)
{
	struct pollfd ended = {pidfd, POLLIN, 0};
	long ready = pidfd >= 0 ? raw_syscall3(SYS_poll, (long)&ended, 1, 0) : 0;

	if (ready >= 0)
		return ready == 1;
	return raw_syscall6(SYS_pidfd_send_signal, pidfd, 0, 0, 0, 0, 0) == -ESRCH;
}
