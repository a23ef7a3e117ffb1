/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Executing what cannot be executed, with arguments that cannot be read or are too many, on stacks
 * of a few pages and from vfork()ed children: every function, and what each says of it.
 */
#include "hostile.h"
#include <limits.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/stat.h>

extern char **environ;

#define VARIABLES 3000
#define TOO_MANY 1500000
#define SMALL_STACK 20480
#define LOOPS 100

static char *self, *unreadable;
static char folder[] = "/tmp/hostile_odd_XXXXXX";
static char *const plain[] = {(char *)"odd", (char *)"executed", NULL};

static char *in_folder(const char *name)
{
	char *path;

	expect(asprintf(&path, "%s/%s", folder, name) > 0);
	return path;
}

static char *make_file(const char *name, const char *text, mode_t mode)
{
	char *path = in_folder(name);
	int fd = open(path, O_CREAT | O_WRONLY, 0600);

	expect(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	expect(fchmod(fd, mode) == 0 && close(fd) == 0);
	return path;
}

/* ------------------------------------------------------------------------------------------- */
/* One call in every way; each says its error */

enum way { EXECVE, EXECVPE, EXECVEAT, FEXECVE, EXECV, SPAWN, SPAWNP, WAYS };
static const char *const names[] = {"execve", "execvpe", "execveat", "fexecve",
				    "execv",  "spawn",	 "spawnp"};

/* Read by what it executes. */
static int executed(int count)
{
	int variables = 0;

	/* The suite's own, in some modes. */
	for (char **at = environ; *at; at++)
		variables += strncmp(*at, "LD_PRELOAD=", 11) && strncmp(*at, "TRAPLINE_O", 10);
	printf("(ran: %d arguments, %d variables) ", count, variables);
	fflush(stdout);
	return 0;
}

static int execute(enum way way, const char *path, char *const *argv, char *const *envp)
{
	int fd;

	switch (way) {
	case EXECVE:
		execve(path, argv, envp);
		break;
	case EXECVPE:
		execvpe(path, argv, envp);
		break;
	case EXECVEAT:
		execveat(AT_FDCWD, path, argv, envp, 0);
		break;
	case FEXECVE:
		fd = open(path, O_PATH | O_CLOEXEC);
		if (fd >= 0) {
			fexecve(fd, argv, envp);
			close(fd);
		}
		break;
	case EXECV:
		execv(path, argv);
		break;
	default:
		break;
	}
	return errno;
}

static void say_status(int status)
{
	if (WIFSIGNALED(status))
		printf("killed by %d", WTERMSIG(status));
	else
		printf("%d", WEXITSTATUS(status));
}

static void spawn(enum way way, const char *path, char *const *argv, char *const *envp)
{
	int err, status;
	pid_t child;

	err = way == SPAWN ? posix_spawn(&child, path, NULL, NULL, argv, envp)
			   : posix_spawnp(&child, path, NULL, NULL, argv, envp);
	if (err) {
		printf(" %s: error %d;", names[way], err);
		return;
	}
	expect(waitpid(child, &status, 0) == child);
	printf(" %s: ", names[way]);
	say_status(status);
	printf(";");
}

/* In a child of its own, forked or vfork()ed. The error is its status. */
static void try_in(bool borrows, enum way way, const char *path, char *const *argv,
		   char *const *envp)
{
	int status;
	pid_t child;

	fflush(stdout);
	child = borrows ? vfork() : fork();
	if (child == 0)
		_exit(execute(way, path, argv, envp));
	expect(child > 0 && waitpid(child, &status, 0) == child);
	printf(" %s%s: ", borrows ? "v" : "", names[way]);
	say_status(status);
	printf(";");
}

static void try_all(const char *what, const char *path, char *const *argv, char *const *envp)
{
	printf("%s:", what);
	for (enum way way = EXECVE; way < WAYS; way++) {
		/* libc itself reads the name that it searches. */
		if (path == unreadable && (way == EXECVPE || way == SPAWNP || way == FEXECVE))
			continue;
		if (way >= SPAWN) {
			/* libc counts them itself. */
			if ((char *)argv < unreadable - 16 || (char *)argv > unreadable)
				spawn(way, path, argv, envp);
			continue;
		}
		try_in(false, way, path, argv, envp);
		try_in(true, way, path, argv, envp);
	}
	say("%s", "");
}

static void errors(void)
{
	char *loop = in_folder("loop"), *busy = in_folder("busy"), long_name[NAME_MAX + 10];
	char *none[] = {NULL};
	int fd;

	memset(long_name, 'x', sizeof(long_name));
	long_name[sizeof(long_name) - 1] = '\0';
	long_name[0] = '/';
	expect(symlink(loop, loop) == 0);
	try_all("missing", in_folder("missing"), plain, none);
	try_all("missing folder", in_folder("missing/file"), plain, none);
	try_all("no folder", make_file("file", "text", 0600), plain, none);
	try_all("a folder", folder, plain, none);
	try_all("below a file", in_folder("file/below"), plain, none);
	try_all("a circle", loop, plain, none);
	try_all("too long", long_name, plain, none);
	try_all("empty", "", plain, none);
	try_all("not executable", make_file("forbidden", "#!/bin/true\n", 0600), plain, none);
	try_all("no format", make_file("formless", "\177ELF", 0700), plain, none);
	try_all("no interpreter", make_file("orphan", "#!/nowhere/at/all\n", 0700), plain, none);
	try_all("empty first line", make_file("blank", "#!\n", 0700), plain, none);
	try_all("a script", make_file("script", "#!/bin/sh\nexit 3\n", 0700), plain, none);
	try_all("nothing in it", make_file("hollow", "", 0700), plain, none);
	free(make_file("busy", "#!/bin/sh\n", 0700));
	fd = open(busy, O_WRONLY);
	try_all("being written", busy, plain, none);
	close(fd);
}

static void unreadable_ones(void)
{
	char *none[] = {NULL}, *bad[] = {unreadable, NULL},
	     *two[] = {(char *)"A=b", unreadable, NULL};
	/* An array that ends where mapped memory does, without its end. */
	char **endless = (char **)unreadable - 2;

	endless[0] = endless[1] = (char *)"A=b";
	try_all("path", unreadable, plain, none);
	try_all("argv", self, (char *const *)unreadable, none);
	try_all("an argument", self, bad, none);
	try_all("argv without end", self, endless, none);
	try_all("envp", self, plain, (char *const *)unreadable);
	try_all("a variable", self, plain, two);
	try_all("envp without end", self, plain, endless);
}

static void try_descriptor(int flags)
{
	int fd = open(self, O_RDONLY | O_CLOEXEC);
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0)
		_exit((execveat(fd, "", plain, environ, flags), errno));
	say_end("a descriptor", child);
	close(fd);
}

