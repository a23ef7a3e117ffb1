/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways in which the programs here access memory. Each is a function of its own, whose name the
 * manifest expects in the stack of the access. What is written is `fill`, or text of that length.
 */
#ifndef ACCESSES_H
#define ACCESSES_H

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include "mistakes.h"

#define ACCESS __attribute__((unused)) /* each program uses some */

typedef void access_function(char *at, size_t length, uint8_t fill);

static volatile uint64_t seen; /* keeps what was read */
static char scratch[256];

static NOINLINE ACCESS void store(char *at, size_t length, uint8_t fill)
{
	if (length == 1)
		*(volatile uint8_t *)at = fill;
	else if (length == 4)
		*(volatile uint32_t *)at = fill;
	else
		*(volatile uint64_t *)at = fill;
}

static NOINLINE ACCESS void load(char *at, size_t length, uint8_t fill)
{
	(void)fill;
	if (length == 1)
		seen = *(volatile uint8_t *)at;
	else if (length == 4)
		seen = *(volatile uint32_t *)at;
	else
		seen = *(volatile uint64_t *)at;
}

/* What unoptimised code does: of the address nothing is left. */
static NOINLINE ACCESS void load_over_base(char *at, size_t length, uint8_t fill)
{
	uint64_t value = (uintptr_t)at;

	(void)fill;
	if (length == 1)
		__asm__ volatile("movzbl (%0), %k0" : "+r"(value) : : "memory");
	else
		__asm__ volatile("mov (%0), %0" : "+r"(value) : : "memory");
	seen = value;
}

static NOINLINE ACCESS void fill_by_memset(char *at, size_t length, uint8_t fill)
{
	memset(at, fill, hidden(length));
	stay();
}

static NOINLINE ACCESS void fill_by_memcpy(char *at, size_t length, uint8_t fill)
{
	memset(scratch, fill, sizeof(scratch));
	memcpy(at, scratch, hidden(length));
	stay();
}

static NOINLINE ACCESS void copy_by_memcpy(char *at, size_t length, uint8_t fill)
{
	(void)fill;
	memcpy(scratch, at, hidden(length));
	stay();
}

/* A string of `length` bytes, its final zero included. */
static char *text(size_t length)
{
	memset(scratch, 'x', length - 1);
	scratch[length - 1] = 0;
	return hidden(&scratch[0]);
}

static NOINLINE ACCESS void fill_by_strcpy(char *at, size_t length, uint8_t fill)
{
	(void)fill;
	strcpy(at, text(length));
	stay();
}

static NOINLINE ACCESS void fill_by_strcat(char *at, size_t length, uint8_t fill)
{
	(void)fill;
	at[0] = 'a';
	at[1] = 0;
	strcat(at, text(length - 1));
	stay();
}

static NOINLINE ACCESS void fill_by_sprintf(char *at, size_t length, uint8_t fill)
{
	(void)fill;
	sprintf(at, hidden((const char *)"%s"), text(length));
	stay();
}

static NOINLINE ACCESS void measure_by_strlen(char *at, size_t length, uint8_t fill)
{
	(void)length;
	(void)fill;
	seen = strlen(at);
	stay();
}

/* Of `length` bytes without a final zero. */
static NOINLINE ACCESS void measure_unterminated(char *at, size_t length, uint8_t fill)
{
	(void)fill;
	at[length - 1] = 'm';
	stay();
	seen = strlen(at);
	stay();
}

static NOINLINE ACCESS void copy_unterminated(char *at, size_t length, uint8_t fill)
{
	(void)fill;
	at[length - 1] = 'm';
	stay();
	strcpy(scratch, at);
	stay();
}

static NOINLINE ACCESS void compare_by_memcmp(char *at, size_t length, uint8_t fill)
{
	/* Equal up to the last byte: the comparison has to look at it. */
	(void)fill;
	memset(scratch, 'm', sizeof(scratch));
	seen = (uint64_t)memcmp(at, scratch, hidden(length));
	stay();
}

/* A pair of descriptors between which `length` bytes of `fill` wait to be read. */
static void open_filled(int ends[2], size_t length, uint8_t fill)
{
	memset(scratch, fill, sizeof(scratch));
	require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
	require(write(ends[1], scratch, length) == (ssize_t)length, "write");
}

static void close_both(const int ends[2])
{
	close(ends[0]);
	close(ends[1]);
}

static NOINLINE ACCESS void fill_by_read(char *at, size_t length, uint8_t fill)
{
	int ends[2];

	open_filled(ends, length, fill);
	seen = (uint64_t)read(ends[0], at, length);
	close_both(ends);
}

static NOINLINE ACCESS void fill_by_recv(char *at, size_t length, uint8_t fill)
{
	int ends[2];

	open_filled(ends, length, fill);
	seen = (uint64_t)recv(ends[0], at, length, 0);
	close_both(ends);
}

static NOINLINE ACCESS void fill_by_readv(char *at, size_t length, uint8_t fill)
{
	char head[4];
	struct iovec parts[2] = {{head, sizeof(head)}, {at, length}};
	int ends[2];

	open_filled(ends, length + sizeof(head), fill);
	seen = (uint64_t)readv(ends[0], parts, 2);
	close_both(ends);
}

static NOINLINE ACCESS void send_by_write(char *at, size_t length, uint8_t fill)
{
	int ends[2];

	(void)fill;
	open_filled(ends, 1, 0);
	seen = (uint64_t)write(ends[1], at, length);
	close_both(ends);
}

static NOINLINE ACCESS void send_by_writev(char *at, size_t length, uint8_t fill)
{
	char head[4] = "head";
	struct iovec parts[2] = {{head, sizeof(head)}, {at, length}};
	int ends[2];

	(void)fill;
	open_filled(ends, 1, 0);
	seen = (uint64_t)writev(ends[1], parts, 2);
	close_both(ends);
}

static NOINLINE ACCESS void fill_by_stat(char *at, size_t length, uint8_t fill)
{
	(void)length;
	(void)fill;
	seen = (uint64_t)stat("/", (struct stat *)at);
	stay();
}

static NOINLINE ACCESS void fill_by_uname(char *at, size_t length, uint8_t fill)
{
	(void)length;
	(void)fill;
	seen = (uint64_t)uname((struct utsname *)at);
	stay();
}

static NOINLINE ACCESS void fill_by_getsockopt(char *at, size_t length, uint8_t fill)
{
	socklen_t room = (socklen_t)length;
	int ends[2];

	(void)fill;
	require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a pair of sockets");
	seen = (uint64_t)getsockopt(ends[0], SOL_SOCKET, SO_PEERCRED, at, &room);
	close_both(ends);
}

/* What lies there is no descriptor that is open. */
static NOINLINE ACCESS void ask_by_poll(char *at, size_t length, uint8_t fill)
{
	(void)fill;
	seen = (uint64_t)poll((struct pollfd *)at, length / sizeof(struct pollfd), 0);
	stay();
}

/* A write that no wrapper of libc and no instruction of the program makes. */
static NOINLINE ACCESS void fill_unseen(char *at, size_t length, uint8_t fill)
{
	int ends[2];
	long result;

	open_filled(ends, length, fill);
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_read), "D"(ends[0]), "S"(at), "d"(length)
			 : "rcx", "r11", "memory");
	seen = (uint64_t)result;
	close_both(ends);
}

#endif
