/* SPDX-License-Identifier: Apache-2.0 */
/* The process that reads program files: what it may do, and that a file it dies of costs its own
 * names only. argv[1]: a program that has one. */
#include "reader/open.h"
#include "symbol/bounds.h"
#include "symbol/place.h"

#include <dirent.h>
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define GOOD 0x550000000000 /* where each module is said to be */
#define BAD 0x560000000000
#define EXTENT 0x100000
#define READER_SOCKET 0
/* ms that a reader may take for one answer, of a file that is sound too: with AddressSanitizer it
 * takes several times as long. */
#ifdef __SANITIZE_ADDRESS__
#define LITTLE_TIME 500
#else
#define LITTLE_TIME 100
#endif
#define MANY_SYMBOLS 30000000ull
#define MANY_FILES 100

static const char *own_program;
static struct symbol_options options = {.size = sizeof(options)};

struct fixture {
	struct symbol_session *session;
	struct symbol_modules *modules;
	char bad[32];  /* path */
	uint64_t main; /* in the good file: set by who needs it often */
};

/* Without debug information, so that its names are all in its symbol table; and of another build
 * than the good one, with which it would share what is known of it. */
static void strip_file(const char *from, const char *to)
{
	char command[1024];

	snprintf(command, sizeof(command), "strip -g -o %s %s", to, from);
	assert_int_equal(system(command), 0);
}

static void add(struct symbol_modules *modules, const char *path, uint64_t start)
{
	struct symbol_module_record record = {
		.path = path, .start = start, .end = start + EXTENT, .bias = start};

	assert_int_equal(symbol_modules_add(modules, &record), 0);
}

static void open_fixture(struct fixture *fixture)
{
	strcpy(fixture->bad, "/tmp/reader-XXXXXX");
	close(mkstemp(fixture->bad));
	strip_file(FIXTURE_O0, fixture->bad);
	assert_int_equal(symbol_session_open(&fixture->session, &options), 0);
	assert_int_equal(symbol_modules_recorded(fixture->session, &fixture->modules), 0);
	add(fixture->modules, FIXTURE_O2, GOOD);
	add(fixture->modules, fixture->bad, BAD);
}

static void close_fixture(struct fixture *fixture)
{
	symbol_modules_close(fixture->modules);
	symbol_session_close(fixture->session);
	unlink(fixture->bad);
}

/* The file's own address of main(). */
static uint64_t address_of_main(uint64_t module)
{
	FILE *nm = popen(module == GOOD ? "nm " FIXTURE_O2 : "nm " FIXTURE_O0, "r");
	char line[256], kind, name[200];
	unsigned long address, found = 0;

	while (fgets(line, sizeof(line), nm))
		if (sscanf(line, "%lx %c %199s", &address, &kind, name) == 3 &&
		    strcmp(name, "main") == 0)
			found = address;
	pclose(nm);
	assert_int_not_equal(found, 0);
	return found;
}

static bool is_main(struct fixture *fixture, uint64_t module)
{
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	size_t count = symbol_place_find(fixture->modules, module + address_of_main(module), false,
					 frames, SYMBOL_INLINE_MAX);

	/* Whatever happens: which module it is, and where in it. */
	assert_true(count >= 1);
	assert_non_null(frames[0].module);
	return frames[count - 1].function && strcmp(frames[count - 1].function, "main") == 0;
}

static uint64_t counted(const struct fixture *fixture, enum symbol_statistic statistic)
{
	return symbol_session_statistic(fixture->session, statistic);
}

/* The first child of process `pid`, or 0. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "r");
	assert_non_null(file);
	if (fscanf(file, "%d", &child) != 1)
		child = 0;
	fclose(file);
	return child;
}

static void assert_status(pid_t pid, const char *wanted)
{
	char path[64], line[256];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		found |= strcmp(line, wanted) == 0;
	fclose(file);
	if (!found)
		print_message("not so: %s", wanted);
	assert_true(found);
}

static void test_confined(void **state)
{
	struct fixture fixture;
	struct dirent *entry;
	unsigned descriptors = 0;
	char path[64];
	pid_t child;
	DIR *fds;

	(void)state;
	open_fixture(&fixture);
	assert_true(is_main(&fixture, GOOD));
	assert_int_equal(counted(&fixture, SYMBOL_STATISTIC_UNCONFINED), 0);
	child = child_of(getpid());
	assert_int_not_equal(child, 0);
	assert_status(child, "Seccomp:\t2\n");
	assert_status(child, "NoNewPrivs:\t1\n");
	assert_status(child, "CapEff:\t0000000000000000\n");
	assert_status(child, "CapPrm:\t0000000000000000\n");
	snprintf(path, sizeof(path), "/proc/%d/fd", child);
	fds = opendir(path);
	/* Without root it may not be looked at at all. */
	while (fds && (entry = readdir(fds)))
		descriptors += entry->d_name[0] != '.';
	if (fds)
		closedir(fds);
	/* Its socket, /dev/null twice, the file. */
	assert_true(descriptors <= 4);
	close_fixture(&fixture);
	assert_int_equal(child_of(getpid()), 0);
}

