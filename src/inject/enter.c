/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol of entering. All calls are made by one thread of the process, stopped:
 *
 *	mmap		the handler's memory; its code is written by us (memory_write_code())
 *	mprotect	its data becomes writable; it says who we are
 *	socketpair	one end is taken out (pidfd_getfd(2)), the area's descriptor sent through
 *it: that works whatever the user, the namespaces and the files in /proc recvmsg, close, close
 *	mmap, close	the area
 *	rt_sigaction	where the program has handlers: do they run on alternate stacks?
 *	rt_sigaction	last: from here on signals come to the handler, which has all it needs
 *
 * What fails on the way is taken back in the same stop. The descriptors exist within it alone;
 * accepted: another thread that forks at this moment leaves them to its child.
 */
#include "inject/inject.h"

#include "inject/actions.h"
#include "inject/apart.h"
#include "inject/choose.h"
#include "inject/image.h"
#include "inject/gap.h"
#include "inject/memory.h"
#include "inject/permission.h"
#include "inject/remote.h"
#include "inject/rush.h"
#include "inject/status.h"
#include "inject/vdso.h"

#include "base/pidfd.h"
#include "base/syscall.h"
#include "event/lethal.h"
#include "insn/extended.h"
#include "insn/insn.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define KERNEL_RESTORER 0x04000000ul /* SA_RESTORER, asm/signal.h */
#define HWCAP2_FSGSBASE 2u	     /* asm/hwcap2.h */
#define TRIES 5			     /* threads that may end or not stop, one after the other */

/* Where the calls' arguments lie, in injected_own.room. */
struct room {
	int32_t pair[2];
	struct msghdr message;
	struct iovec data;
	struct injected_action action;
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(int))];
	char byte;
};
_Static_assert(sizeof(struct room) <= INJECTED_ROOM, "the calls' arguments fit");

struct entering {
	const struct inject_request *request;
	struct injection *injection;
	struct injected_header header;
	struct remote remote;
	struct vdso vdso;
	uint64_t room; /* address of struct room */
	uint64_t gap;  /* where our memory is to be; 0: anywhere */
	pid_t controller;
	bool can_read_fs_base;
	uint16_t opmask_at;
	uint64_t caught; /* signals of which the program has handlers */
	bool ignored;	 /* … SIGTRAP, which it ignores */
	int pair[2], fd; /* in the process; -1: not open */
};

static bool failed(long result)
{
	return result < 0 && result > -4096;
}

static bool reads_fs_base(pid_t pid)
{
	Elf64_auxv_t entry;
	bool allowed = false;
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/auxv", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (fread(&entry, sizeof(entry), 1, file) == 1)
		if (entry.a_type == AT_HWCAP2)
			allowed = entry.a_un.a_val & HWCAP2_FSGSBASE;
	fclose(file);
	return allowed;
}

static int map_image(struct entering *entering)
{
	struct injection *injection = entering->injection;
	const struct injected_header *header = &entering->header;
	long image = REMOTE_CALL(&entering->remote, SYS_mmap, entering->gap, header->size,
				 PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1,
				 0);
	long err;

	if (failed(image))
		return (int)image;
	injection->image = (uint64_t)image;
	injection->size = header->size;
	injection->state = injection->image + header->state;
	injection->own = injection->image + header->own;
	injection->entry = injection->image + header->entry;
	entering->room = injection->own + offsetof(struct injected_own, room);
	err = memory_write_code(entering->remote.tid, injection->image, injected_image,
				injected_image_size);
	if (!err)
		err = REMOTE_CALL(&entering->remote, SYS_mprotect, injection->image + header->data,
				  header->size - header->data, PROT_READ | PROT_WRITE);
	return (int)err;
}

/* One end of the pair, here. */
static int take_end(const struct entering *entering)
{
	return lethal_getfd(entering->injection->pidfd, (int)entering->pair[1]);
}

static int send_area(const struct entering *entering)
{
	char byte = 0;
	struct iovec data = {&byte, 1};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
				.cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS}};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = &control,
				 .msg_controllen = sizeof(control)};
	int end = take_end(entering), err;

	if (end < 0)
		return end;
	memcpy(CMSG_DATA(&control.header), &entering->request->area_fd, sizeof(int));
	err = sendmsg(end, &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 ? 0 : -errno;
	close(end);
	return err;
}

