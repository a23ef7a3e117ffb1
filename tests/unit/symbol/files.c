/* SPDX-License-Identifier: Apache-2.0 */
/* Where files come from: by build-id for raw records, bounded downloads, damaged and replaced
 * files. */
#include "confined.h"
#include "stopped.h"

#include "symbol/place.h"
#include "dwarf/unit.h"
#include "elf/object.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

static void copy_file(const char *from, const char *to, size_t length)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
	char *bytes = malloc(length);
	ssize_t got;

	assert_true(in >= 0 && out >= 0 && bytes);
	got = read(in, bytes, length);
	assert_true(got > 0 && write(out, bytes, (size_t)got) == got);
	free(bytes);
	close(in);
	close(out);
}

static struct symbol_image image_of(const char *path)
{
	struct symbol_image image;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_int_equal(symbol_image_read_file(fd, &image), 0);
	close(fd);
	return image;
}

/* The address of outer() in the fixture, as linked. */
static uint64_t address_of_outer(void)
{
	struct symbol_session *session;
	struct symbol_object *object;
	struct symbol_build_id none = {0};
	const struct symbol_entity *entity;
	uint64_t address;

	assert_int_equal(symbol_session_open(&session, NULL), 0);
	assert_int_equal(symbol_object_open(session, open(FIXTURE_O2, O_RDONLY | O_CLOEXEC),
					    FIXTURE_O2, &none, &object),
			 0);
	assert_int_equal(symbol_units_index_all(object), 0);
	entity = symbol_units_lookup(object->units, "outer", 0);
	assert_non_null(entity);
	address = entity->address;
	symbol_session_close(session);
	return address;
}

/* Looks up outer() as a record from another machine would have it. */
static bool found_by_record(const char *path, const char *const *directories, unsigned milliseconds)
{
	const uint64_t bias = 0x550000000000;
	struct symbol_options options = {.size = sizeof(options),
					 .debug_directories = directories,
					 .network_milliseconds = milliseconds,
					 .reader = test_options()->reader};
	struct symbol_image image = image_of(FIXTURE_O2);
	struct symbol_module_record record = {.path = path,
					      .build_id = image.build_id,
					      .start = bias,
					      .end = bias + 0x100000,
					      .bias = bias};
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	struct symbol_session *session;
	struct symbol_modules *modules;
	uint64_t address = address_of_outer();
	bool found;
	size_t count;

	assert_int_equal(symbol_session_open(&session, &options), 0);
	assert_int_equal(symbol_modules_recorded(session, &modules), 0);
	assert_int_equal(symbol_modules_add(modules, &record), 0);
	count = symbol_place_find(modules, bias + address, false, frames, SYMBOL_INLINE_MAX);
	assert_int_equal(count, 1);
	assert_int_equal(frames[0].module_offset, address);
	assert_string_equal(frames[0].module, path);
	found = frames[0].function && strcmp(frames[0].function, "outer") == 0 && frames[0].line;
	symbol_modules_close(modules);
	symbol_session_close(session);
	return found;
}

static void test_by_build_id(void **state)
{
	char directory[] = "/tmp/symbol-XXXXXX", path[512], text[SYMBOL_BUILD_ID_TEXT];
	const char *directories[] = {directory, NULL};
	struct symbol_image image = image_of(FIXTURE_O2);

	(void)state;
	unsetenv("DEBUGINFOD_URLS");
	assert_true(image.build_id.length > 2);
	assert_non_null(mkdtemp(directory));
	assert_false(found_by_record("/nowhere/program", NULL, 0));
	symbol_build_id_format(&image.build_id, text);
	snprintf(path, sizeof(path), "%s/%s.debug", directory, text);
	assert_int_equal(symlink(FIXTURE_DEBUGLINK ".debug", path), 0);
	assert_true(found_by_record("/nowhere/program", directories, 0));
	/* A file of another build is at the recorded path: it is not used. */
	assert_true(found_by_record(FIXTURE_O0, directories, 0));
	assert_false(found_by_record(FIXTURE_O0, NULL, 0));
	unlink(path);
	rmdir(directory);
}

