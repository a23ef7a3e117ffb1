/* SPDX-License-Identifier: Apache-2.0 */
/* Reading expressions, and finding what they mean in a stopped program. */
#include "confined.h"
#include "stopped.h"

#include "symbol/expression.h"
#include "symbol/target.h"

#include <stdbool.h>

static char error[SYMBOL_ERROR_MAX];

static void test_understood(void **state)
{
	struct symbol_expression e;

	(void)state;
	assert_int_equal(symbol_expression_parse("counter", &e, error), 0);
	assert_string_equal(e.name, "counter");
	assert_int_equal(symbol_expression_parse("conns[3]->state:4:rw", &e, error), 0);
	assert_string_equal(e.name, "conns");
	assert_int_equal(e.step_count, 2);
	assert_int_equal(e.step[0].kind, SYMBOL_STEP_INDEX);
	assert_int_equal(e.step[1].kind, SYMBOL_STEP_ARROW);
	assert_string_equal(e.step[1].name, "state");
	assert_int_equal(e.length, 4);
	assert_int_equal(e.access, SYMBOL_ACCESS_READ | SYMBOL_ACCESS_WRITE);
	assert_int_equal(symbol_expression_parse("libx.so.2:thing.a", &e, error), 0);
	assert_string_equal(e.qualifier, "libx.so.2");
	assert_int_equal(symbol_expression_parse("dir/file.c:123:x", &e, error), 0);
	assert_int_equal(e.kind, SYMBOL_EXPRESSION_LINE);
	assert_int_equal(e.number, 123);
	assert_int_equal(symbol_expression_parse("file.c:r", &e, error), 0);
	assert_string_equal(e.name, "r");
	assert_int_equal(symbol_expression_parse("0x7f00:16:r", &e, error), 0);
	assert_int_equal(e.kind, SYMBOL_EXPRESSION_ADDRESS);
	assert_int_equal(e.number, 0x7f00);
	assert_int_equal(symbol_expression_parse("heap:0x40@make_item:w", &e, error), 0);
	assert_int_equal(e.kind, SYMBOL_EXPRESSION_HEAP);
	assert_int_equal(e.number, 64);
	assert_string_equal(e.name, "make_item");
	assert_int_equal(e.step_count, 0);
	assert_int_equal(symbol_expression_parse("heap:64@make_item+16:4", &e, error), 0);
	assert_string_equal(e.name, "make_item");
	assert_int_equal(e.step[0].number, 16);
	assert_int_equal(e.length, 4);
	assert_int_equal(symbol_expression_parse("heap:64@operator+", &e, error), 0);
	assert_string_equal(e.name, "operator+");
	assert_int_equal(symbol_expression_parse("ns::Class::value+8", &e, error), 0);
	assert_string_equal(e.name, "ns::Class::value");
	assert_int_equal(symbol_expression_parse("**p", &e, error), 0);
	assert_int_equal(e.step_count, 2);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"",	    ":",       "a:",	     "a:0",	 "a[",	  "a[x]",
		"a.",	    "a->",     "a b",	     "a:w:w",	 "a:b:c", "heap:8",
		"heap:0@f", "heap:8@", "heap:8@f+8", "file.c:0", "0x",	  "99999999999999999999",
		"a+",	    "*",       "a:1:2"};
	struct symbol_expression e;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		int result = symbol_expression_parse(texts[i], &e, error);

		if (result != -EINVAL || !error[0])
			print_message("'%s' was taken\n", texts[i]);
		assert_int_equal(result, -EINVAL);
		assert_true(error[0]);
	}
}

struct fixture {
	struct symbol_session *session;
	struct symbol_modules *modules;
	struct symbol_memory memory;
	struct target target;
};

static int resolve(struct fixture *fixture, const char *text, struct symbol_target *target,
		   uint64_t *address)
{
	struct symbol_expression expression;
	int result = symbol_expression_parse(text, &expression, error);

	if (result == 0)
		result = symbol_target_resolve(fixture->modules, &expression, target, error);
	if (result == 0 && target->kind == SYMBOL_TARGET_DATA)
		result = symbol_target_evaluate(fixture->modules, target, &fixture->memory,
						fixture->target.fs_base, address, NULL);
	print_message("%s: %d %s %s\n", text, result, error, target->type ? target->type : "");
	return result;
}

