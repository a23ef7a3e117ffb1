/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small load for memcached over TCP, checking every answer.
 *
 * Usage: memcached_load PORT [SECONDS [THREADS [CONNECTIONS]]]; each thread drives CONNECTIONS
 * connections in turn.  Half of the keys belong to one thread, which knows what they must hold (or
 * that they were evicted); the other half are shared by all, and hold a value that checks itself.
 * Prints one line: operations, operations per second, latency in microseconds (median, 99 %,
 * largest), errors.  Exit status: 0, 1 if an answer was wrong, 2 if there was no connection.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 64
#define MAX_CONNECTIONS 64
#define OWN_KEYS 200
#define SHARED_KEYS 50
#define MAX_VALUE 1500
/* Latencies are counted in steps of 1/16 of a power of two microseconds. */
#define BUCKETS 512

struct connection {
	int fd;
	size_t length;
	char buffer[65536];
};

struct worker {
	pthread_t thread;
	unsigned index;
	uint64_t random;
	uint64_t operations;
	uint64_t errors;
	uint32_t largest;
	uint32_t latencies[BUCKETS];
	/* What each own key holds: the seed of its value, 0 for nothing; counters apart. */
	uint32_t expected[OWN_KEYS];
	uint64_t counter;
	bool counter_known;
	struct connection connections[MAX_CONNECTIONS];
};

static struct sockaddr_in address = {.sin_family = AF_INET};
static unsigned connection_count = 8;
static struct timespec end_time;
static struct worker *workers[MAX_THREADS];