static void test_killed(void **state)
{
	struct fixture fixture;

	(void)state;
	open_fixture(&fixture);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(is_main(&fixture, GOOD));
		assert_int_equal(kill(child_of(getpid()), SIGKILL), 0);
	}
	assert_true(is_main(&fixture, GOOD));
	assert_true(is_main(&fixture, BAD));
	assert_int_equal(counted(&fixture, SYMBOL_STATISTIC_READERS_DIED), 3);
	assert_int_equal(counted(&fixture, SYMBOL_STATISTIC_FILES_FATAL), 0);
	close_fixture(&fixture);
}

static void assert_only_bad_is_lost(struct fixture *fixture)
{
	assert_false(is_main(fixture, BAD));
	assert_int_equal(counted(fixture, SYMBOL_STATISTIC_FILES_FATAL), 1);
	assert_int_equal(counted(fixture, SYMBOL_STATISTIC_READERS_DIED), 1);
	assert_int_equal(counted(fixture, SYMBOL_STATISTIC_UNREAD), 0);
	assert_true(is_main(fixture, GOOD));
	/* It is known again, also where it comes anew. */
	add(fixture->modules, fixture->bad, BAD + EXTENT);
	assert_false(is_main(fixture, BAD + EXTENT));
	assert_int_equal(counted(fixture, SYMBOL_STATISTIC_READERS_DIED), 1);
}

/* A file that is cut short while it is read: a mapped page that is no longer there is SIGBUS. */
static void test_cut_short(void **state)
{
	struct fixture fixture;
	uint64_t start, end;

	(void)state;
	open_fixture(&fixture);
	/* From here on it is open and mapped, and its symbols are not read yet. */
	assert_int_equal(
		symbol_bounds_find(fixture.modules, BAD + address_of_main(BAD), &start, &end), 0);
	assert_true(is_main(&fixture, GOOD));
	assert_int_equal(truncate(fixture.bad, 0), 0);
	assert_only_bad_is_lost(&fixture);
	close_fixture(&fixture);
}

/* Its symbol table has thirty million entries, in a hole. */
static void make_endless(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	Elf64_Shdr section;
	Elf64_Ehdr header;
	struct stat status;
	off_t at;

	assert_true(fd >= 0 && fstat(fd, &status) == 0);
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	for (unsigned i = 0; i < header.e_shnum; i++) {
		at = (off_t)(header.e_shoff + i * sizeof(section));
		assert_int_equal(pread(fd, &section, sizeof(section), at), sizeof(section));
		if (section.sh_type != SHT_SYMTAB)
			continue;
		section.sh_offset = ((Elf64_Off)status.st_size + 4095) & ~4095ull;
		section.sh_size = MANY_SYMBOLS * sizeof(Elf64_Sym);
		assert_int_equal(pwrite(fd, &section, sizeof(section), at), sizeof(section));
		assert_int_equal(ftruncate(fd, (off_t)(section.sh_offset + section.sh_size)), 0);
	}
	close(fd);
}

static void test_endless(void **state)
{
	struct fixture fixture;

	(void)state;
	options.reader_milliseconds = LITTLE_TIME;
	open_fixture(&fixture);
	make_endless(fixture.bad);
	assert_only_bad_is_lost(&fixture);
	close_fixture(&fixture);
	options.reader_milliseconds = 0;
}

/* Or waits for a parent that does not look. */
static bool has_ended(pid_t pid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return true;
	if (fscanf(file, "%*d %*s %c", &state) != 1)
		state = 'Z';
	fclose(file);
	return state == 'Z' || state == 'X';
}

