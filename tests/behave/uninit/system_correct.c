/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel reads without passing it on, and what is written where no watch sees it: zeroes,
 * over the zeroes of fresh memory. */
#define _GNU_SOURCE
#include "cases.h"

#include <aio.h>
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(int holds)
{
	if (!holds)
		exit(3);
}

/* A port of ours, and its address in a block: sin_zero is written by nobody. */
static struct sockaddr_in *address_of(int receiver)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(any);
	struct sockaddr_in *address = malloc(sizeof(*address));

	expect(bind(receiver, (struct sockaddr *)&any, sizeof(any)) == 0 &&
	       getsockname(receiver, (struct sockaddr *)&any, &length) == 0);
	HIDE(address);
	address->sin_family = AF_INET;
	address->sin_port = any.sin_port;
	address->sin_addr = any.sin_addr;
	HIDE(address);
	return address;
}

static NOINLINE void sent_to_address(void)
{
	int receiver = socket(AF_INET, SOCK_DGRAM, 0), sender = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in *address = address_of(receiver);
	char *text = malloc(8);

	memcpy(text, "message", 8);
	HIDE(text);
	expect(sendto(sender, text, 8, 0, (struct sockaddr *)address, sizeof(*address)) == 8);
	free(text);
	free(address);
	close(sender);
	close(receiver);
}

static NOINLINE void connected(void)
{
	int receiver = socket(AF_INET, SOCK_DGRAM, 0), sender = socket(AF_INET, SOCK_DGRAM, 0);
	struct sockaddr_in *address = address_of(receiver);

	expect(connect(sender, (struct sockaddr *)address, sizeof(*address)) == 0);
	address->sin_port = 0;
	HIDE(address);
	expect(bind(socket(AF_INET, SOCK_DGRAM, 0), (struct sockaddr *)address, sizeof(*address)) ==
	       0);
	free(address);
	close(sender);
	close(receiver);
}

/* The header's padding and flags, and padding between parts of the ancillary data. */
static NOINLINE void sent_message(void)
{
	int ends[2];
	struct msghdr *message = malloc(sizeof(*message));
	struct iovec *part = malloc(sizeof(*part));
	struct cmsghdr *control = malloc(CMSG_SPACE(sizeof(int)));
	char *text = malloc(8);

	expect(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
	memcpy(text, "message", 8);
	HIDE(message);
	HIDE(part);
	HIDE(control);
	part->iov_base = text;
	part->iov_len = 8;
	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(control), &ends[0], sizeof(int));
	message->msg_name = NULL;
	message->msg_namelen = 0;
	message->msg_iov = part;
	message->msg_iovlen = 1;
	message->msg_control = control;
	message->msg_controllen = CMSG_SPACE(sizeof(int));
	HIDE(message);
	HIDE(part);
	HIDE(control);
	expect(sendmsg(ends[0], message, 0) == 8);
	free(text);
	free(control);
	free(part);
	free(message);
}

static NOINLINE void asked_for(void)
{
	int ends[2], queue = epoll_create1(0);
	struct pollfd *polled = malloc(sizeof(*polled));
	struct epoll_event *event = malloc(sizeof(*event));

	expect(pipe(ends) == 0);
	HIDE(polled);
	HIDE(event);
	polled->fd = ends[1];
	polled->events = POLLOUT;
	event->events = EPOLLOUT;
	event->data.fd = ends[1];
	HIDE(polled);
	HIDE(event);
	expect(poll(polled, 1, 0) == 1 && polled->revents == POLLOUT);
	expect(epoll_ctl(queue, EPOLL_CTL_ADD, ends[1], event) == 0);
	expect(epoll_wait(queue, event, 1, 0) == 1 && event->data.fd == ends[1]);
	free(event);
	free(polled);
}

/* Names are copied by the kernel by words. */
static NOINLINE void named(void)
{
	char *name = malloc(24);
	struct stat status;

	HIDE(name);
	strcpy(name, "/dev/null");
	HIDE(name);
	expect(stat(name, &status) == 0 && access(name, R_OK) == 0);
	expect(open(name, O_WRONLY) >= 0);
	free(name);
}

