/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/packet.h"

#include "module/modules.h"
#include "session/session.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

struct header {
	uint32_t length, kind;
};

/* Pages are taken as they are touched: most messages are short. */
static bool reserve(struct symbol_packet *packet)
{
	void *bytes = packet->bytes;

	if (!bytes)
		bytes = mmap(NULL, SYMBOL_PACKET_MAX, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	packet->bytes = bytes == MAP_FAILED ? NULL : bytes;
	return packet->bytes != NULL;
}

void symbol_packet_write(struct symbol_packet *packet, uint32_t kind)
{
	packet->bad = !reserve(packet);
	packet->kind = kind;
	packet->length = packet->at = 0;
	packet->writing = true;
}

void symbol_packet_free(struct symbol_packet *packet)
{
	if (packet->bytes)
		munmap(packet->bytes, SYMBOL_PACKET_MAX);
	packet->bytes = NULL;
}

/* ---- fields ----------------------------------------------------------------------------- */

static void raw(struct symbol_packet *packet, void *value, size_t size)
{
	size_t end = packet->writing ? SYMBOL_PACKET_MAX : packet->length;

	if (packet->bad || size > end - packet->at) {
		packet->bad = true;
		if (!packet->writing)
			memset(value, 0, size);
		return;
	}
	if (packet->writing)
		memcpy(packet->bytes + packet->at, value, size);
	else
		memcpy(value, packet->bytes + packet->at, size);
	packet->at += size;
	if (packet->writing)
		packet->length = packet->at;
}

void symbol_packet_u64(struct symbol_packet *packet, uint64_t *value)
{
	raw(packet, value, sizeof(*value));
}

void symbol_packet_u32(struct symbol_packet *packet, uint32_t *value)
{
	raw(packet, value, sizeof(*value));
}

void symbol_packet_int(struct symbol_packet *packet, int *value)
{
	raw(packet, value, sizeof(*value));
}

void symbol_packet_bool(struct symbol_packet *packet, bool *value)
{
	uint8_t byte = packet->writing ? *value : 0;

	raw(packet, &byte, sizeof(byte));
	*value = byte != 0;
}

void symbol_packet_count(struct symbol_packet *packet, size_t *value, size_t max)
{
	uint64_t number = packet->writing ? *value : 0;

	raw(packet, &number, sizeof(number));
	if (number > max) {
		packet->bad = true;
		number = 0;
	}
	if (!packet->writing)
		*value = (size_t)number;
}

void symbol_packet_bytes(struct symbol_packet *packet, const void **bytes, size_t *length,
			 size_t max)
{
	symbol_packet_count(packet, length, max);
	if (packet->writing) {
		if (*length)
			raw(packet, (void *)*bytes, *length);
		return;
	}
	if (packet->bad || *length > packet->length - packet->at) {
		packet->bad = true;
		*length = 0;
	}
	*bytes = packet->bytes + packet->at;
	packet->at += *length;
}

/* Length and one, so that 0 says NULL; then the text and its NUL. */
static const char *text_read(struct symbol_packet *packet)
{
	const void *bytes = NULL;
	size_t length = 0;

	symbol_packet_bytes(packet, &bytes, &length, SYMBOL_PACKET_TEXT);
	if (!length)
		return NULL;
	if (memchr(bytes, 0, length) == (const char *)bytes + length - 1)
		return bytes;
	packet->bad = true;
	return NULL;
}

static void text_written(struct symbol_packet *packet, const char *text)
{
	size_t length = text ? strnlen(text, SYMBOL_PACKET_TEXT - 1) : 0, size = length + 1;
	char end = 0;

	if (!text) {
		symbol_packet_count(packet, &length, SYMBOL_PACKET_TEXT);
		return;
	}
	symbol_packet_count(packet, &size, SYMBOL_PACKET_TEXT);
	raw(packet, (void *)text, length);
	raw(packet, &end, 1);
}

void symbol_packet_text(struct symbol_packet *packet, const char **text)
{
	if (packet->writing)
		text_written(packet, *text);
	else
		*text = symbol_keep(packet->session, text_read(packet));
}

void symbol_packet_array(struct symbol_packet *packet, char *text, size_t size)
{
	const char *from;

	if (packet->writing) {
		text_written(packet, text);
		return;
	}
	from = text_read(packet);
	if (from && strlen(from) >= size)
		packet->bad = true;
	if (!from || packet->bad)
		from = "";
	memcpy(text, from, strlen(from) + 1);
}

void symbol_packet_module(struct symbol_packet *packet, const struct symbol_module **module)
{
	uint64_t id = packet->writing && *module ? (*module)->id : 0;

	symbol_packet_u64(packet, &id);
	if (packet->writing)
		return;
	*module = id ? symbol_modules_by_id(packet->modules, id) : NULL;
	if (id && !*module)
		packet->bad = true;
}

/* ---- the socket ------------------------------------------------------------------------- */

static void attach(struct msghdr *message, char *space, size_t size, int fd)
{
	struct cmsghdr *control;

	message->msg_control = space;
	message->msg_controllen = size;
	control = CMSG_FIRSTHDR(message);
	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(control), &fd, sizeof(fd));
}

