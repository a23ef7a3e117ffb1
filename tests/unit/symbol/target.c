/* SPDX-License-Identifier: Apache-2.0 */
/* Which of several of one name is meant, and which bytes a name stands for. */
#include "confined.h"

#include "symbol/lookup.h"
#include "symbol/place.h"
#include "symbol/target.h"
#include "symbol/variable.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
	struct symbol_session *session;
	struct symbol_modules *modules;
	pid_t pid;
	unsigned long verbose, copied, replaced, replacing, bits, divided;
};

static void open_fixture(struct fixture *fixture, const char *program)
{
	char line[256];
	int out[2];
	FILE *file;

	assert_int_equal(pipe(out), 0);
	fixture->pid = fork();
	if (fixture->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(out[1], 1);
		execl(program, program, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	file = fdopen(out[0], "r");
	assert_non_null(fgets(line, sizeof(line), file));
	assert_int_equal(sscanf(line, "%lx %lx %lx %lx %lx %lx", &fixture->verbose,
				&fixture->copied, &fixture->replaced, &fixture->replacing,
				&fixture->bits, &fixture->divided),
			 6);
	fclose(file);
	assert_int_equal(symbol_session_open(&fixture->session, test_options()), 0);
	assert_int_equal(
		symbol_modules_of_process(fixture->session, fixture->pid, &fixture->modules), 0);
}

static void close_fixture(struct fixture *fixture)
{
	kill(fixture->pid, SIGKILL);
	waitpid(fixture->pid, NULL, 0);
	symbol_modules_close(fixture->modules);
	symbol_session_close(fixture->session);
}

static struct symbol_target resolve(struct fixture *fixture, const char *text)
{
	struct symbol_expression expression;
	struct symbol_target target;
	char error[SYMBOL_ERROR_MAX] = "";

	assert_int_equal(symbol_expression_parse(text, &expression, error), 0);
	if (symbol_target_resolve(fixture->modules, &expression, &target, error))
		fail_msg("%s: %s", text, error);
	return target;
}

static void test_shared_names(void **state)
{
	static const char *const programs[] = {FIXTURE_SHARED, FIXTURE_SHARED_FIXED};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fixture fixture;

		open_fixture(&fixture, programs[i]);
		assert_int_equal(resolve(&fixture, "libfixture_shared.so:verbose").start,
				 fixture.verbose);
		assert_int_equal(resolve(&fixture, "libfixture_shared.so:copied").start,
				 fixture.copied);
		assert_int_equal(fixture.replaced, fixture.replacing);
		assert_int_equal(resolve(&fixture, "libfixture_shared.so:replaced").start,
				 fixture.replaced);
		close_fixture(&fixture);
	}
}

static void assert_bytes(struct fixture *fixture, const char *text, unsigned long offset,
			 unsigned long length)
{
	struct symbol_target target = resolve(fixture, text);

	assert_int_equal(target.start + (uint64_t)target.offset[0], fixture->bits + offset);
	assert_int_equal(target.length, length);
}

static void assert_path(struct fixture *fixture, unsigned long offset, unsigned long size,
			const char *path)
{
	struct symbol_variable variable;

	symbol_variable_find(fixture->modules, fixture->bits + offset, size, NULL, 0, &variable);
	assert_non_null(variable.path);
	assert_string_equal(variable.path, path);
}

/* Both ways of debug information to tell where they are. */
static void test_bits(void **state)
{
	static const char *const programs[] = {FIXTURE_SHARED, FIXTURE_SHARED_FIXED};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct fixture fixture;

		open_fixture(&fixture, programs[i]);
		assert_bytes(&fixture, "bits.a", 0, 1);
		assert_bytes(&fixture, "bits.c", 2, 1);
		assert_bytes(&fixture, "bits.high", 4, 1);
		assert_bytes(&fixture, "bits.wide", 5, 3);
		assert_bytes(&fixture, "bits.plain", 8, 4);
		assert_path(&fixture, 2, 1, "bits.c");
		assert_path(&fixture, 3, 1, "bits.d");
		assert_path(&fixture, 6, 1, "bits.wide");
		assert_path(&fixture, 8, 4, "bits.plain");
		/* Of several any could be meant. */
		assert_path(&fixture, 0, 4, "bits");
		assert_path(&fixture, 4, 1, "bits");
		close_fixture(&fixture);
	}
}

/* Its parts: the one that it is entered by has its name and address. */
static void test_divided(void **state)
{
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	char error[SYMBOL_ERROR_MAX];
	struct symbol_found found;
	struct fixture fixture;
	size_t count;

	(void)state;
	open_fixture(&fixture, FIXTURE_SHARED);
	assert_int_equal(symbol_lookup(fixture.modules, "shared.c", "divided", &found, error), 0);
	assert_int_equal(found.address, fixture.divided);
	assert_true(found.size > 0);
	count = symbol_place_find(fixture.modules, fixture.divided + 1, false, frames,
				  SYMBOL_INLINE_MAX);
	assert_int_equal(frames[count - 1].function_offset, 1);
	/* Compilers that do not divide it have nothing else to show. */
	if (symbol_lookup(fixture.modules, NULL, "divided.cold", &found, error) == 0) {
		count = symbol_place_find(fixture.modules, found.address, false, frames,
					  SYMBOL_INLINE_MAX);
		assert_string_equal(frames[count - 1].function, "divided");
		assert_int_equal(frames[count - 1].function_offset, SYMBOL_OFFSET_UNKNOWN);
	}
	close_fixture(&fixture);
}

static unsigned line_of(const char *mark)
{
	char line[512], wanted[64];
	unsigned number = 0;
	FILE *file = fopen(FIXTURE_SHARED_HEADER, "re");

	assert_non_null(file);
	snprintf(wanted, sizeof(wanted), "line: %s ", mark);
	do {
		assert_non_null(fgets(line, sizeof(line), file));
		number++;
	} while (!strstr(line, wanted));
	fclose(file);
	return number;
}

/* The program has code of that file, too, at later lines. */
static void test_line(void **state)
{
	struct symbol_target target;
	struct fixture fixture;
	char text[64];

	(void)state;
	open_fixture(&fixture, FIXTURE_SHARED);
	snprintf(text, sizeof(text), "shared.h:%u", line_of("early"));
	target = resolve(&fixture, text);
	assert_int_equal(target.line, line_of("early"));
	assert_non_null(strstr(target.module->path, "libfixture_shared.so"));
	close_fixture(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shared_names),
		cmocka_unit_test(test_bits),
		cmocka_unit_test(test_divided),
		cmocka_unit_test(test_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