static uint32_t draw(struct worker *worker, uint32_t below)
{
	worker->random = worker->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(worker->random >> 33) % below;
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static unsigned bucket_of(uint32_t microseconds)
{
	unsigned power;

	if (microseconds < 16)
		return microseconds;
	power = 31 - (unsigned)__builtin_clz(microseconds);
	return (power - 3) * 16 + ((microseconds >> (power - 4)) & 15);
}

static uint32_t bucket_start(unsigned bucket)
{
	unsigned power = bucket / 16 + 3;

	return bucket < 16 ? bucket : (16 + bucket % 16) << (power - 4);
}

static void note_latency(struct worker *worker, uint64_t nanoseconds)
{
	uint32_t microseconds = (uint32_t)(nanoseconds / 1000);

	worker->latencies[bucket_of(microseconds)]++;
	if (microseconds > worker->largest)
		worker->largest = microseconds;
}

static void complain(struct worker *worker, const char *what, const char *key)
{
	if (worker->errors++ < 3)
		fprintf(stderr, "memcached_load: %s: %s\n", key, what);
}

/* A value is its seed in eight digits followed by letters that the seed decides. */
static size_t make_value(char *value, uint32_t seed)
{
	size_t length = 8 + seed % (MAX_VALUE - 8);

	snprintf(value, 9, "%08u", seed % 100000000);
	for (size_t i = 8; i < length; i++)
		value[i] = (char)('a' + (seed + i) % 26);
	return length;
}

static bool value_right(const char *value, size_t length, uint32_t *seed)
{
	char digits[9] = "", expected[MAX_VALUE + 1];

	if (length < 8)
		return false;
	memcpy(digits, value, 8);
	*seed = (uint32_t)strtoul(digits, NULL, 10);
	return make_value(expected, *seed) == length && memcmp(expected, value, length) == 0;
}

static bool send_all(struct connection *connection, const char *data, size_t length)
{
	while (length) {
		ssize_t sent = send(connection->fd, data, length, MSG_NOSIGNAL);

		if (sent <= 0)
			return false;
		data += sent;
		length -= (size_t)sent;
	}
	return true;
}

/* Receives until the buffer ends with `terminator`, or with a line that means an error. */
static bool receive(struct connection *connection, const char *terminator)
{
	size_t wanted = strlen(terminator);

	connection->length = 0;
	for (;;) {
		ssize_t got = recv(connection->fd, connection->buffer + connection->length,
				   sizeof(connection->buffer) - connection->length - 1, 0);

		if (got <= 0)
			return false;
		connection->length += (size_t)got;
		connection->buffer[connection->length] = 0;
		if (connection->length >= wanted &&
		    strcmp(connection->buffer + connection->length - wanted, terminator) == 0)
			return true;
		if (strncmp(connection->buffer, "SERVER_ERROR", 12) == 0)
			return true;
	}
}

/* Sends a request and waits for its answer; false ends the worker. */
__attribute__((format(printf, 4, 5))) static bool ask(struct worker *worker,
						      struct connection *connection,
						      const char *terminator, const char *format,
						      ...)
{
	char request[MAX_VALUE + 200];
	va_list arguments;
	uint64_t start;
	int length;

	va_start(arguments, format);
	length = vsnprintf(request, sizeof(request), format, arguments);
	va_end(arguments);
	start = now_ns();
	if (!send_all(connection, request, (size_t)length) || !receive(connection, terminator)) {
		complain(worker, "the connection broke", "request");
		return false;
	}
	note_latency(worker, now_ns() - start);
	worker->operations++;
	return true;
}

static bool set_key(struct worker *worker, struct connection *connection, const char *key,
		    uint32_t *expected)
{
	uint32_t seed = 1 + draw(worker, 99999998);
	char value[MAX_VALUE + 1];
	size_t length = make_value(value, seed);

	value[length] = 0;
	if (!ask(worker, connection, "\r\n", "set %s 0 0 %zu\r\n%s\r\n", key, length, value))
		return false;
	if (strcmp(connection->buffer, "STORED\r\n") == 0) {
		if (expected)
			*expected = seed;
	} else if (strncmp(connection->buffer, "SERVER_ERROR out of memory", 26) == 0) {
		if (expected)
			*expected = 0;
	} else {
		complain(worker, connection->buffer, key);
	}
	return true;
}

/* `expected` is NULL for a shared key: then any value that checks itself is right. */
static bool get_key(struct worker *worker, struct connection *connection, const char *verb,
		    const char *key, uint32_t *expected)
{
	unsigned long long length = 0;
	uint32_t seed;
	char *value;

	if (!ask(worker, connection, "END\r\n", "%s %s\r\n", verb, key))
		return false;
	if (strcmp(connection->buffer, "END\r\n") == 0) {
		/* Evicted, expired or never set. */
		if (expected)
			*expected = 0;
		return true;
	}
	value = strchr(connection->buffer, '\n');
	if (!value || sscanf(connection->buffer, "VALUE %*s %*u %llu", &length) != 1 ||
	    value + 1 + length > connection->buffer + connection->length ||
	    !value_right(value + 1, length, &seed))
		complain(worker, "a wrong value", key);
	else if (expected && seed != *expected)
		complain(worker, "another value than was set", key);
	return true;
}

static bool count_up(struct worker *worker, struct connection *connection)
{
	char key[40];
	uint64_t value;

	snprintf(key, sizeof(key), "counter-%u", worker->index);
	if (!worker->counter_known) {
		worker->counter = 0;
		worker->counter_known = true;
		return ask(worker, connection, "\r\n", "set %s 0 0 1\r\n0\r\n", key);
	}
	if (!ask(worker, connection, "\r\n", "incr %s 3\r\n", key))
		return false;
	if (strcmp(connection->buffer, "NOT_FOUND\r\n") == 0) {
		worker->counter_known = false;
		return true;
	}
	value = strtoull(connection->buffer, NULL, 10);
	worker->counter += 3;
	if (value != worker->counter)
		complain(worker, "counted wrong", key);
	return true;
}

static bool ask_statistics(struct worker *worker, struct connection *connection)
{
	static const char *const kinds[] = {"", " items", " slabs", " settings", " conns"};

	return ask(worker, connection, "END\r\n", "stats%s\r\n", kinds[draw(worker, 5)]);
}

static bool own_operation(struct worker *worker, struct connection *connection)
{
	uint32_t which = draw(worker, OWN_KEYS);
	char key[40];

	snprintf(key, sizeof(key), "own-%u-%u", worker->index, which);
	switch (draw(worker, 10)) {
	case 0:
	case 1:
	case 2:
		return set_key(worker, connection, key, &worker->expected[which]);
	case 3:
		worker->expected[which] = 0;
		return ask(worker, connection, "\r\n", "delete %s\r\n", key);
	default:
		return get_key(worker, connection, "get", key, &worker->expected[which]);
	}
}

static bool shared_operation(struct worker *worker, struct connection *connection)
{
	char key[40];

	snprintf(key, sizeof(key), "shared-%u", draw(worker, SHARED_KEYS));
	switch (draw(worker, 10)) {
	case 0:
	case 1:
		return set_key(worker, connection, key, NULL);
	case 2:
		return ask(worker, connection, "\r\n", "touch %s 100\r\n", key);
	case 3:
		return get_key(worker, connection, "gat 100", key, NULL);
	default:
		return get_key(worker, connection, draw(worker, 2) ? "get" : "gets", key, NULL);
	}
}

static bool operate(struct worker *worker, struct connection *connection)
{
	uint32_t choice = draw(worker, 1000);

	if (choice < 2)
		return ask_statistics(worker, connection);
	if (choice < 50)
		return count_up(worker, connection);
	return choice < 500 ? own_operation(worker, connection)
			    : shared_operation(worker, connection);
}

static bool open_connection(struct connection *connection)
{
	int one = 1;

	connection->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connection->fd < 0)
		return false;
	setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return connect(connection->fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static bool time_left(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec < end_time.tv_sec ||
	       (now.tv_sec == end_time.tv_sec && now.tv_nsec < end_time.tv_nsec);
}

static void *drive(void *arg)
{
	struct worker *worker = arg;

	for (unsigned i = 0; time_left(); i = (i + 1) % connection_count) {
		if (!operate(worker, &worker->connections[i]))
			break;
		/* Now and then a connection is closed and opened again, as clients come and go. */
		if (draw(worker, 2000) == 0) {
			close(worker->connections[i].fd);
			if (!open_connection(&worker->connections[i])) {
				complain(worker, strerror(errno), "connect");
				break;
			}
		}
	}
	return NULL;
}

static uint32_t percentile(const uint64_t *latencies, uint64_t total, double share)
{
	uint64_t seen = 0;

	for (unsigned i = 0; i < BUCKETS; i++) {
		seen += latencies[i];
		if ((double)seen >= share * (double)total)
			return bucket_start(i);
	}
	return 0;
}

static int print_results(unsigned threads, double seconds)
{
	uint64_t operations = 0, errors = 0, latencies[BUCKETS] = {0};
	uint32_t largest = 0;

	for (unsigned i = 0; i < threads; i++) {
		operations += workers[i]->operations;
		errors += workers[i]->errors;
		if (workers[i]->largest > largest)
			largest = workers[i]->largest;
		for (unsigned j = 0; j < BUCKETS; j++)
			latencies[j] += workers[i]->latencies[j];
	}
	printf("operations %llu, per second %.0f, median %u us, p99 %u us, largest %u us, "
	       "errors %llu\n",
	       (unsigned long long)operations, (double)operations / seconds,
	       percentile(latencies, operations, 0.5), percentile(latencies, operations, 0.99),
	       largest, (unsigned long long)errors);
	return errors || !operations ? 1 : 0;
}

static bool prepare(unsigned index)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		return false;
	workers[index] = worker;
	worker->index = index;
	worker->random = 88172645463325252u + index;
	for (unsigned i = 0; i < connection_count; i++) {
		if (!open_connection(&worker->connections[i]))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[2]) : 10;
	unsigned threads = argc > 3 ? (unsigned)atoi(argv[3]) : 4;
	uint64_t start;

	if (argc > 4)
		connection_count = (unsigned)atoi(argv[4]);
	if (argc < 2 || seconds <= 0 || threads < 1 || threads > MAX_THREADS ||
	    connection_count < 1 || connection_count > MAX_CONNECTIONS) {
		fprintf(stderr, "usage: memcached_load PORT [SECONDS [THREADS [CONNECTIONS]]]\n");
		return 2;
	}
	address.sin_port = htons((uint16_t)atoi(argv[1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (unsigned i = 0; i < threads; i++) {
		if (!prepare(i)) {
			fprintf(stderr, "memcached_load: cannot connect to port %s: %s\n", argv[1],
				strerror(errno));
			return 2;
		}
	}
	start = now_ns();
	clock_gettime(CLOCK_MONOTONIC, &end_time);
	end_time.tv_sec += (time_t)seconds;
	for (unsigned i = 0; i < threads; i++) {
		if (pthread_create(&workers[i]->thread, NULL, drive, workers[i]))
			return 2;
	}
	for (unsigned i = 0; i < threads; i++)
		pthread_join(workers[i]->thread, NULL);
	return print_results(threads, (double)(now_ns() - start) / 1e9);
}
