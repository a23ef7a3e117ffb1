/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a program gets the area where it cannot be opened through /proc: it runs as another user than
 * the controller, in another pid namespace, or without /proc. The process that executes it still
 * maps the area, and tells the controller whom to look for. The new program then makes a nameless
 * pair of sockets and a memory file whose name says so; the controller, if it may, takes one end of
 * the pair out of the process (pidfd_getfd(2)) and sends the area's descriptor through it. Nothing
 * listens anywhere, and all of it is closed again before the program's own code runs.
 */
#include "contact/ask.h"

#include "agent/state.h"
#include "base/syscall.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/memfd.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>

/* Seconds to wait for the controller's answer, which may be busy reading symbols. */
#define BOUND_SECONDS 3
#define LOOKS 20	/* for the controller's awakening, … */
#define LOOK_NS 1000000 /* … ns apart */
#define AREA_FILE "/memfd:trapline (deleted)"

static bool leads_to_area(const char *locator)
{
	char path[AREA_PATH], target[sizeof(AREA_FILE)];
	long length;

	if (area_locator_path(locator, path))
		return false;
	length = raw_syscall3(SYS_readlink, (long)path, (long)target, sizeof(target));
	return length == sizeof(AREA_FILE) - 1 && memcmp(target, AREA_FILE, (size_t)length) == 0;
}

/* Compares user ids instead of trying to open the area: this program may be able to open it where
 * the next one is not, since capabilities that were kept across setuid(2) are lost by execve(2). */
static bool is_controllers_user(const struct area *area)
{
	return (uid_t)raw_syscall3(SYS_geteuid, 0, 0, 0) == area->user &&
	       (gid_t)raw_syscall3(SYS_getegid, 0, 0, 0) == area->group;
}

/* False where no entry for askers is free: too many programs are executed at a time. */
static bool announce_asker(struct area *area)
{
	int32_t self = raw_getpid();

	for (unsigned i = 0; i < AREA_ASKERS; i++) {
		int32_t none = 0;

		if (atomic_load(&area->asker[i]) == self ||
		    atomic_compare_exchange_strong(&area->asker[i], &none, self)) {
			area_ring(area);
			return true;
		}
	}
	return false;
}

/* Is the controller alive? One that did not answer in time may have been busy: it is rung once
 * more, and does not wake only where it is stopped. */
static bool controller_answers(struct area *area)
{
	if (!atomic_load(&area->unanswered))
		return true;
	area_ring(area);
	for (unsigned i = 0; i < LOOKS && atomic_load(&area->unanswered); i++)
		raw_nanosleep(LOOK_NS);
	return !atomic_load(&area->unanswered) || !atomic_load(&area->waiting);
}

/* Asking needs unusual system calls, which a seccomp filter may punish by death: never asked once a
 * filter was set. */
static bool may_ask(const struct area *area)
{
	const struct area_process *process = agent_state.process;

	return atomic_load(&area->answers) && !agent_state.quiet &&
	       !(process && atomic_load(&process->quiet));
}

/* Without the secret the executed program asks nobody. Used where the controller does not look, or
 * would not answer. */
static void forget_secret(char locator[static AREA_LOCATOR])
{
	uint64_t secret;

	if (!area_locator_secret(locator, &secret))
		*strrchr(locator, ':') = '\0';
}

void agent_executed_locator(char locator[static AREA_LOCATOR])
{
	struct area *area = agent_state.area;
	bool leads;

	strcpy(locator, agent_state.locator);
	if (!may_ask(area)) {
		forget_secret(locator);
		return;
	}
	leads = leads_to_area(locator);
	/* The controller has closed the area and answers nobody. */
	if (area_is_closed(area)) {
		forget_secret(locator);
		return;
	}
	if (leads && is_controllers_user(area))
		return;
	/* A controller that may not look into another user's process is told as well, so that it
	 * can say so. */
	if (!controller_answers(area) || !announce_asker(area) ||
	    (atomic_load(&area->answers) == AREA_ANSWERS_USER && !is_controllers_user(area)))
		forget_secret(locator);
	else if (!leads)
		area_locator(area, 0, locator);
}

bool agent_should_ask(const char *locator, int err, uint64_t *secret)
{
	return !area_locator_secret(locator, secret) &&
	       (err == -EACCES || err == -EPERM || locator[0] == '0');
}

static int make_sign(uint64_t secret, int socket)
{
	char name[AREA_SIGN];

	area_write_sign(name, secret, (unsigned)socket);
	return (int)raw_syscall3(SYS_memfd_create, (long)name, MFD_CLOEXEC, 0);
}

/* Waits until the controller has sent something or has ended. One that was killed keeps its id
 * until its parent has waited for it, so its descriptor is polled as well. False: there is nothing
 * more to wait for. */
static bool wait_for_controller(int socket, int controller)
{
	struct pollfd wanted[2] = {{.fd = socket, .events = POLLIN},
				   {.fd = controller, .events = POLLIN}};
	struct timespec bound = {BOUND_SECONDS, 0};

	/* ppoll(2) ignores a negative descriptor; then the bound alone ends the wait. The kernel
	 * subtracts from `bound` the time that has passed. */
	while (raw_syscall6(SYS_ppoll, (long)wanted, 2, (long)&bound, 0, 0, 0) == -EINTR)
		;
	return wanted[0].revents != 0;
}

static int receive_descriptor(int socket)
{
	char byte;
	struct iovec data = {&byte, 1};
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	long got =
		raw_syscall3(SYS_recvmsg, socket, (long)&message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	int fd;

	if (got < 0)
		return (int)got;
	if (message.msg_controllen < CMSG_LEN(sizeof(int)) ||
	    control.header.cmsg_type != SCM_RIGHTS)
		return -EPERM;
	memcpy(&fd, CMSG_DATA(&control.header), sizeof(fd));
	return fd;
}

int agent_ask(struct area **area, uint64_t secret, pid_t controller)
{
	int pair[2], sign, fd, err, process = -1;

	if (controller) {
		process = (int)raw_syscall3(SYS_pidfd_open, controller, 0, 0);
		if (process == -ESRCH)
			return process;
	}
	err = (int)raw_syscall6(SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
				(long)pair, 0, 0);
	if (err) {
		if (process >= 0)
			raw_close(process);
		return err;
	}
	sign = make_sign(secret, pair[1]);
	fd = sign;
	if (sign >= 0)
		fd = wait_for_controller(pair[0], process) ? receive_descriptor(pair[0]) : -ESRCH;
	if (process >= 0)
		raw_close(process);
	raw_close(pair[0]);
	raw_close(pair[1]);
	if (sign >= 0)
		raw_close(sign);
	if (fd < 0)
		return fd;
	err = area_open(area, fd);
	raw_close(fd);
	return err;
}
