/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/program.h"
#include "cli/suggest.h"
#include "reader/open.h"
#include "record/utf8.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name;
	command_fn *run;
	const char *summary;
} commands[] = {
#define COMMAND(name, summary) {#name, command_##name, summary},
#include "cli/commands.def"
#undef COMMAND
};

#define COMMAND_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *to)
{
	fputs("usage: trapline COMMAND [OPTIONS] …\n\n"
	      "Watchpoints, breakpoints and counters on unmodified programs, at full speed.\n\n",
	      to);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(to, "  trapline %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\n`trapline COMMAND --help` tells a command's options; `man trapline-COMMAND` tells "
	      "all.\n"
	      "Exit status: the program's own where a command runs one; 0 success, 1 failure, 2 a\n"
	      "wrong command line, 126 the program cannot be started, 127 there is no such "
	      "program.\n",
	      to);
}

static int unknown_command(const char *typed)
{
	const char *names[COMMAND_COUNT];
	int nearest;

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i] = commands[i].name;
	nearest = suggest_nearest(typed, names, COMMAND_COUNT);
	if (nearest >= 0)
		utf8_fprintf(stderr, "trapline: there is no command '%s'; did you mean '%s'?\n",
			     typed, names[nearest]);
	else
		utf8_fprintf(stderr,
			     "trapline: there is no command '%s'; `trapline --help` lists them\n",
			     typed);
	return STATUS_USAGE;
}

static int run_command(int argc, char **argv)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(argv[0], commands[i].name) == 0)
			return commands[i].run(argc, argv);
	return unknown_command(argv[0]);
}

static void on_full(int signal)
{
	(void)signal;
}

/* Makes a write fail, rather than end us, at the limit on the size of files (SIGXFSZ). A handler is
 * set instead of SIG_IGN, since a program that is executed then finds the signal as it was. */
static void survive_file_limit(void)
{
	struct sigaction action = {.sa_handler = on_full, .sa_flags = SA_RESTART}, before;

	if (!sigaction(SIGXFSZ, NULL, &before) && before.sa_handler == SIG_DFL)
		sigaction(SIGXFSZ, &action, NULL);
}

/* If we were started with a standard descriptor closed, a file of ours would take its number, and
 * what is written to that stream would end up in the file. So the number is filled with something
 * that fails as a closed one would: what could not be said is no success. The program that is
 * executed finds the descriptor closed, as it was. */
static void fill_standard_descriptors(void)
{
	int fd;

	for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++)
		if (fcntl(number, F_GETFD) < 0) {
			fd = open("/dev/null", (number ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
			if (fd > STDERR_FILENO)
				close(fd);
		}
}

/* `trapline help COMMAND` is `trapline COMMAND --help`. */
static int help(int argc, char **argv)
{
	char option[] = "--help";
	char *arguments[] = {NULL, option, NULL};

	if (argc > 1) {
		arguments[0] = argv[1];
		return run_command(2, arguments);
	}
	print_help(stdout);
	return STATUS_OK;
}

/* If the output could not be written, the command fails: it must not tell success to somebody who
 * was told nothing else. */
static int finish(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	utf8_fprintf(stderr, "trapline: standard output cannot be written\n");
	return status == STATUS_OK ? STATUS_FAILED : status;
}

static int run(int argc, char **argv)
{
	/* A set-user-ID trapline would run whatever it is told to, and it takes options from the
	 * environment. */
	if (getuid() != geteuid() || getgid() != getegid()) {
		fputs("trapline: it must not run set-user-ID or set-group-ID: `chmod ug-s` its file\n",
		      stderr);
		return STATUS_FAILED;
	}
	if (argc < 2) {
		print_help(stderr);
		return STATUS_USAGE;
	}
	if (asks_for_help(argv[1]) || strcmp(argv[1], "help") == 0)
		return help(argc - 1, argv + 1);
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("trapline %s\n", TRAPLINE_VERSION);
		return STATUS_OK;
	}
	if (argv[1][0] == '-') {
		utf8_fprintf(stderr,
			     "trapline: there is no option '%s' before the command; "
			     "`trapline --help` shows the usage\n",
			     argv[1]);
		return STATUS_USAGE;
	}
	fill_standard_descriptors();
	survive_file_limit();
	return run_command(argc - 1, argv + 1);
}

static void end_alike(int code, void *context)
{
	(void)context;
	program_end_alike(code);
}

int main(int argc, char **argv)
{
	/* This is no command: `trapline` itself starts the reader of files so. */
	if (argc == 2 && strcmp(argv[1], SYMBOL_READER_ARGUMENT) == 0 && getuid() == geteuid() &&
	    getgid() == getegid())
		return symbol_reader_main();
	/* What is registered first is called last. */
	on_exit(end_alike, NULL);
	return finish(run(argc, argv));
}