static void all_zero(const long *block, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (block[i])
			exit(4);
}

/* glibc's threads for this block all signals by a system call of their own. */
static NOINLINE void set_by_aio(void)
{
	int descriptor = open("/dev/zero", O_RDONLY);
	struct aiocb request = {.aio_fildes = descriptor, .aio_nbytes = 40};
	const struct aiocb *list[] = {&request};
	long *block = malloc(40);

	HIDE(block);
	request.aio_buf = block;
	request.aio_sigevent.sigev_notify = SIGEV_NONE;
	expect(aio_read(&request) == 0);
	while (aio_error(&request) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
	expect(aio_return(&request) == 40);
	HIDE(block);
	all_zero(block, 5);
	free(block);
	close(descriptor);
}

static void *clear_unseen(void *argument)
{
	volatile long *block = argument;
	unsigned long all = ~0UL;

	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, NULL, sizeof(all));
	for (int i = 0; i < 5; i++)
		block[i] = 0;
	return NULL;
}

static NOINLINE void set_by_deaf_thread(void)
{
	long *block = malloc(40);
	pthread_t thread;

	HIDE(block);
	expect(pthread_create(&thread, NULL, clear_unseen, block) == 0);
	pthread_join(thread, NULL);
	HIDE(block);
	all_zero(block, 5);
	free(block);
}

static NOINLINE void set_by_vforked(void)
{
	volatile long *block = malloc(40);
	pid_t child;

	HIDE(block);
	child = vfork();
	if (child == 0) {
		for (int i = 0; i < 5; i++)
			block[i] = 0;
		_exit(0);
	}
	waitpid(child, NULL, 0);
	HIDE(block);
	all_zero((const long *)block, 5);
	free((void *)block);
}

#define PAGE 4096

static NOINLINE void discarded(void)
{
	char *block = malloc(4 * PAGE), *page;

	HIDE(block);
	page = (char *)(((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	expect(madvise(page, 2 * PAGE, MADV_DONTNEED) == 0);
	HIDE(page);
	all_zero((long *)page, 2 * PAGE / sizeof(long));
	free(block);
}

static NOINLINE void mapped_over(void)
{
	char *block = malloc(4 * PAGE), *page;

	HIDE(block);
	page = (char *)(((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	expect(mmap(page, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		    -1, 0) == page);
	HIDE(page);
	all_zero((long *)page, 2 * PAGE / sizeof(long));
	free(block);
}

/* Where the kernel chooses, and it was told what would be welcome. */
static NOINLINE void mapped_anew(void)
{
	char *block = malloc(4 * PAGE), *page;

	HIDE(block);
	page = (char *)(((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
	expect(munmap(page, 2 * PAGE) == 0 && mmap(page, 2 * PAGE, PROT_READ | PROT_WRITE,
						   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == page);
	HIDE(page);
	all_zero((long *)page, 2 * PAGE / sizeof(long));
	free(block);
}

/* The C library copies the last four bytes by an instruction that overwrites the register with
 * their address, and that is no multiple of four. Behind them nobody has written. */
static NOINLINE void copied_up_to_end(void)
{
	char *text = malloc(24), *copy = malloc(8);
	volatile size_t length = 5;

	HIDE(text);
	HIDE(copy);
	memcpy(text, "abcdefghijklmnopqr", 18);
	HIDE(text);
	memcpy(copy, text + 13, length);
	HIDE(copy);
	if (copy[3] == 'q' && copy[4] == 'r')
		touch();
	free(copy);
	free(text);
}

static const struct row rows[] = {
	{"sent_to_address", sent_to_address},
	{"connected", connected},
	{"sent_message", sent_message},
	{"asked_for", asked_for},
	{"named", named},
	{"set_by_aio", set_by_aio},
	{"set_by_deaf_thread", set_by_deaf_thread},
	{"set_by_vforked", set_by_vforked},
	{"discarded", discarded},
	{"mapped_over", mapped_over},
	{"mapped_anew", mapped_anew},
	{"copied_up_to_end", copied_up_to_end},
};

RUN_CASES(rows)
