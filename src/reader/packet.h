/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One message between the process that asks and the reader of files. The same function writes a
 * field and reads it, so that the two sides cannot differ. Reading checks every length; after the
 * first thing that does not fit, `bad` is set and everything read is zero.
 */
#ifndef READER_PACKET_H
#define READER_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Of one message. A text is cut to its bound when it is written. */
#define SYMBOL_PACKET_MAX (2u << 20)
#define SYMBOL_PACKET_TEXT 16384u

struct symbol_session;
struct symbol_modules;
struct symbol_module;

struct symbol_packet {
	uint8_t *bytes; /* SYMBOL_PACKET_MAX of them, from the first use on */
	size_t length, at;
	uint32_t kind;
	bool writing, bad;
	struct symbol_session *session; /* keeps the texts that are read */
	struct symbol_modules *modules; /* whose modules are named in it */
};

void symbol_packet_write(struct symbol_packet *packet, uint32_t kind);
void symbol_packet_free(struct symbol_packet *packet);

void symbol_packet_u64(struct symbol_packet *packet, uint64_t *value);
void symbol_packet_u32(struct symbol_packet *packet, uint32_t *value);
void symbol_packet_int(struct symbol_packet *packet, int *value);
void symbol_packet_bool(struct symbol_packet *packet, bool *value);
/* More than `max` is bad. */
void symbol_packet_count(struct symbol_packet *packet, size_t *value, size_t max);
/* A text that the session keeps; NULL stays NULL. */
void symbol_packet_text(struct symbol_packet *packet, const char **text);
/* A text in an array of `size` bytes. */
void symbol_packet_array(struct symbol_packet *packet, char *text, size_t size);
/* Bytes; read, they are in the packet and valid as long as it is. */
void symbol_packet_bytes(struct symbol_packet *packet, const void **bytes, size_t *length,
			 size_t max);
/* A module of packet->modules, by its id; NULL stays NULL. */
void symbol_packet_module(struct symbol_packet *packet, const struct symbol_module **module);

/*
 * Over a stream socket, the descriptor `fd` (-1: none) with it. Blocking, but for what `wait` says:
 * it is called with POLLIN or POLLOUT before each part, and a negative result ends it. 0 or -errno;
 * -EPIPE: the other side is gone.
 */
typedef int symbol_packet_wait_fn(void *context, short events);
int symbol_packet_send(int socket, const struct symbol_packet *packet, int fd,
		       symbol_packet_wait_fn *wait, void *context);
/* `fd` NULL: descriptors are not taken. */
int symbol_packet_receive(int socket, struct symbol_packet *packet, int *fd,
			  symbol_packet_wait_fn *wait, void *context);

#endif
