/* SPDX-License-Identifier: Apache-2.0 */
#include "heap/pages.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PROCESSES 64u /* as many as are watched at once */
#define WAITING 64u   /* faults; beyond them a page is filled without a look */

struct source {
	pid_t pid; /* 0: free */
	struct tl_guard_faults faults;
};

struct pages {
	pthread_t thread, filler;
	pid_t process;	      /* whose threads they are */
	uint32_t *bell;	      /* that wakes the filler */
	pthread_mutex_t lock; /* of what follows */
	struct source source[PROCESSES];
	struct pages_fault waiting[WAITING];
	unsigned first, count, unseen;
	bool stopping;
	int changed; /* eventfd */
	void (*wake)(void *context);
	void *context;
};

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(TL_GUARD_PAGE - 1);
}

static void fill_with_zeroes(int descriptor, uint64_t address, uint64_t pages)
{
	struct uffdio_zeropage range = {
		.range = {page_of(address), pages * (uint64_t)TL_GUARD_PAGE}};

	/* Of several pages one may be there already: then the faulted one alone. */
	if (ioctl(descriptor, UFFDIO_ZEROPAGE, &range) && pages > 1)
		fill_with_zeroes(descriptor, address, 1);
}

/* Runs of a page and an empty one; the first page last: its thread goes on at once. */
static void fill_runs(int descriptor, uint64_t address, uint64_t runs)
{
	static const uint8_t zeroes[TL_GUARD_PAGE];

	while (runs-- > 0) {
		struct uffdio_copy copy = {.dst = page_of(address) + runs * 2 * TL_GUARD_PAGE,
					   .src = (uintptr_t)zeroes,
					   .len = TL_GUARD_PAGE};

		if (ioctl(descriptor, UFFDIO_COPY, &copy) && !runs)
			fill_with_zeroes(descriptor, address, 1);
	}
}

void pages_fill(const struct pages_fault *fault, const void *bytes)
{
	struct uffdio_copy copy = {
		.dst = page_of(fault->address), .src = (uintptr_t)bytes, .len = TL_GUARD_PAGE};
	struct uffdio_range range = {page_of(fault->address), TL_GUARD_PAGE};

	/* It may have been filled for another thread meanwhile. */
	if (ioctl(fault->descriptor, UFFDIO_COPY, &copy))
		ioctl(fault->descriptor, UFFDIO_WAKE, &range);
}

static bool is_thread_of(pid_t pid, pid_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)pid, (int)tid);
	return access(path, F_OK) == 0;
}

static uint32_t owner_of(const struct source *source, uint64_t address)
{
	uint32_t owner = 0;
	struct iovec to = {&owner, sizeof(owner)}, from = {.iov_len = sizeof(owner)};

	from.iov_base = (void *)(source->faults.owner +
				 (address - source->faults.start) / TL_GUARD_PAGE * sizeof(owner));
	return process_vm_readv(source->pid, &to, 1, &from, 1, 0) == (ssize_t)sizeof(owner) ? owner
											    : 0;
}

/* What is to be filled at once from there on, for a block that is being made. */
static void open_at(const struct source *source, uint64_t address, uint32_t owner)
{
	uint64_t left = (source->faults.start + source->faults.length - address) / TL_GUARD_PAGE;
	uint64_t count = owner & ~(TL_GUARD_PAGE_OPENS | TL_GUARD_PAGE_RUNS);

	if (owner & TL_GUARD_PAGE_RUNS && count && 2 * count <= left)
		fill_runs(source->faults.descriptor, address, count);
	else
		fill_with_zeroes(source->faults.descriptor, address,
				 count && count <= left && !(owner & TL_GUARD_PAGE_RUNS) ? count
											 : 1);
}

