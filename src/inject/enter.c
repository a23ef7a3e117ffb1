/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol of entering. All calls are made by one thread of the process, stopped:
 *
 *	mmap		the handler's memory; its code is written by us (memory_write_code())
 *
 * then those of two batches (batch.h), the thread stopping after each:
 *
 *	mprotect	its data becomes writable
 *	socketpair	one end is taken out (pidfd_getfd(2)) and the area's descriptor sent through
 *			it, whatever the user, the namespaces and the files in /proc
 *	rt_sigaction	of signals that the program handles: do they run on alternate stacks?
 *
 *	recvmsg, mmap	the area; the rest of what the handler must know is written before
 *	close, …	all three, whatever failed
 *	rt_sigaction	last: from here on the program's own signals come to the handler
 *
 * and then the handler is told where the area is. No hit comes before: no event is open.
 * What fails on the way is taken back in the same stop. The descriptors exist within it alone;
 * accepted: another thread that forks at this moment leaves them to its child.
 */
#include "inject/inject.h"

#include "inject/actions.h"
#include "inject/apart.h"
#include "inject/batch.h"
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

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define KERNEL_RESTORER 0x04000000ul /* SA_RESTORER, asm/signal.h */
/* threads that are tried one after the other, since one may end or not stop */
#define TRIES 5

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
	struct gap gap;
	pid_t controller;
	bool can_read_fs_base;
	uint16_t opmask_at;
	uint64_t caught; /* signals of which the program has handlers */
	bool ignored;	 /* … SIGTRAP, which it ignores */
	bool open;	 /* descriptors in the process, in struct room */
	bool set;	 /* our action */
	struct batch batch;
	struct injected_action action[INJECTED_SIGNALS];
};

static int map_image(struct entering *entering)
{
	struct injection *injection = entering->injection;
	const struct injected_header *header = &entering->header;
	long image = REMOTE_CALL(&entering->remote, SYS_mmap, entering->gap.image, header->size,
				 PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1,
				 0);

	if (raw_failed(image))
		return (int)image;
	injection->image = (uint64_t)image;
	injection->size = header->size;
	injection->state = injection->image + header->state;
	injection->own = injection->image + header->own;
	injection->entry = injection->image + header->entry;
	entering->room = injection->own + offsetof(struct injected_own, room);
	entering->batch.run = injection->image + header->run;
	entering->batch.table =
		injection->image + header->table + offsetof(struct injected_table, call);
	entering->batch.locked.start = injection->image + header->data;
	entering->batch.locked.length = header->size - header->data;
	return memory_write_code(entering->remote.tid, injection->image, injected_image,
				 injected_image_size);
}

static int run_batch(struct entering *entering)
{
	int err = batch_run(&entering->batch, &entering->remote);

	return err ? err : batch_error(&entering->batch);
}

/* The actions that are to be known, as bits: that of SIGTRAP if the program has one, else those
 * that tell where the program's handlers run. */
static uint64_t asked_for(const struct entering *entering)
{
	return entering->caught & STATUS_TRAP ? STATUS_TRAP : actions_telling(entering->caught);
}

static int begin_memory(struct entering *entering)
{
	const uint64_t asked = asked_for(entering),
		       actions = entering->injection->image + entering->header.table +
				 offsetof(struct injected_table, action);
	struct batch *batch = &entering->batch;
	int err;

	batch->count = 0;
	BATCH_ADD(batch, SYS_socketpair, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
		  entering->room + offsetof(struct room, pair));
	for (unsigned i = 0; i < INJECTED_SIGNALS; i++)
		if (asked >> i & 1)
			BATCH_ADD(batch, SYS_rt_sigaction, i + 1, 0,
				  actions + i * sizeof(struct injected_action), sizeof(uint64_t));
	err = run_batch(entering);
	/* The call has made the pair, even if a later one failed: then both ends are to be
	 * closed. */
	if (batch->call[0].result == 0)
		entering->open = true;
	return err ? err
		   : memory_read(entering->remote.tid, actions, entering->action,
				 sizeof(entering->action));
}

