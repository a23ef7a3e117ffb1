/* SPDX-License-Identifier: Apache-2.0 */
/* Unwinding and symbolising a stopped program from registers and a copy of its stack. */
#include "confined.h"
#include "stopped.h"

#include "symbol/place.h"
#include "symbol/stack.h"

#include <time.h>

#define STACK_COPY 16384

static struct symbol_session *session; /* of each test: files are shared by build-id in one */

static size_t unwind_target(struct target *target, struct symbol_modules *modules,
			    struct symbol_stack_frame *frames, size_t max, bool *complete)
{
	static uint8_t copy[STACK_COPY];
	struct symbol_memory memory = symbol_memory_of_process(target->pid);
	struct symbol_stack_source source = {.registers = target->registers, .copy = copy};

	source.copy_address = target->registers.value[SYMBOL_SP];
	for (size_t length = STACK_COPY; length > 0 && source.copy_length == 0; length -= 256)
		if (symbol_memory_read(&memory, source.copy_address, copy, length) == 0)
			source.copy_length = length;
	return symbol_stack_unwind(modules, &source, frames, max, complete);
}

static bool has_frame(struct symbol_modules *modules, const struct symbol_stack_frame *frames,
		      size_t count, const char *function, const char *mark)
{
	struct symbol_frame places[SYMBOL_INLINE_MAX];
	unsigned line = mark ? target_line(mark) : 0;

	for (size_t i = 0; i < count; i++) {
		size_t n = symbol_place_find(modules, frames[i].pc, frames[i].return_address,
					     places, SYMBOL_INLINE_MAX);

		for (size_t j = 0; j < n; j++)
			if (places[j].function && strcmp(places[j].function, function) == 0 &&
			    (!mark || places[j].line == line))
				return true;
	}
	return false;
}

static void print_stack(struct symbol_modules *modules, const struct symbol_stack_frame *frames,
			size_t count)
{
	struct symbol_frame places[SYMBOL_INLINE_MAX];

	for (size_t i = 0; i < count; i++) {
		size_t n = symbol_place_find(modules, frames[i].pc, frames[i].return_address,
					     places, SYMBOL_INLINE_MAX);

		for (size_t j = 0; j < n; j++)
			print_message("#%zu %s+%#lx %s:%u:%u%s%s %s+%#lx %.8s\n", i,
				      places[j].function ? places[j].function : "?",
				      (unsigned long)places[j].function_offset,
				      places[j].file ? places[j].file : "?", places[j].line,
				      places[j].column, places[j].inlined ? " inlined" : "",
				      frames[i].guessed ? " guessed" : "",
				      places[j].module ? places[j].module : "?",
				      (unsigned long)places[j].module_offset, places[j].build_id);
	}
}

static void check_stack(const char *program, bool lines, bool through_signal)
{
	struct symbol_stack_frame frames[SYMBOL_STACK_MAX];
	struct symbol_modules *modules;
	struct target target;
	bool complete;
	size_t count;

	assert_int_equal(symbol_session_open(&session, test_options()), 0);
	target_start(&target, program);
	assert_int_equal(symbol_modules_of_process(session, target.pid, &modules), 0);
	count = unwind_target(&target, modules, frames, SYMBOL_STACK_MAX, &complete);
	print_stack(modules, frames, count);
	assert_true(complete);
	assert_true(count >= 6);
	if (lines) {
		assert_true(has_frame(modules, frames, count, "handler", "stop"));
		assert_true(has_frame(modules, frames, count, "inlined_raise", "raise"));
		assert_true(has_frame(modules, frames, count, "outer", "inlined"));
		assert_true(has_frame(modules, frames, count, "thread", "outer"));
	}
	if (through_signal) {
		bool signal = false;

		for (size_t i = 0; i < count; i++)
			signal |= frames[i].signal;
		assert_true(signal);
	}
	/* The same stack once more, when the process is gone: its files are enough. */
	target_end(&target);
	assert_true(symbol_modules_find(modules, frames[0].pc) != NULL);
	assert_true(symbol_modules_refresh(modules) < 0);
	if (lines)
		assert_true(has_frame(modules, frames, count, "outer", "inlined"));
	symbol_modules_close(modules);
	symbol_session_close(session);
}

static void test_debug(void **state)
{
	(void)state;
	check_stack(FIXTURE_O0, true, true);
	check_stack(FIXTURE_O2, true, true);
}

static void test_stripped(void **state)
{
	(void)state;
	check_stack(FIXTURE_STRIPPED, false, true);
}

static void test_separate_debug(void **state)
{
	(void)state;
	check_stack(FIXTURE_DEBUGLINK, true, true);
}

static uint64_t now_nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void test_speed(void **state)
{
	struct symbol_stack_frame frames[SYMBOL_STACK_MAX];
	struct symbol_frame places[SYMBOL_INLINE_MAX];
	struct symbol_modules *modules;
	struct target target;
	uint64_t start;
	size_t count = 0;
	bool complete;

	(void)state;
	assert_int_equal(symbol_session_open(&session, test_options()), 0);
	target_start(&target, FIXTURE_O2);
	assert_int_equal(symbol_modules_of_process(session, target.pid, &modules), 0);
	unwind_target(&target, modules, frames, SYMBOL_STACK_MAX, &complete);
	start = now_nanoseconds();
	for (int i = 0; i < 1000; i++)
		count = unwind_target(&target, modules, frames, SYMBOL_STACK_MAX, &complete);
	print_message("%.2f us a stack of %zu frames\n", (double)(now_nanoseconds() - start) / 1e6,
		      count);
	for (size_t i = 0; i < count; i++)
		symbol_place_find(modules, frames[i].pc, true, places, SYMBOL_INLINE_MAX);
	start = now_nanoseconds();
	for (int i = 0; i < 10000; i++)
		symbol_place_find(modules, frames[i % count].pc, true, places, SYMBOL_INLINE_MAX);
	print_message("%.2f us a place, cached\n", (double)(now_nanoseconds() - start) / 1e7);
	target_end(&target);
	symbol_modules_close(modules);
	symbol_session_close(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debug),
		cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_separate_debug),
		cmocka_unit_test(test_speed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
