/* SPDX-License-Identifier: Apache-2.0 */
/* Naming what is at a data address of a stopped program. */
#include "confined.h"
#include "stopped.h"

#include "elf/names.h"
#include "elf/object.h"
#include "symbol/variable.h"

#include <fcntl.h>
#include <stdbool.h>

struct fixture {
	struct symbol_session *session;
	struct symbol_modules *modules;
	struct target target;
	struct symbol_stack_frame frames[SYMBOL_STACK_MAX];
	struct symbol_thread thread;
};

static void open_fixture(struct fixture *fixture, const char *program)
{
	static struct symbol_memory memory;
	struct symbol_stack_source source = {.memory = &memory};
	bool complete;

	assert_int_equal(symbol_session_open(&fixture->session, test_options()), 0);
	target_start(&fixture->target, program);
	assert_int_equal(symbol_modules_of_process(fixture->session, fixture->target.pid,
						   &fixture->modules),
			 0);
	memory = symbol_memory_of_process(fixture->target.pid);
	source.registers = fixture->target.registers;
	fixture->thread = (struct symbol_thread){
		.tid = fixture->target.tid,
		.fs_base = fixture->target.fs_base,
		.stack_pointer = source.registers.value[SYMBOL_SP],
		.frames = fixture->frames,
		.frame_count = symbol_stack_unwind(fixture->modules, &source, fixture->frames,
						   SYMBOL_STACK_MAX, &complete),
	};
}

static void close_fixture(struct fixture *fixture)
{
	target_end(&fixture->target);
	symbol_modules_close(fixture->modules);
	symbol_session_close(fixture->session);
}

static struct symbol_variable find(struct fixture *fixture, uint64_t address, uint64_t size)
{
	struct symbol_variable variable;

	symbol_variable_find(fixture->modules, address, size, &fixture->thread, 1, &variable);
	print_message("kind %d: %s +%lu %s %s:%u %s %s\n", (int)variable.kind,
		      variable.path ? variable.path : "?", (unsigned long)variable.offset,
		      variable.type ? variable.type : "?", variable.file ? variable.file : "?",
		      variable.line, variable.function ? variable.function : "",
		      variable.module ? variable.module : "");
	return variable;
}

static void check_globals(struct fixture *fixture, bool typed)
{
	/* struct server: count at 0; conns[i] at 8 + 40 i; bytes[j] at 8 + 8 j in each. */
	struct symbol_variable variable = find(fixture, fixture->target.server + 8 + 3 * 40, 4);

	assert_int_equal(variable.kind, SYMBOL_VARIABLE_GLOBAL);
	assert_string_equal(variable.name, "server");
	assert_int_equal(variable.offset, 8 + 3 * 40);
	assert_int_equal(variable.typed, typed);
	if (!typed)
		return;
	assert_string_equal(variable.path, "server.stat.conns[3].state");
	assert_string_equal(variable.type, "int");
	assert_false(variable.is_atomic);
	variable = find(fixture, fixture->target.server + 8 + 3 * 40 + 8 + 16, 8);
	assert_string_equal(variable.path, "server.stat.conns[3].bytes[2]");
	variable = find(fixture, fixture->target.server + 8 + 8 * 40, 8);
	assert_string_equal(variable.path, "server.current");
	assert_string_equal(variable.type, "struct connection *");
	variable = find(fixture, fixture->target.server + 8 + 8 * 40 + 8, 4);
	assert_string_equal(variable.path, "server.references");
	assert_true(variable.is_atomic);
	variable = find(fixture, fixture->target.server + 8 + 8 * 40 + 12, 4);
	assert_string_equal(variable.path, "server.stopping");
	assert_true(variable.is_volatile);
	variable = find(fixture, fixture->target.static_counter, 4);
	assert_string_equal(variable.name, "static_counter");
	assert_int_equal(variable.line, target_line("static_counter"));
}

static void check_stack_variable(struct fixture *fixture)
{
	uint64_t from = fixture->thread.stack_pointer;
	uint64_t to = fixture->frames[fixture->thread.frame_count - 1].cfa;
	bool found = false;

	for (uint64_t address = from; address < to && !found; address += 4) {
		struct symbol_variable variable;

		symbol_variable_find(fixture->modules, address, 4, &fixture->thread, 1, &variable);
		assert_int_equal(variable.kind, SYMBOL_VARIABLE_STACK);
		found = variable.name && strcmp(variable.name, "local") == 0;
		if (found)
			assert_string_equal(variable.function, "outer");
	}
	assert_true(found);
}

static void check_program(const char *program, bool typed)
{
	struct fixture fixture;
	struct symbol_variable variable;

	open_fixture(&fixture, program);
	check_globals(&fixture, typed);
	variable = find(&fixture, fixture.target.heap, 4);
	assert_int_equal(variable.kind, SYMBOL_VARIABLE_HEAP);
	/* The only thread-local variable of the program, next to the thread pointer. */
	variable = find(&fixture, fixture.target.fs_base - 8, 8);
	assert_int_equal(variable.kind, SYMBOL_VARIABLE_TLS);
	assert_int_equal(variable.tid, fixture.target.tid);
	if (typed)
		assert_string_equal(variable.path, "thread_total");
	if (typed)
		check_stack_variable(&fixture);
	close_fixture(&fixture);
}

static void test_debug(void **state)
{
	(void)state;
	check_program(FIXTURE_O0, true);
	check_program(FIXTURE_O2, true);
}

static void test_symbols_only(void **state)
{
	(void)state;
	check_program(FIXTURE_SYMBOLS, false);
}

static void test_no_objects(void **state)
{
	static const char *const programs[] = {FIXTURE_O0, FIXTURE_SYMBOLS};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct fixture fixture;
		const struct symbol_module *module;
		const struct symbol_names *names;
		const struct symbol_name *label;
		struct symbol_variable variable;
		struct symbol_session *own;
		struct symbol_object *object;

		open_fixture(&fixture, programs[i]);
		module = symbol_modules_find(fixture.modules, fixture.target.server);
		/* Read here: a session with a reader hands out no tables. */
		assert_int_equal(symbol_session_open(&own, NULL), 0);
		assert_int_equal(symbol_object_open(own, open(programs[i], O_RDONLY | O_CLOEXEC),
						    programs[i], &module->build_id, &object),
				 0);
		names = symbol_object_names(object);
		assert_null(symbol_names_find(names, SYMBOL_NAME_DATA, 16));
		label = symbol_names_lookup(names, "a_label", 0); /* can be asked for by name */
		assert_non_null(label);
		variable = find(&fixture, module->bias + label->address + 2048, 4);
		assert_int_equal(variable.kind, SYMBOL_VARIABLE_GLOBAL);
		assert_null(variable.name);
		symbol_session_close(own);
		close_fixture(&fixture);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_debug),
		cmocka_unit_test(test_symbols_only),
		cmocka_unit_test(test_no_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