static uint64_t now_milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* A server that accepts and never answers. */
static void test_silent_server(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char url[64], cache[] = "/tmp/symbol-XXXXXX";
	uint64_t start, spent;

	(void)state;
	assert_non_null(mkdtemp(cache));
	assert_int_equal(bind(server, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(server, 8), 0);
	assert_int_equal(getsockname(server, (struct sockaddr *)&address, &length), 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", url, 1);
	setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
	start = now_milliseconds();
	assert_false(found_by_record("/nowhere/program", NULL, 300));
	spent = now_milliseconds() - start;
	print_message("given up after %lu ms\n", (unsigned long)spent);
	assert_true(spent >= 250 && spent < 5000);
	unsetenv("DEBUGINFOD_URLS");
	unsetenv("DEBUGINFOD_CACHE_PATH");
	close(server);
	rmdir(cache);
}

/* Every length of a file, as a full disk or a copy in progress leaves it. */
static void test_truncated(void **state)
{
	char path[] = "/tmp/symbol-XXXXXX";
	struct symbol_build_id none = {0};
	struct stat status;
	int fd = mkstemp(path);

	(void)state;
	close(fd);
	assert_int_equal(stat(FIXTURE_O2, &status), 0);
	for (size_t length = 1; length < (size_t)status.st_size; length += 97) {
		struct symbol_session *session;
		struct symbol_object *object;

		copy_file(FIXTURE_O2, path, length);
		assert_int_equal(symbol_session_open(&session, NULL), 0);
		if (symbol_object_open(session, open(path, O_RDONLY | O_CLOEXEC), path, &none,
				       &object) == 0) {
			symbol_units_index_all(object);
			symbol_object_eh(object);
		}
		symbol_session_close(session);
	}
	unlink(path);
}

/* The program's file is unlinked, and another put in its place, while it runs. */
static void test_deleted(void **state)
{
	char path[] = "/tmp/symbol-XXXXXX";
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	const struct symbol_module *module = NULL;
	struct symbol_session *session;
	struct symbol_modules *modules;
	struct target target;
	uint64_t address = address_of_outer();

	(void)state;
	close(mkstemp(path));
	copy_file(FIXTURE_O2, path, 1 << 20);
	chmod(path, 0755);
	target_start(&target, path);
	unlink(path);
	copy_file(FIXTURE_O0, path, 1 << 20);
	assert_int_equal(symbol_session_open(&session, test_options()), 0);
	assert_int_equal(symbol_modules_of_process(session, target.pid, &modules), 0);
	for (size_t i = 0; (module = symbol_modules_at(modules, i)); i++)
		if (strcmp(module->path, path) == 0)
			break;
	assert_non_null(module);
	assert_true(module->deleted);
	target_end(&target); /* the held file must be enough */
	symbol_place_find(modules, module->bias + address, false, frames, SYMBOL_INLINE_MAX);
	assert_non_null(frames[0].function);
	assert_string_equal(frames[0].function, "outer");
	symbol_modules_close(modules);
	symbol_session_close(session);
	unlink(path);
}

static struct symbol_session *open_program(const char *path, Dwarf **dwarf)
{
	struct symbol_build_id none = {0};
	struct symbol_session *session;
	struct symbol_object *object;

	assert_int_equal(symbol_session_open(&session, NULL), 0);
	assert_int_equal(symbol_object_open(session, open(path, O_RDONLY | O_CLOEXEC), path, &none,
					    &object),
			 0);
	*dwarf = symbol_object_dwarf(object);
	return session;
}

/* What two files share is in a third one; that of another build has other names in its place. */
static void test_shared_debug(void **state)
{
	char folder[] = "/tmp/symbol-XXXXXX", path[3][64], command[256];
	static const char *const names[] = {"one", "two", "shared"};
	struct symbol_session *session;
	Dwarf *dwarf;

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 3; i++)
		snprintf(path[i], sizeof(path[i]), "%s/%s", folder, names[i]);
	copy_file(FIXTURE_O0, path[0], 1 << 20);
	copy_file(FIXTURE_O2, path[1], 1 << 20);
	snprintf(command, sizeof(command), "dwz -m %s %s %s 2>/dev/null", path[2], path[0],
		 path[1]);
	if (system(command) != 0 || access(path[2], R_OK) != 0)
		skip(); /* no dwz */
	session = open_program(path[1], &dwarf);
	assert_non_null(dwarf);
	assert_non_null(dwarf_getalt(dwarf));
	assert_int_equal(symbol_session_statistic(session, SYMBOL_STATISTIC_DEBUG_FILES_MISMATCHED),
			 0);
	symbol_session_close(session);
	copy_file(FIXTURE_DEBUGLINK ".debug", path[2], 1 << 20);
	session = open_program(path[1], &dwarf);
	assert_true(!dwarf || !dwarf_getalt(dwarf));
	assert_true(symbol_session_statistic(session, SYMBOL_STATISTIC_DEBUG_FILES_MISMATCHED) > 0);
	symbol_session_close(session);
	for (int i = 0; i < 3; i++)
		unlink(path[i]);
	rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_build_id),  cmocka_unit_test(test_silent_server),
		cmocka_unit_test(test_truncated),    cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_shared_debug),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