/* Called with the lock. True: somebody is to look at it. */
static bool take(struct pages *pages, const struct source *source, const struct uffd_msg *message)
{
	uint64_t address = message->arg.pagefault.address;
	pid_t tid = (pid_t)message->arg.pagefault.feat.ptid;
	uint32_t owner;

	if (message->event != UFFD_EVENT_PAGEFAULT || address < source->faults.start ||
	    address - source->faults.start >= source->faults.length)
		return false;
	/* Before the owner is read: who gives the page back has no owner for it any more by the
	 * time that it looks whether any was touched. */
	__atomic_store_n(source->faults.touched, 1, __ATOMIC_SEQ_CST);
	owner = owner_of(source, address);
	if (owner & TL_GUARD_PAGE_OPENS) {
		open_at(source, address, owner);
		return false;
	}
	if (!owner || pages->count == WAITING || !is_thread_of(source->pid, tid)) {
		pages->unseen += owner != 0;
		fill_with_zeroes(source->faults.descriptor, address, 1);
		return false;
	}
	pages->waiting[(pages->first + pages->count++) % WAITING] = (struct pages_fault){
		.pid = source->pid,
		.tid = tid,
		.address = address,
		.descriptor = source->faults.descriptor,
		.write = message->arg.pagefault.flags & UFFD_PAGEFAULT_FLAG_WRITE};
	return true;
}

static bool read_from(struct pages *pages, const struct source *source)
{
	struct uffd_msg message;
	bool any = false;

	while (read(source->faults.descriptor, &message, sizeof(message)) ==
	       (ssize_t)sizeof(message))
		any |= take(pages, source, &message);
	return any;
}

static bool read_all(struct pages *pages)
{
	bool any = false;

	for (unsigned i = 0; i < PROCESSES; i++)
		if (pages->source[i].pid)
			any |= read_from(pages, &pages->source[i]);
	return any;
}

static unsigned list(struct pages *pages, struct pollfd *poll)
{
	unsigned count = 0;

	poll[count++] = (struct pollfd){pages->changed, POLLIN, 0};
	for (unsigned i = 0; i < PROCESSES; i++)
		if (pages->source[i].pid)
			poll[count++] =
				(struct pollfd){pages->source[i].faults.descriptor, POLLIN, 0};
	return count;
}

static void *serve(void *argument)
{
	struct pages *pages = argument;
	struct pollfd wanted[PROCESSES + 1];
	uint64_t ignored;

	pthread_mutex_lock(&pages->lock);
	while (!pages->stopping) {
		unsigned count = list(pages, wanted);
		bool any;

		pthread_mutex_unlock(&pages->lock);
		poll(wanted, count, -1);
		if (wanted[0].revents && read(pages->changed, &ignored, sizeof(ignored)) < 0)
			poll(NULL, 0, 1);
		pthread_mutex_lock(&pages->lock);
		any = read_all(pages);
		if (!any)
			continue;
		pthread_mutex_unlock(&pages->lock);
		pages->wake(pages->context);
		pthread_mutex_lock(&pages->lock);
	}
	pthread_mutex_unlock(&pages->lock);
	return NULL;
}

/* ---- what is asked for before it is touched -------------------------------------------------- */