/* Takes one end of the pair into this process. */
static int take_end(const struct entering *entering)
{
	int pair[2] = {-1, -1};
	int err = memory_read(entering->remote.tid, entering->room + offsetof(struct room, pair),
			      pair, sizeof(pair));

	return err ? err : lethal_getfd(entering->injection->pidfd, pair[1]);
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

/* Tells the handler everything but where the area is, which is not mapped yet. */
static int tell(const struct entering *entering)
{
	const struct inject_request *request = entering->request;
	const struct injection *injection = entering->injection;
	struct injected_state state = {.index = request->index,
				       .hold_most = request->hold_most,
				       .can_read_fs_base = entering->can_read_fs_base,
				       .opmask_at = entering->opmask_at};
	struct injected_own own = {.clock = request->calls_clock ? 0 : entering->vdso.clock,
				   .controller = (uint64_t)entering->controller};
	int err = memory_write(entering->remote.tid, injection->state, &state, sizeof(state));

	return err ? err
		   : memory_write(entering->remote.tid, injection->own, &own,
				  offsetof(struct injected_own, room));
}

/* Tells the handler where the area is. Only signals of the program's own can come to it yet,
 * perhaps just now in another thread; so what it counts itself, and the action that it passes them
 * on to, are not written. */
static int tell_area(const struct entering *entering)
{
	const struct injection *injection = entering->injection;
	const struct injected_state state = {.area = injection->area,
					     .process = injection->area +
							entering->request->entry_offset};

	return memory_write(entering->remote.tid, injection->state, &state,
			    offsetof(struct injected_state, index));
}

/* Our frame goes where the program's own would go: to the alternate stack if its handler wants
 * that. */
static uint64_t stack_flag(struct entering *entering)
{
	const struct injected_action *own = &entering->action[SIGTRAP - 1];

	if (entering->caught & STATUS_TRAP)
		return own->handler > 1 ? own->flags & SA_ONSTACK : 0;
	entering->injection->stack = actions_stack(entering->caught, entering->action);
	return entering->injection->stack == ACTIONS_STACK_ANY ? 0 : SA_ONSTACK;
}

/* A descriptor that was not received stays -1, which nothing is mapped of. */
static struct room arguments_of(const struct entering *entering)
{
	const uint64_t at = entering->room;
	struct room room = {
		.message = {.msg_iov = (struct iovec *)(at + offsetof(struct room, data)),
			    .msg_iovlen = 1,
			    .msg_control = (void *)(at + offsetof(struct room, control)),
			    .msg_controllen = sizeof(room.control)},
		.data = {(void *)(at + offsetof(struct room, byte)), 1},
	};

	memset(room.control, 0xff, sizeof(room.control));
	return room;
}

static void close_there(struct batch *batch, uint64_t at)
{
	struct injected_call *call = BATCH_ADD(batch, SYS_close, 0);

	call->from = at;
	call->cleanup = true;
}

static void add_closing(struct entering *entering)
{
	const uint64_t at = entering->room;

	close_there(&entering->batch, at + offsetof(struct room, pair[0]));
	close_there(&entering->batch, at + offsetof(struct room, pair[1]));
	close_there(&entering->batch, at + offsetof(struct room, control) + CMSG_LEN(0));
}

static void close_all(struct entering *entering)
{
	entering->batch.count = 0;
	add_closing(entering);
	batch_run(&entering->batch, &entering->remote);
	entering->open = false;
}

/* Writes the arguments, except the pair, which the kernel has written there. */
static int write_arguments(struct entering *entering)
{
	const struct injection *injection = entering->injection;
	struct room room = arguments_of(entering);

	room.action = (struct injected_action){
		.handler = injection->entry,
		.flags = SA_SIGINFO | SA_RESTART | KERNEL_RESTORER | stack_flag(entering),
		.restorer = injection->image + entering->header.restorer,
		.mask = ~(1ull << (SIGILL - 1)),
	};
	return memory_write(entering->remote.tid, entering->room + sizeof(room.pair),
			    (const char *)&room + sizeof(room.pair),
			    sizeof(room) - sizeof(room.pair));
}

static void add_mapping(struct entering *entering)
{
	struct batch *batch = &entering->batch;
	const uint64_t at = entering->room;
	struct injected_call *call = BATCH_ADD(batch, SYS_recvmsg, 0,
					       at + offsetof(struct room, message),
					       MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	call->from = at + offsetof(struct room, pair[0]);
	call = BATCH_ADD(batch, SYS_mmap, entering->gap.area, entering->request->area_size,
			 PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0);
	call->from = at + offsetof(struct room, control) + CMSG_LEN(0);
	call->index = 4;
}

/* Maps the area and, as the last call, sets our action. */
static int run_second(struct entering *entering)
{
	struct injection *injection = entering->injection;
	struct batch *batch = &entering->batch;
	struct injected_call *last;
	int err;

	batch->count = 0;
	add_mapping(entering);
	add_closing(entering);
	last = BATCH_ADD(batch, SYS_rt_sigaction, SIGTRAP,
			 entering->room + offsetof(struct room, action),
			 injection->own + offsetof(struct injected_own, previous),
			 sizeof(uint64_t));
	err = run_batch(entering);
	entering->open = false;
	entering->set = last->result == 0;
	if (batch->call[1].result > 0) {
		injection->area = (uint64_t)batch->call[1].result;
		injection->area_size = entering->request->area_size;
	}
	return err ? err : tell_area(entering);
}

static int map_area(struct entering *entering)
{
	int err = send_area(entering);

	if (!err)
		err = write_arguments(entering);
	if (!err)
		err = tell(entering);
	return err ? err : run_second(entering);
}

static int read_previous(const struct entering *entering, struct injected_action *previous)
{
	const uint64_t at = entering->injection->own + offsetof(struct injected_own, previous);

	return memory_read(entering->remote.tid, at, previous, sizeof(*previous));
}

static void take_back(struct entering *entering)
{
	struct injection *injection = entering->injection;

	if (entering->open)
		close_all(entering);
	if (entering->set)
		REMOTE_CALL(&entering->remote, SYS_rt_sigaction, SIGTRAP,
			    injection->own + offsetof(struct injected_own, previous), 0,
			    sizeof(uint64_t));
	if (injection->area)
		REMOTE_CALL(&entering->remote, SYS_munmap, injection->area, injection->area_size);
	if (injection->image)
		REMOTE_CALL(&entering->remote, SYS_munmap, injection->image, injection->size);
	injection->area = injection->image = 0;
}

static int make_calls(struct entering *entering)
{
	int err = map_image(entering);

	if (!err)
		err = begin_memory(entering);
	if (!err)
		err = map_area(entering);
	if (err)
		take_back(entering);
	return err;
}

/* Chooses a thread and stops it; it may end, or sleep where nothing wakes it, in between. The
 * choice may wait, and runs at our own priority for that; if 0 is returned a rush has begun, which
 * the caller ends. */
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

/* Has the program had SIGTRAP ignored since the process was looked at? Its other threads run. */
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
	/* If the process has ended meanwhile, that is why the step failed. */
	if (pidfd_has_ended(injection->pidfd))
		err = -ESRCH;
	forget(injection);
	return permission_explain(reason, injection->pid, err);
}

/* Which is the same in the program, since it runs on the same processors. */
static uint16_t opmask_offset(void)
{
	struct insn_xsave_layout layout;

	insn_xsave_layout_probe(&layout);
	return layout.opmask;
}

/*
 * Prepares what takes long before a thread is stopped: CPUID leaves a virtual machine each time,
 * and under a filter of our own pidfd_getfd(2) is tried in a child first.
 */
static struct entering prepare(const struct inject_request *request, struct injection *injection)
{
	struct entering entering = {.request = request,
				    .injection = injection,
				    .controller = getpid(),
				    .opmask_at = opmask_offset()};

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
	/* The process is held before it is looked at, so that what is stopped later is what was
	 * looked at. */
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
		entering.can_read_fs_base = status_reads_fs_base(request->pid);
		entering.gap = gap_find(request->pid, entering.header.size);
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

/* Without memory for it the process does not wait, and its first accesses are not seen. */
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

/* The new program's vDSO has only now been mapped. */
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
		entering.remote.batches = status_may_call(request->pid) == STATUS_CALLS_ALL;
		entering.can_read_fs_base = status_reads_fs_base(request->pid);
		entering.gap = gap_find(request->pid, entering.header.size);
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