int symbol_packet_send(int socket, const struct symbol_packet *packet, int fd,
		       symbol_packet_wait_fn *wait, void *context)
{
	struct header header = {(uint32_t)packet->length, packet->kind};
	struct iovec part[2] = {{&header, sizeof(header)}, {packet->bytes, packet->length}};
	struct msghdr message = {.msg_iov = part, .msg_iovlen = 2};
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {0};
	size_t left = sizeof(header) + packet->length;

	if (packet->bad)
		return -EMSGSIZE;
	if (fd >= 0)
		attach(&message, space, sizeof(space), fd);
	while (left) {
		int err = wait ? wait(context, POLLOUT) : 0;
		ssize_t sent;

		if (err)
			return err;
		sent = sendmsg(socket, &message, MSG_NOSIGNAL | (wait ? MSG_DONTWAIT : 0));
		if (sent < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (sent < 0)
			return -errno;
		left -= (size_t)sent;
		message.msg_controllen = 0;
		for (int i = 0; i < 2; i++) {
			size_t taken = (size_t)sent < part[i].iov_len ? (size_t)sent
								      : part[i].iov_len;

			part[i].iov_base = (char *)part[i].iov_base + taken;
			part[i].iov_len -= taken;
			sent -= (ssize_t)taken;
		}
	}
	return 0;
}

static void take_descriptor(struct msghdr *message, int *fd)
{
	struct cmsghdr *control = CMSG_FIRSTHDR(message);

	if (control && control->cmsg_level == SOL_SOCKET && control->cmsg_type == SCM_RIGHTS &&
	    control->cmsg_len == CMSG_LEN(sizeof(*fd)))
		memcpy(fd, CMSG_DATA(control), sizeof(*fd));
}

/* At most `length` bytes; a descriptor comes with the first of a message. */
static ssize_t receive_part(int socket, void *to, size_t length, int *fd, bool wait)
{
	struct iovec part = {to, length};
	_Alignas(struct cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {0};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t got;

	if (fd) {
		message.msg_control = space;
		message.msg_controllen = sizeof(space);
	}
	got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait ? MSG_DONTWAIT : 0));
	if (got > 0 && fd)
		take_descriptor(&message, fd);
	return got;
}

static int receive(int socket, void *to, size_t length, int *fd, symbol_packet_wait_fn *wait,
		   void *context)
{
	while (length) {
		int err = wait ? wait(context, POLLIN) : 0;
		ssize_t got;

		if (err)
			return err;
		got = receive_part(socket, to, length, fd, wait != NULL);
		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return got ? -errno : -EPIPE;
		to = (char *)to + got;
		length -= (size_t)got;
	}
	return 0;
}

int symbol_packet_receive(int socket, struct symbol_packet *packet, int *fd,
			  symbol_packet_wait_fn *wait, void *context)
{
	struct header header;
	int err;

	if (fd)
		*fd = -1;
	packet->bad = !reserve(packet);
	if (packet->bad)
		return -ENOMEM;
	packet->writing = false;
	packet->at = 0;
	err = receive(socket, &header, sizeof(header), fd, wait, context);
	if (err)
		return err;
	if (header.length > SYMBOL_PACKET_MAX)
		return -EMSGSIZE;
	packet->kind = header.kind;
	packet->length = header.length;
	return receive(socket, packet->bytes, packet->length, NULL, wait, context);
}