static void absent_ones(void)
{
	char *const *volatile nothing = NULL;
	const char *volatile no_path = NULL;

	printf("nothing given:");
	spawn(SPAWN, self, plain, nothing);
	try_in(false, EXECVE, self, plain, nothing);
	try_in(true, EXECVE, self, plain, nothing);
	try_in(false, FEXECVE, self, plain, nothing);
	try_in(false, EXECVE, no_path, plain, environ);
	try_in(false, EXECVE, self, nothing, environ);
	try_in(false, EXECVE, self, (char *const[]){NULL}, environ);
	say("%s", "");
	try_descriptor(AT_EMPTY_PATH);
	try_descriptor(0);
	try_descriptor(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW);
}

/* ------------------------------------------------------------------------------------------- */
/* Many variables */

static char **many(size_t count)
{
	char **array = malloc((count + 1) * sizeof(char *));

	expect(array);
	for (size_t i = 0; i < count; i++)
		array[i] = (char *)"SOME_VARIABLE=some value";
	array[count] = NULL;
	return array;
}

static long mapped_kilobytes(void)
{
	char line[200];
	long value = -1;
	FILE *file = fopen("/proc/self/status", "r");

	expect(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "VmSize: %ld", &value) == 1)
			break;
	fclose(file);
	return value;
}

static void *on_small_stack(void *argument)
{
	try_in(true, EXECVE, self, plain, argument);
	try_in(false, EXECVE, self, plain, argument);
	spawn(SPAWN, self, plain, argument);
	return NULL;
}

