/* SPDX-License-Identifier: Apache-2.0 */
/* The file of -o where it is the program's too, and there is no room for a line. */
#include "cli/output.h"

#include "tests/unit/report_sample.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define SAID "what the program said\n"

static char text[1 << 20];

static const char *content(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = read(fd, text, sizeof(text) - 1);

	assert_true(got >= 0);
	text[got] = 0;
	close(fd);
	return text;
}

static void limit(off_t bytes)
{
	struct rlimit limit = {(rlim_t)bytes, RLIM_INFINITY};

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Into the file at `path`, which stands on standard output. */
static void write_three(const char *path)
{
	struct finding *finding = sample_race();
	struct output output;

	assert_true(output_open(&output, "/dev/stdout"));
	output_write(&output, finding);
	assert_int_equal(write(STDOUT_FILENO, SAID, strlen(SAID)), strlen(SAID));
	limit(lseek(STDOUT_FILENO, 0, SEEK_CUR) + 50);
	output_write(&output, finding);
	assert_int_equal(output.lost, 1);
	assert_non_null(strstr(content(path), SAID));
	limit((off_t)RLIM_INFINITY);
	output_write(&output, finding);
	assert_int_equal(output_close(&output, 0), 1);
	finding_destroy(finding);
}

static void test_full(void **state)
{
	char path[] = "/tmp/output-XXXXXX";
	int fd = mkstemp(path), before = dup(STDOUT_FILENO);
	const char *said;

	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	fflush(stdout);
	dup2(fd, STDOUT_FILENO);
	write_three(path);
	fflush(stdout);
	dup2(before, STDOUT_FILENO);
	said = strstr(content(path), SAID);
	/* The line before, the program's, the part of one, and the line after it. */
	assert_true(said > text && said[-1] == '\n');
	said = strchr(said + strlen(SAID), '\n');
	assert_non_null(said);
	assert_int_equal(said[1], '{');
	assert_int_equal(text[strlen(text) - 1], '\n');
	unlink(path);
	close(before);
	close(fd);
}

/* The reason is told of a finding that the stream's buffer holds, and of one that it does not. */
static void test_reason(void **state)
{
	static char name[3 * BUFSIZ];
	struct finding *finding = sample_race();
	const char *own = finding->program;
	char said[300] = "";
	int sides[2], before = dup(STDERR_FILENO);

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	for (int large = 0; large < 2; large++) {
		struct output output;

		finding->program = large ? name : own;
		assert_true(output_open(&output, "/dev/full"));
		assert_int_equal(pipe(sides), 0);
		dup2(sides[1], STDERR_FILENO);
		output_write(&output, finding);
		dup2(before, STDERR_FILENO);
		assert_true(read(sides[0], said, sizeof(said) - 1) > 0);
		assert_non_null(strstr(said, "No space left on device"));
		close(sides[0]);
		close(sides[1]);
		output.lost = 0;
		output_close(&output, 0);
	}
	finding->program = own;
	finding_destroy(finding);
	close(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_full),
					   cmocka_unit_test(test_reason)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