static void ring(uint32_t *word, int operation, uint32_t value)
{
	syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void answer(const struct source *source, uint32_t *word)
{
	uint32_t asked = __atomic_load_n(word, __ATOMIC_ACQUIRE), owner;
	uint64_t address = source->faults.start + (uint64_t)(asked - 1) * TL_GUARD_PAGE;

	if (!asked || asked & TL_GUARD_FILLED || asked > source->faults.length / TL_GUARD_PAGE)
		return;
	owner = owner_of(source, address);
	if (owner & TL_GUARD_PAGE_OPENS)
		open_at(source, address, owner);
	/* Given up meanwhile, it is nobody's. */
	if (__atomic_compare_exchange_n(word, &asked, asked | TL_GUARD_FILLED, false,
					__ATOMIC_RELEASE, __ATOMIC_RELAXED))
		ring(word, FUTEX_WAKE, INT_MAX);
}

static void answer_all(struct pages *pages)
{
	for (unsigned i = 0; i < PROCESSES; i++)
		for (unsigned j = 0; pages->source[i].pid && j < pages->source[i].faults.asks; j++)
			answer(&pages->source[i], &pages->source[i].faults.asked[j]);
}

static void *fill_what_is_asked(void *argument)
{
	struct pages *pages = argument;

	pthread_mutex_lock(&pages->lock);
	while (!pages->stopping) {
		uint32_t seen = __atomic_load_n(pages->bell, __ATOMIC_ACQUIRE);

		__atomic_store_n(pages->bell + 1, seen, __ATOMIC_RELEASE);
		answer_all(pages);
		pthread_mutex_unlock(&pages->lock);
		ring(pages->bell, FUTEX_WAIT, seen);
		pthread_mutex_lock(&pages->lock);
	}
	pthread_mutex_unlock(&pages->lock);
	return NULL;
}

static void stop_filling(struct pages *pages)
{
	__atomic_fetch_add(pages->bell, 1, __ATOMIC_RELEASE);
	ring(pages->bell, FUTEX_WAKE, INT_MAX);
	pthread_join(pages->filler, NULL);
}

/* --------------------------------------------------------------------------------------------- */

static void tell_change(struct pages *pages)
{
	uint64_t one = 1;

	while (write(pages->changed, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

static void stop_serving(struct pages *pages)
{
	pthread_mutex_lock(&pages->lock);
	pages->stopping = true;
	pthread_mutex_unlock(&pages->lock);
	tell_change(pages);
	pthread_join(pages->thread, NULL);
}

/* Both threads, or none. */
static bool start_threads(struct pages *pages)
{
	if (pthread_create(&pages->thread, NULL, serve, pages))
		return false;
	if (pthread_create(&pages->filler, NULL, fill_what_is_asked, pages) == 0)
		return true;
	stop_serving(pages);
	pages->stopping = false;
	return false;
}

void pages_go_on(struct pages *pages)
{
	if (pages->process == getpid())
		return;
	pages->process = getpid();
	pthread_mutex_init(&pages->lock, NULL);
	if (start_threads(pages))
		return;
	for (unsigned i = 0; i < PROCESSES; i++)
		if (pages->source[i].pid)
			pages_drop(pages, pages->source[i].pid);
	pages->process = 0;
}

struct pages *pages_start(uint32_t *bell, void (*wake)(void *context), void *context)
{
	struct pages *pages = calloc(1, sizeof(*pages));

	if (!pages)
		return NULL;
	pages->process = getpid();
	pages->bell = bell;
	pages->wake = wake;
	pages->context = context;
	pages->changed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&pages->lock, NULL);
	if (pages->changed < 0 || !start_threads(pages)) {
		if (pages->changed >= 0)
			close(pages->changed);
		free(pages);
		return NULL;
	}
	return pages;
}

void pages_stop(struct pages *pages)
{
	if (!pages)
		return;
	if (pages->process == getpid()) {
		stop_serving(pages);
		stop_filling(pages);
	}
	for (unsigned i = 0; i < PROCESSES; i++)
		if (pages->source[i].pid)
			close(pages->source[i].faults.descriptor);
	close(pages->changed);
	free(pages);
}

void pages_add(struct pages *pages, pid_t pid, const struct tl_guard_faults *faults)
{
	bool added = false;

	pages_go_on(pages);
	pthread_mutex_lock(&pages->lock);
	for (unsigned i = 0; i < PROCESSES && !added; i++) {
		if (pages->source[i].pid)
			continue;
		pages->source[i] = (struct source){pid, *faults};
		added = true;
	}
	pthread_mutex_unlock(&pages->lock);
	/* Without a descriptor that is open no fault waits for anybody. */
	if (!added)
		close(faults->descriptor);
	tell_change(pages);
}

/* Faults of its threads, which wait for nothing any more. */
static void forget(struct pages *pages, pid_t pid)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < pages->count; i++) {
		struct pages_fault fault = pages->waiting[(pages->first + i) % WAITING];

		if (fault.pid != pid)
			pages->waiting[(pages->first + kept++) % WAITING] = fault;
	}
	pages->count = kept;
}

void pages_drop(struct pages *pages, pid_t pid)
{
	pages_go_on(pages);
	pthread_mutex_lock(&pages->lock);
	for (unsigned i = 0; i < PROCESSES; i++) {
		if (pages->source[i].pid != pid)
			continue;
		close(pages->source[i].faults.descriptor);
		pages->source[i].pid = 0;
	}
	forget(pages, pid);
	pthread_mutex_unlock(&pages->lock);
	tell_change(pages);
}

bool pages_next(struct pages *pages, struct pages_fault *fault)
{
	bool any;

	pthread_mutex_lock(&pages->lock);
	any = pages->count > 0;
	if (any) {
		*fault = pages->waiting[pages->first];
		pages->first = (pages->first + 1) % WAITING;
		pages->count--;
	}
	pthread_mutex_unlock(&pages->lock);
	return any;
}

unsigned pages_unseen(struct pages *pages)
{
	unsigned unseen;

	pthread_mutex_lock(&pages->lock);
	unseen = pages->unseen;
	pages->unseen = 0;
	pthread_mutex_unlock(&pages->lock);
	return unseen;
}