static void many_variables(void)
{
	char **some = many(VARIABLES), **too_many = many(TOO_MANY);
	char *const quick[] = {(char *)"odd", (char *)"quick", NULL};
	pthread_attr_t attributes;
	pthread_t thread;
	long before = 0, grown;

	pthread_attr_init(&attributes);
	expect(pthread_attr_setstacksize(&attributes, SMALL_STACK) == 0);
	printf("small stack:");
	expect(pthread_create(&thread, &attributes, on_small_stack, some) == 0);
	expect(pthread_join(thread, NULL) == 0);
	say("%s", "");
	try_all("too many variables", self, plain, too_many);
	try_all("too many arguments", self, too_many, plain);
	for (int i = 0; i < LOOPS; i++) {
		const char *volatile path = i % 2 ? self : "/nowhere/at/all";
		pid_t child;

		if (i == 20)
			before = mapped_kilobytes();
		child = vfork();
		if (child == 0) {
			execve(path, quick, some);
			_exit(0);
		}
		expect(waitpid(child, NULL, 0) == child);
	}
	grown = mapped_kilobytes() - before;
	say("memory left behind: %d", grown > 1000);
}

/* As many bytes as the kernel takes, to the last few: there is no room for anything more. */
static void to_the_limit(void)
{
	const struct rlimit stack = {1 << 19, RLIM_INFINITY}; /* a quarter of which is taken */
	char **array = many(64), *large = malloc(100000);
	int status, best = -1;
	pid_t child;

	expect(large);
	memset(large, 'x', 100000);
	memcpy(large, "LARGE=", 6);
	array[0] = array[1] = large;
	for (int size = 40000, step = 20000; step; step /= 2) {
		large[size] = '\0';
		fflush(stdout);
		child = fork();
		if (child == 0) {
			setrlimit(RLIMIT_STACK, &stack);
			execve(self, (char *const[]){(char *)"odd", (char *)"quick", NULL}, array);
			_exit(errno);
		}
		expect(waitpid(child, &status, 0) == child);
		large[size] = 'x';
		if (status == 0)
			best = size;
		size += status == 0 ? step : -step;
	}
	say("the longest that is taken: %d", best);
}

static void no_processes(void)
{
	const struct rlimit none = {0, 0};
	FILE *stream;
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		expect(setgid(65534) == 0 && setuid(65534) == 0);
		expect(setrlimit(RLIMIT_NPROC, &none) == 0);
		errno = 0;
		stream = popen("true", "r");
		say("popen: %d, %d", stream != NULL, errno);
		errno = 0;
		status = system("true");
		say("system: %d, %d", status, errno);
		spawn(SPAWN, "/bin/true", plain, environ);
		say("%s", "");
		_exit(0);
	}
	say_end("without processes", child);
}

/* What the dynamic linker lists instead of running the program, as ldd(1) asks it to. */
static void listed_one(void)
{
	char *const traced[] = {(char *)"LD_TRACE_LOADED_OBJECTS=1", NULL};
	char text[8192];
	int ends[2];
	size_t size;
	FILE *file;

	expect(pipe(ends) == 0);
	if (fork() == 0) {
		dup2(ends[1], STDOUT_FILENO);
		execve("/bin/true", plain, traced);
		_exit(1);
	}
	close(ends[1]);
	file = fdopen(ends[0], "r");
	expect(file);
	size = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[size] = '\0';
	expect(wait(NULL) > 0);
	say("listed: libc %d, trapline %d", strstr(text, "libc.so") != NULL,
	    strstr(text, "libtrapline") != NULL);
}

int main(int argc, char **argv)
{
	char command[100];

	if (argc > 1 && strcmp(argv[1], "quick") == 0)
		return 0;
	if (argc != 1 || !strchr(argv[0], '/'))
		return executed(argc);
	self = realpath("/proc/self/exe", NULL);
	unreadable = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	expect(self && unreadable != MAP_FAILED && mkdtemp(folder));
	unreadable += 4096;
	expect(munmap(unreadable, 4096) == 0);
	expect(chmod(folder, 0755) == 0);
	noise_start();
	errors();
	unreadable_ones();
	absent_ones();
	many_variables();
	to_the_limit();
	listed_one();
	if (geteuid() == 0)
		no_processes();
	noise_stop();
	snprintf(command, sizeof(command), "rm -r %s", folder);
	expect(system(command) == 0);
	return 0;
}
