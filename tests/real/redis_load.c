/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small load for redis over TCP, checking every answer.
 *
 * usage: redis_load PORT SECONDS CONNECTIONS
 *
 * One thread a connection sets a key of its own, reads it back and asks DBSIZE, in turn. Prints one
 * line of JSON: operations, errors, latencies in microseconds (median, 99 %, largest), the range of
 * DBSIZE's answers. Exit status: 0, 1 if an answer was wrong, 2 if there was no connection.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_CONNECTIONS 64
#define BUCKETS 4000 /* of 5 us; the last holds all that took longer */
#define BUCKET_US 5

struct worker {
	pthread_t thread;
	unsigned index;
	int fd;
	uint64_t operations, errors;
	uint32_t largest;
	uint32_t latencies[BUCKETS];
	long smallest_size, largest_size;
};

static struct sockaddr_in address = {.sin_family = AF_INET};
static uint64_t end_us;
static struct worker workers[MAX_CONNECTIONS];

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static bool connect_worker(struct worker *worker)
{
	int on = 1;

	worker->fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(worker->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return connect(worker->fd, (struct sockaddr *)&address, sizeof(address)) == 0;
}

static void note_latency(struct worker *worker, uint64_t taken)
{
	uint64_t bucket = taken / BUCKET_US;

	worker->latencies[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
	if (taken > worker->largest)
		worker->largest = (uint32_t)taken;
	worker->operations++;
}

/* Sends `request`, receives until the answer has `lines` lines. */
static bool ask(struct worker *worker, const char *request, int lines, char *answer, size_t size)
{
	uint64_t began = now_us();
	size_t length = 0;
	int seen = 0;

	if (write(worker->fd, request, strlen(request)) != (ssize_t)strlen(request))
		return false;
	while (seen < lines && length + 1 < size) {
		ssize_t got = read(worker->fd, answer + length, size - 1 - length);

		if (got <= 0)
			return false;
		for (ssize_t i = 0; i < got; i++)
			seen += answer[length + (size_t)i] == '\n';
		length += (size_t)got;
	}
	answer[length] = 0;
	note_latency(worker, now_us() - began);
	return true;
}

static void expect(struct worker *worker, bool right, const char *answer)
{
	if (right)
		return;
	if (!worker->errors++)
		fprintf(stderr, "connection %u: wrong answer %s\n", worker->index, answer);
}

static bool one_turn(struct worker *worker, unsigned number)
{
	char request[128], answer[256], expected[64], value[32];
	long size;

	snprintf(value, sizeof(value), "v%u-%u", worker->index, number);
	snprintf(request, sizeof(request), "SET key%u %s\r\n", worker->index, value);
	if (!ask(worker, request, 1, answer, sizeof(answer)))
		return false;
	expect(worker, strcmp(answer, "+OK\r\n") == 0, answer);
	snprintf(request, sizeof(request), "GET key%u\r\n", worker->index);
	if (!ask(worker, request, 2, answer, sizeof(answer)))
		return false;
	snprintf(expected, sizeof(expected), "$%zu\r\n%s\r\n", strlen(value), value);
	expect(worker, strcmp(answer, expected) == 0, answer);
	if (!ask(worker, "DBSIZE\r\n", 1, answer, sizeof(answer)))
		return false;
	size = answer[0] == ':' ? strtol(answer + 1, NULL, 10) : -1;
	expect(worker, size > 0, answer);
	if (!worker->smallest_size || size < worker->smallest_size)
		worker->smallest_size = size;
	if (size > worker->largest_size)
		worker->largest_size = size;
	return true;
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	for (unsigned number = 0; now_us() < end_us; number++)
		if (!one_turn(worker, number)) {
			expect(worker, false, "the connection was lost");
			break;
		}
	return NULL;
}

static uint32_t percentile(const uint64_t *latencies, uint64_t operations, double part)
{
	uint64_t sum = 0;

	for (uint32_t bucket = 0; bucket < BUCKETS; bucket++) {
		sum += latencies[bucket];
		if ((double)sum >= part * (double)operations)
			return bucket * BUCKET_US;
	}
	return BUCKETS * BUCKET_US;
}

static int report(unsigned connections)
{
	static uint64_t latencies[BUCKETS];
	struct worker all = {.smallest_size = workers[0].smallest_size};

	for (unsigned i = 0; i < connections; i++) {
		const struct worker *worker = &workers[i];

		all.operations += worker->operations;
		all.errors += worker->errors;
		all.largest = worker->largest > all.largest ? worker->largest : all.largest;
		if (worker->smallest_size < all.smallest_size)
			all.smallest_size = worker->smallest_size;
		if (worker->largest_size > all.largest_size)
			all.largest_size = worker->largest_size;
		for (uint32_t bucket = 0; bucket < BUCKETS; bucket++)
			latencies[bucket] += worker->latencies[bucket];
	}
	printf("{\"operations\": %llu, \"errors\": %llu, \"median\": %u, \"p99\": %u, "
	       "\"largest\": %u, \"sizes\": [%ld, %ld]}\n",
	       (unsigned long long)all.operations, (unsigned long long)all.errors,
	       percentile(latencies, all.operations, 0.5),
	       percentile(latencies, all.operations, 0.99), all.largest, all.smallest_size,
	       all.largest_size);
	return all.errors ? 1 : 0;
}

int main(int argc, char **argv)
{
	unsigned connections = argc == 4 ? (unsigned)atoi(argv[3]) : 0;

	if (!connections || connections > MAX_CONNECTIONS) {
		fprintf(stderr, "usage: redis_load PORT SECONDS CONNECTIONS\n");
		return 2;
	}
	address.sin_port = htons((uint16_t)atoi(argv[1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	end_us = now_us() + (uint64_t)(atof(argv[2]) * 1e6);
	for (unsigned i = 0; i < connections; i++) {
		workers[i].index = i;
		if (!connect_worker(&workers[i]))
			return 2;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	for (unsigned i = 0; i < connections; i++)
		pthread_join(workers[i].thread, NULL);
	return report(connections);
}