static void check_data(struct fixture *fixture, const char *text, uint64_t address, uint64_t length)
{
	struct symbol_target target;
	uint64_t found = 0;

	assert_int_equal(resolve(fixture, text, &target, &found), 0);
	assert_int_equal(target.kind, SYMBOL_TARGET_DATA);
	assert_int_equal(found, address);
	assert_int_equal(target.length, length);
}

static void check_program(const char *program)
{
	struct fixture fixture;
	struct symbol_target target;
	uint64_t address, server;

	assert_int_equal(symbol_session_open(&fixture.session, test_options()), 0);
	target_start(&fixture.target, program);
	fixture.memory = symbol_memory_of_process(fixture.target.pid);
	assert_int_equal(symbol_modules_of_process(fixture.session, fixture.target.pid,
						   &fixture.modules),
			 0);
	server = fixture.target.server;
	check_data(&fixture, "server.stat.conns[3].state", server + 8 + 3 * 40, 4);
	check_data(&fixture, "server.current", server + 8 + 8 * 40, 8);
	check_data(&fixture, "server.current->bytes[1]", fixture.target.heap + 16, 8);
	check_data(&fixture, "*pointer_to_counter", fixture.target.static_counter, 4);
	check_data(&fixture, "static_counter", fixture.target.static_counter, 4);
	check_data(&fixture, "fixture.c:static_counter:2", fixture.target.static_counter, 2);
	check_data(&fixture, "server+8:4:rw", server + 8, 4);
	check_data(&fixture, "thread_total", fixture.target.fs_base - 8, 8);
	check_data(&fixture, "0x1000:16:r", 0x1000, 16);
	assert_int_equal(resolve(&fixture, "main.dotted", &target, &address), 0);
	assert_int_equal(target.kind, SYMBOL_TARGET_DATA);
	assert_string_equal(target.name, "main.dotted");
	assert_int_equal(target.length, 16);
	assert_int_equal(resolve(&fixture, "package.dotted_alone", &target, &address), 0);
	assert_int_equal(target.length, 8);
	assert_int_equal(resolve(&fixture, "main.nothing", &target, &address), -EINVAL);
	assert_int_equal(resolve(&fixture, "package.nothing", &target, &address), -EAGAIN);
	assert_int_equal(resolve(&fixture, "outer", &target, &address), 0);
	assert_int_equal(target.kind, SYMBOL_TARGET_CODE_PLACES);
	assert_int_equal(target.code_count, 1);
	assert_int_equal(resolve(&fixture, "heap:48@main", &target, &address), 0);
	assert_int_equal(target.kind, SYMBOL_TARGET_HEAP_BLOCKS);
	assert_int_equal(target.block_size, 48);
	assert_true(target.code_end > target.code[0]);
	assert_int_equal(resolve(&fixture, "heap:48@main+40", &target, &address), 0);
	assert_int_equal(target.offset[0], 40);
	assert_int_equal(target.length, 8);
	assert_int_equal(resolve(&fixture, "fixture.c:47", &target, &address), 0);
	assert_true(target.code_count >= 1);
	assert_int_equal(target.line, 47);
	assert_int_equal(resolve(&fixture, "static_countr", &target, &address), -EAGAIN);
	assert_non_null(strstr(error, "static_counter"));
	assert_int_equal(resolve(&fixture, "libnot.so:thing", &target, &address), -EAGAIN);
	assert_int_equal(resolve(&fixture, "libc.so.6:no_such_thing", &target, &address), -ENOENT);
	assert_int_equal(resolve(&fixture, "server.stat.nothing", &target, &address), -ENOENT);
	assert_int_equal(resolve(&fixture, "static_counter.x", &target, &address), -ENOENT);
	assert_int_equal(resolve(&fixture, "static_counter[2]", &target, &address), -EINVAL);
	target_end(&fixture.target);
	symbol_modules_close(fixture.modules);
	symbol_session_close(fixture.session);
}

static void test_meaning(void **state)
{
	(void)state;
	check_program(FIXTURE_O0);
	check_program(FIXTURE_O2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_understood),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_meaning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
