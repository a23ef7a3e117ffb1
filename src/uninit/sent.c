/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/sent.h"

#include "base/text.h"
#include "insn/arch.h"

#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum sent_shape {
	PLAIN,	  /* a buffer and its length */
	ELEMENTS, /* the length of an element and their number */
	VECTORS,  /* an array of struct iovec and their number */
	MESSAGE,  /* a struct msghdr, which holds the two */
};

static const struct sender {
	const char *name;
	enum sent_shape shape;
	uint8_t at; /* the argument's number */
} senders[] = {
	{"write", PLAIN, 1},	 {"pwrite", PLAIN, 1},	    {"pwrite64", PLAIN, 1},
	{"send", PLAIN, 1},	 {"sendto", PLAIN, 1},	    {"writev", VECTORS, 1},
	{"pwritev", VECTORS, 1}, {"pwritev64", VECTORS, 1}, {"pwritev2", VECTORS, 1},
	{"sendmsg", MESSAGE, 1}, {"fwrite", ELEMENTS, 0},   {"fwrite_unlocked", ELEMENTS, 0},
};

static const struct sender *find_sender(const char *function)
{
	static const char *const prefixes[] = {"_", "GI_", "libc_", NULL};
	const char *name = text_behind(function, prefixes);

	for (size_t i = 0; i < sizeof(senders) / sizeof(senders[0]); i++)
		if (strcmp(senders[i].name, name) == 0)
			return &senders[i];
	return NULL;
}

static bool argument(const struct insn_forward *forward, unsigned number, uint64_t *value)
{
	*value = forward->general[insn_arch.function_argument[number]];
	return forward->known >> insn_arch.function_argument[number] & 1;
}

static unsigned vectors(const struct insn_forward *forward, uint64_t array, uint64_t count,
			struct sent_part *parts, unsigned most)
{
	unsigned known = 0;

	for (uint64_t i = 0; i < count && i < most; i++) {
		uint64_t vector = array + i * sizeof(struct iovec);

		known += insn_forward_read(forward, vector + offsetof(struct iovec, iov_base), 8,
					   &parts[known].address) &&
			 insn_forward_read(forward, vector + offsetof(struct iovec, iov_len), 8,
					   &parts[known].length);
	}
	return known;
}

static unsigned message(const struct insn_forward *forward, uint64_t header,
			struct sent_part *parts, unsigned most)
{
	uint64_t array, count;

	if (!insn_forward_read(forward, header + offsetof(struct msghdr, msg_iov), 8, &array) ||
	    !insn_forward_read(forward, header + offsetof(struct msghdr, msg_iovlen), 8, &count))
		return 0;
	return vectors(forward, array, count, parts, most);
}

unsigned uninit_sent(const char *function, const struct insn_forward *forward,
		     struct sent_part *parts, unsigned most)
{
	const struct sender *sender = find_sender(function);
	uint64_t first, second, third = 1;

	if (!sender || !most || !argument(forward, sender->at, &first))
		return 0;
	if (sender->shape == MESSAGE)
		return message(forward, first, parts, most);
	if (!argument(forward, sender->at + 1u, &second))
		return 0;
	if (sender->shape == VECTORS)
		return vectors(forward, first, second, parts, most);
	if ((sender->shape == ELEMENTS && !argument(forward, sender->at + 2u, &third)) ||
	    __builtin_mul_overflow(second, third, &second))
		return 0;
	parts[0] = (struct sent_part){first, second};
	return 1;
}
