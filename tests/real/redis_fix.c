/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A fix for redis-server as tests/real/patch uses it: GET and the writing of answers, which redis
 * does in its I/O threads, are counted on their way to the original; DBSIZE tells the count.
 */
#define VISIBLE __attribute__((visibility("default")))
#define PATCHED 1000000

struct client;

/* Of redis-server, which exports its functions. */
void addReplyLongLong(struct client *client, long long number);

/* Told by trapline. */
VISIBLE void (*original_getCommand)(struct client *client);
VISIBLE int (*original_writeToClient)(struct client *client, int handler_installed);

static long long gets, writes;

VISIBLE void fixed_get(struct client *client)
{
	__atomic_fetch_add(&gets, 1, __ATOMIC_RELAXED);
	original_getCommand(client);
}

VISIBLE int fixed_write(struct client *client, int handler_installed)
{
	__atomic_fetch_add(&writes, 1, __ATOMIC_RELAXED);
	return original_writeToClient(client, handler_installed);
}

VISIBLE void fixed_dbsize(struct client *client)
{
	addReplyLongLong(client, PATCHED + __atomic_load_n(&gets, __ATOMIC_RELAXED));
}