static bool is_gone(pid_t pid)
{
	for (unsigned i = 0; i < 1000; i++) {
		struct timespec pause = {.tv_nsec = 10000000};

		if (has_ended(pid))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* Its asker is killed: it goes too. */
static void test_orphan(void **state)
{
	pid_t asker, reader;
	int ready[2];
	char byte;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	asker = fork();
	if (asker == 0) {
		struct fixture fixture;

		open_fixture(&fixture);
		unlink(fixture.bad);
		is_main(&fixture, GOOD);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	reader = child_of(asker);
	assert_int_not_equal(reader, 0);
	kill(asker, SIGKILL);
	waitpid(asker, NULL, 0);
	assert_true(is_gone(reader));
	close(ready[0]);
	close(ready[1]);
}

/* A process that goes on as a fork of the asker, as the command does for what a program leaves
 * behind, has a reader of its own, and leaves the other's alone. */
static void test_forked(void **state)
{
	struct fixture fixture;
	int status = 1;
	pid_t forked;

	(void)state;
	open_fixture(&fixture);
	assert_true(is_main(&fixture, GOOD));
	forked = fork();
	if (forked == 0) {
		bool found = is_main(&fixture, GOOD) && is_main(&fixture, BAD);

		symbol_modules_close(fixture.modules);
		symbol_session_close(fixture.session);
		_exit(!found);
	}
	waitpid(forked, &status, 0);
	assert_int_equal(status, 0);
	assert_true(is_main(&fixture, GOOD));
	assert_int_equal(counted(&fixture, SYMBOL_STATISTIC_READERS_DIED), 0);
	close_fixture(&fixture);
}

/* As `from`, of a build of its own. */
static void build_anew(const char *from, const char *to, unsigned number)
{
	static const unsigned char note[] = {4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0};
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	struct stat status;
	unsigned char *bytes, *id;

	assert_true(in >= 0 && fstat(in, &status) == 0);
	bytes = malloc((size_t)status.st_size);
	assert_int_equal(read(in, bytes, (size_t)status.st_size), status.st_size);
	id = memmem(bytes, (size_t)status.st_size, note, sizeof(note));
	assert_non_null(id);
	memcpy(id + sizeof(note), &number, sizeof(number));
	unlink(to);
	out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(out, bytes, (size_t)status.st_size), status.st_size);
	close(in);
	close(out);
	free(bytes);
}

/* A process begins with that file, is asked about and ends. */
static void run_once(struct fixture *fixture, unsigned number)
{
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	struct symbol_modules *modules;

	build_anew(FIXTURE_O2, fixture->bad, number);
	assert_int_equal(symbol_modules_recorded(fixture->session, &modules), 0);
	add(modules, fixture->bad, GOOD);
	assert_true(symbol_place_find(modules, GOOD + fixture->main, false, frames,
				      SYMBOL_INLINE_MAX) >= 1);
	assert_non_null(frames[0].function);
	symbol_modules_close(modules);
}

/* Many programs, one after another: of those that have ended few stay open, and those used last. */
static void test_many(void **state)
{
	struct fixture fixture;
	uint64_t opened;

	(void)state;
	open_fixture(&fixture);
	fixture.main = address_of_main(GOOD);
	assert_true(is_main(&fixture, GOOD));
	for (unsigned i = 0; i < MANY_FILES; i++)
		run_once(&fixture, i);
	opened = counted(&fixture, SYMBOL_STATISTIC_OBJECTS);
	run_once(&fixture, MANY_FILES - 1);
	assert_true(is_main(&fixture, GOOD));
	assert_int_equal(counted(&fixture, SYMBOL_STATISTIC_OBJECTS), opened);
	run_once(&fixture, 0);
	assert_int_equal(counted(&fixture, SYMBOL_STATISTIC_OBJECTS), opened + 1);
	assert_int_equal(counted(&fixture, SYMBOL_STATISTIC_READERS_DIED), 0);
	close_fixture(&fixture);
}

/* Where none can be had, files are read here, and that is counted. */
static void test_none(void **state)
{
	struct fixture fixture;
	const char *reader = options.reader;

	(void)state;
	options.reader = "/nonexistent";
	open_fixture(&fixture);
	assert_true(is_main(&fixture, GOOD));
	assert_int_equal(counted(&fixture, SYMBOL_STATISTIC_UNCONFINED), 1);
	close_fixture(&fixture);
	options.reader = reader;
}

/* In the place of a reader: its first answer comes in drops, of which there are enough for minutes.
 */
static int drip(void)
{
	const uint32_t length = 1u << 20;
	struct timespec last, now;

	if (write(READER_SOCKET, &length, sizeof(length)) < 0)
		return 1;
	/* One of four gets time whenever somebody looks; they end with the asker's socket. */
	if (fork() < 0 || fork() < 0)
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &last);
	for (;;) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		if ((now.tv_sec - last.tv_sec) * 1000000000 + now.tv_nsec - last.tv_nsec < 200000)
			continue;
		last = now;
		if (write(READER_SOCKET, "", 1) < 0)
			return 1;
	}
}

/* It has its limit of time all the same. */
static void test_dripping(void **state)
{
	struct fixture fixture;
	const char *reader = options.reader;

	(void)state;
	options.reader = own_program;
	options.reader_milliseconds = LITTLE_TIME;
	open_fixture(&fixture);
	alarm(60);
	assert_true(is_main(&fixture, GOOD));
	alarm(0);
	assert_int_equal(counted(&fixture, SYMBOL_STATISTIC_UNCONFINED), 1);
	close_fixture(&fixture);
	options.reader = reader;
	options.reader_milliseconds = 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_confined),  cmocka_unit_test(test_killed),
		cmocka_unit_test(test_cut_short), cmocka_unit_test(test_endless),
		cmocka_unit_test(test_orphan),	  cmocka_unit_test(test_none),
		cmocka_unit_test(test_forked),	  cmocka_unit_test(test_dripping),
		cmocka_unit_test(test_many),
	};

	if (argc == 2 && strcmp(argv[1], SYMBOL_READER_ARGUMENT) == 0)
		return drip();
	own_program = argv[0];
	if (argc != 2)
		return 2;
	options.reader = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
