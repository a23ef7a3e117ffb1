/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One test is one program: exit status 0 passed, 1 failed, 77 skipped with the reason. Run alone by
 * its name in build/tests/behave/.
 */
#ifndef BEHAVE_CHECK_H
#define BEHAVE_CHECK_H

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trapline/trapline.h>
#include <unistd.h>

#define CHECK(condition, ...)                                                           \
	do {                                                                            \
		if (!(condition)) {                                                     \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
			fprintf(stderr, " " __VA_ARGS__);                               \
			fprintf(stderr, "\n");                                          \
			_exit(1);                                                       \
		}                                                                       \
	} while (0)

#define CHECK_EQUAL(got, expected)                                                                \
	do {                                                                                      \
		long long got_ = (long long)(got), expected_ = (long long)(expected);             \
		if (got_ != expected_) {                                                          \
			fprintf(stderr, "%s:%d: %s is %lld, expected %lld\n", __FILE__, __LINE__, \
				#got, got_, expected_);                                           \
			_exit(1);                                                                 \
		}                                                                                 \
	} while (0)

#define CHECK_OK(call)                                                                          \
	do {                                                                                    \
		int err_ = (call);                                                              \
		if (err_ < 0) {                                                                 \
			fprintf(stderr, "%s:%d: %s: %d, %s\n", __FILE__, __LINE__, #call, err_, \
				strerror(-err_));                                               \
			_exit(1);                                                               \
		}                                                                               \
	} while (0)

static inline void check_skip(const char *reason)
{
	printf("skipped: %s\n", reason);
	exit(77);
}

static inline void check_count_hit(tl_hit *hit, void *arg)
{
	(void)hit;
	if (arg)
		__atomic_fetch_add((long *)arg, 1, __ATOMIC_RELAXED);
}

static inline struct tl_spec check_spec(const volatile void *addr, size_t len, unsigned access,
					enum tl_scope scope)
{
	return (struct tl_spec){.size = sizeof(struct tl_spec),
				.addr = (const void *)addr,
				.len = len,
				.access = access,
				.scope = scope};
}

static inline tl_event *check_open(const volatile void *addr, size_t len, unsigned access,
				   enum tl_scope scope, tl_hit_fn *fn, void *arg)
{
	struct tl_spec spec = check_spec(addr, len, access, scope);
	tl_event *event = NULL;
	int err = tl_event_open(&event, &spec, fn, arg);

	CHECK(err == 0, "tl_event_open: %d %s", err, strerror(-err));
	return event;
}

/* Skips where no watchpoint fires, fails there if TRAPLINE_REQUIRE_HARDWARE is set. */
static inline void check_hardware(void)
{
	static volatile long probed;
	struct tl_spec spec = check_spec(&probed, sizeof(probed), TL_WRITE, TL_THREAD);
	tl_event *event;
	long hits = 0;
	int err = tl_event_open(&event, &spec, check_count_hit, &hits);

	if (!err) {
		probed = 1;
		tl_event_close(event);
	}
	if (hits == 1)
		return;
	CHECK(!getenv("TRAPLINE_REQUIRE_HARDWARE"), "no watchpoint fires here: error %d", err);
	check_skip("no hardware watchpoint fires on this machine");
}

static inline uint64_t check_stat(const char *name)
{
	for (size_t i = 0; i < tl_stats_count(); i++)
		if (!strcmp(tl_stats_name(i), name))
			return tl_stats_value(i);
	CHECK(0, "no count named %s", name);
	return 0;
}

static inline pid_t check_gettid(void)
{
	return (pid_t)syscall(SYS_gettid);
}

#endif