static int receive_area(struct entering *entering)
{
	const uint64_t at = entering->room;
	struct room room = {
		.message = {.msg_iov = (struct iovec *)(at + offsetof(struct room, data)),
			    .msg_iovlen = 1,
			    .msg_control = (void *)(at + offsetof(struct room, control)),
			    .msg_controllen = sizeof(room.control)},
		.data = {(void *)(at + offsetof(struct room, byte)), 1},
	};
	int err = memory_write(entering->remote.tid, at, &room, sizeof(room));
	struct cmsghdr header;
	long got;

	if (err)
		return err;
	got = REMOTE_CALL(&entering->remote, SYS_recvmsg, (uint64_t)entering->pair[0],
			  at + offsetof(struct room, message), MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	if (got != 1)
		return failed(got) ? (int)got : -EPROTO;
	err = memory_read(entering->remote.tid, at, &room, sizeof(room));
	memcpy(&header, room.control, sizeof(header));
	if (err || header.cmsg_type != SCM_RIGHTS || header.cmsg_len != CMSG_LEN(sizeof(int)))
		return err ? err : -EPROTO;
	memcpy(&entering->fd, room.control + sizeof(header), sizeof(int));
	return 0;
}

static void close_there(struct entering *entering, int *fd)
{
	if (*fd >= 0)
		REMOTE_CALL(&entering->remote, SYS_close, (uint64_t)*fd);
	*fd = -1;
}

/* In one call where they stand beside each other, as in any program that has no gaps. */
static void close_all_there(struct entering *entering)
{
	int *pair = entering->pair, first = pair[0];

	if (first >= 0 && pair[1] == first + 1 && entering->fd == first + 2 &&
	    !REMOTE_CALL(&entering->remote, SYS_close_range, (uint64_t)first,
			 (uint64_t)first + 2)) {
		pair[0] = pair[1] = entering->fd = -1;
		return;
	}
	close_there(entering, &pair[0]);
	close_there(entering, &pair[1]);
	close_there(entering, &entering->fd);
}

static int pass_area(struct entering *entering)
{
	long err = REMOTE_CALL(&entering->remote, SYS_socketpair, AF_UNIX,
			       SOCK_SEQPACKET | SOCK_CLOEXEC, 0, entering->room);

	if (!err)
		err = memory_read(entering->remote.tid, entering->room, entering->pair,
				  sizeof(entering->pair));
	if (!err)
		err = send_area(entering);
	if (!err)
		err = receive_area(entering);
	return (int)err;
}

/* Behind the handler's memory: one page of page tables serves both. */
static uint64_t beside(const struct entering *entering)
{
	return entering->gap ? entering->injection->image + entering->injection->size : 0;
}

static int map_area(struct entering *entering)
{
	struct injection *injection = entering->injection;
	long area = pass_area(entering);

	if (!area)
		area = REMOTE_CALL(&entering->remote, SYS_mmap, beside(entering),
				   entering->request->area_size, PROT_READ | PROT_WRITE, MAP_SHARED,
				   (uint64_t)entering->fd, 0);
	close_all_there(entering);
	if (failed(area))
		return (int)area;
	injection->area = (uint64_t)area;
	injection->area_size = entering->request->area_size;
	return 0;
}

static int tell(const struct entering *entering)
{
	const struct inject_request *request = entering->request;
	struct injection *injection = entering->injection;
	struct injected_state state = {.area = injection->area,
				       .process = injection->area + request->entry_offset,
				       .index = request->index,
				       .hold_most = request->hold_most,
				       .can_read_fs_base = entering->can_read_fs_base,
				       .opmask_at = entering->opmask_at};
	struct injected_own own = {.clock = request->calls_clock ? 0 : entering->vdso.clock,
				   .controller = (uint64_t)entering->controller};
	int err = memory_write(entering->remote.tid, injection->state, &state, sizeof(state));

	return err ? err : memory_write(entering->remote.tid, injection->own, &own, sizeof(own));
}

/* The frame goes where the program's own would: the alternate stack where its handler wants it. */
static int set_action(struct entering *entering, uint64_t flags)
{
	const struct injection *injection = entering->injection;
	const uint64_t previous = injection->own + offsetof(struct injected_own, previous);
	struct injected_action action = {
		.handler = injection->entry,
		.flags = SA_SIGINFO | SA_RESTART | KERNEL_RESTORER | flags,
		.restorer = injection->image + entering->header.restorer,
		.mask = ~(1ull << (SIGILL - 1)),
	};
	uint64_t at = entering->room + offsetof(struct room, action);
	int err = memory_write(entering->remote.tid, at, &action, sizeof(action));

	return err ? err
		   : (int)REMOTE_CALL(&entering->remote, SYS_rt_sigaction, SIGTRAP, at, previous,
				      sizeof(uint64_t));
}

static int read_previous(const struct entering *entering, struct injected_action *previous)
{
	const uint64_t at = entering->injection->own + offsetof(struct injected_own, previous);

	return memory_read(entering->remote.tid, at, previous, sizeof(*previous));
}

/* Asked before it is set: where the program's handler wants to run. */
static int previous_flags(struct entering *entering, uint64_t *flags)
{
	const uint64_t at = entering->injection->own + offsetof(struct injected_own, previous);
	struct injected_action previous;
	int err = actions_ask(&entering->remote, at, SIGTRAP, &previous);

	if (!err)
		*flags = previous.handler > 1 ? previous.flags & SA_ONSTACK : 0;
	return err;
}

static void take_back(struct entering *entering)
{
	struct injection *injection = entering->injection;

	if (injection->area)
		REMOTE_CALL(&entering->remote, SYS_munmap, injection->area, injection->area_size);
	if (injection->image)
		REMOTE_CALL(&entering->remote, SYS_munmap, injection->image, injection->size);
	injection->area = injection->image = 0;
}

/* Where the program's handlers run, or that of SIGTRAP if it has one. */
static int stack_flags(struct entering *entering, uint64_t *flags)
{
	const uint64_t at = entering->injection->own + offsetof(struct injected_own, previous);
	int err;

	if (entering->caught & STATUS_TRAP)
		return previous_flags(entering, flags);
	err = actions_look(&entering->remote, at, entering->caught, &entering->injection->stack);
	*flags = entering->injection->stack == ACTIONS_STACK_ANY ? 0 : SA_ONSTACK;
	return err;
}

static int make_calls(struct entering *entering)
{
	uint64_t flags = 0;
	int err = map_image(entering);

	if (!err)
		err = map_area(entering);
	if (!err)
		err = tell(entering);
	if (!err)
		err = stack_flags(entering, &flags);
	if (!err)
		err = set_action(entering, flags);
	if (err)
		take_back(entering);
	return err;
}

/* A thread may end, or sleep where nothing wakes it, between its choice and its stop. The choice
 * may wait, and does so at the priority that we have: 0 is returned in a rush, which the caller
 * ends. */
static int stop_some_thread(struct entering *entering, struct rush *rush)
{
	pid_t pid = entering->request->pid, tid;
	int err = -ESRCH;

	for (int i = 0; i < TRIES; i++) {
		int none = choose_some_thread(pid, &tid);

		if (none)
			return none;
		if (apart_is_alone())
			return -ECANCELED;
		*rush = rush_begin();
		err = remote_begin(&entering->remote, REMOTE_PROCESS(entering->injection), tid,
				   entering->vdso.call);
		if (!err)
			return 0;
		rush_end(rush);
		if (err != -ESRCH && err != -ETIMEDOUT)
			return err;
	}
	return err;
}

/* The program's other threads may have had SIGTRAP ignored since the process was looked at. */
static bool is_ignored(const struct entering *entering)
{
	struct injected_action previous;

	return read_previous(entering, &previous) == 0 && previous.handler == (uint64_t)SIG_IGN;
}

static int enter_apart(void *context)
{
	struct entering *entering = context;
	struct injection *injection = entering->injection;
	struct rush rush;
	int err = stop_some_thread(entering, &rush);

	if (err)
		return err;
	injection->filters = entering->remote.filters;
	err = make_calls(entering);
	entering->ignored = !err && is_ignored(entering);
	injection->stopped = remote_end(&entering->remote);
	injection->stops++;
	rush_end(&rush);
	return err;
}

static int enter(struct entering *entering)
{
	return apart_run(enter_apart, entering);
}

static void forget(struct injection *injection)
{
	if (injection->pidfd >= 0)
		close(injection->pidfd);
	injection->pidfd = -1;
}

static int settle(struct injection *injection, struct inject_reason *reason, int err)
{
	if (!err)
		return 0;
	/* What failed in it meanwhile failed for that. */
	if (pidfd_has_ended(injection->pidfd))
		err = -ESRCH;
	forget(injection);
	return permission_explain(reason, injection->pid, err);
}

/* The program runs on the same processors. */
static uint16_t opmask_offset(void)
{
	struct insn_xsave_layout layout;

	insn_xsave_layout_probe(&layout);
	return layout.opmask;
}

/*
 * What takes long is asked before a thread stands: CPUID leaves a virtual machine each time, and
 * under a filter of our own pidfd_getfd(2) is tried in a child first.
 */
static struct entering prepare(const struct inject_request *request, struct injection *injection)
{
	struct entering entering = {.request = request,
				    .injection = injection,
				    .controller = getpid(),
				    .opmask_at = opmask_offset(),
				    .pair = {-1, -1},
				    .fd = -1};

	lethal_getfd(-1, -1);
	memcpy(&entering.header, injected_image, sizeof(entering.header));
	*injection = (struct injection){
		.pid = request->pid, .index = request->index, .pidfd = request->pidfd};
	if (injection->pidfd < 0)
		injection->pidfd = (int)raw_syscall3(SYS_pidfd_open, request->pid, 0, 0);
	return entering;
}

/* Out again: what it starts would not inherit that SIGTRAP is ignored. */
static int refuse_ignored(struct injection *injection, struct inject_reason *reason)
{
	struct status status;
	pid_t pid = injection->pid;
	int err = inject_leave(injection, reason);

	if (!err)
		err = permission_check(reason, pid, &status);
	return err ? err
		   : permission_refuse(reason, -EAGAIN,
				       "process %d (%s) began to ignore SIGTRAP at that moment: "
				       "try again",
				       (int)pid, status.name);
}

int inject_enter(const struct inject_request *request, struct injection *injection,
		 struct inject_reason *reason)
{
	/* Held before it is looked at: what is stopped later is what was looked at. */
	struct entering entering = prepare(request, injection);
	struct status status;
	int err = permission_check(reason, request->pid, &status);

	if (err) {
		forget(injection);
		return err;
	}
	entering.caught = status.caught;
	err = injection->pidfd < 0 ? injection->pidfd : vdso_find(request->pid, &entering.vdso);
	if (!err) {
		entering.can_read_fs_base = reads_fs_base(request->pid);
		entering.gap = gap_find(request->pid);
		err = enter(&entering);
	}
	if (!err && entering.ignored)
		return refuse_ignored(injection, reason);
	return settle(injection, reason, err);
}

int inject_expect(pid_t child)
{
	return remote_expect(child);
}

struct inject_held {
	struct remote remote;
};

/* Without memory for that it does not wait: the first accesses are not seen. */
static void hold(struct injection *injection, struct remote *remote)
{
	struct inject_held *held = malloc(sizeof(*held));

	if (!held) {
		remote_end(remote);
		return;
	}
	remote_restore(remote);
	held->remote = *remote;
	injection->held = held;
}

void inject_go(struct injection *injection)
{
	if (!injection->held)
		return;
	remote_release(&injection->held->remote);
	free(injection->held);
	injection->held = NULL;
}

/* The new program's vDSO is there only now. */
int inject_enter_expected(const struct inject_request *request, struct injection *injection,
			  struct inject_reason *reason)
{
	struct entering entering = prepare(request, injection);
	struct rush rush = rush_begin();
	int err = request->sets_action ? remote_begin_set(&entering.remote, request->pid)
				       : remote_begin_expected(&entering.remote, request->pid);

	if (!err) {
		err = injection->pidfd < 0 ? injection->pidfd
					   : vdso_find(request->pid, &entering.vdso);
		entering.remote.call = entering.vdso.call;
		entering.can_read_fs_base = reads_fs_base(request->pid);
		entering.gap = gap_find(request->pid);
		/* Of others than a runtime's, which sets all, none is set before the first
		 * instruction. */
		entering.caught = inject_is_in_place(request->pid) ? STATUS_TRAP : 0;
		if (!err)
			err = make_calls(&entering);
		if (err)
			remote_end(&entering.remote);
		else
			hold(injection, &entering.remote);
	}
	rush_end(&rush);
	return settle(injection, reason, err);
}
