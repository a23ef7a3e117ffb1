/* SPDX-License-Identifier: Apache-2.0 */
/* `trapline service`: have a service of systemd's watched from its next start on, and stop that. */
#include "cli/command.h"
#include "cli/detect_options.h"
#include "cli/program.h"
#include "cli/unit.h"
#include "record/utf8.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATE_FOLDER "/var/lib/trapline"

extern char **environ;

struct service {
	const char *root;
	const char *name;
	char **options; /* the command and its options, NULL-terminated */
};

static void print_help(void)
{
	puts("usage: trapline service enable [--root DIR] NAME [COMMAND [OPTIONS…]]\n"
	     "       trapline service disable [--root DIR] NAME\n"
	     "       trapline service show [--root DIR] NAME\n\n"
	     "Have systemd start the service NAME under `trapline COMMAND --beside OPTIONS…` (default:\n"
	     "race) from its next start on, by a drop-in of its unit; disable removes the drop-in, and\n"
	     "show prints it. Findings go to " STATE_FOLDER
	     "/NAME/findings.jsonl unless OPTIONS have\n"
	     "an -o. The service keeps its user, its main process and its restrictions; where it\n"
	     "has a filter of system calls perf_event_open, process_vm_readv and pidfd_getfd are added,\n"
	     "and where it names what may be executed, trapline.\n\n"
	     "  --root DIR   the system below DIR, not this one");
}

/* systemd.service(5): what may stand before the path. '@' takes the next word for argv[0]. */
static size_t prefix_length(const char *command)
{
	return strspn(command, "-:+!|");
}

static bool is_ours(const char *path)
{
	char line[64] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return strstr(line, "trapline service") != NULL;
}

static bool has_output(char *const *options)
{
	for (; *options; options++)
		if (strncmp(*options, "-o", 2) == 0 || strncmp(*options, "--output", 8) == 0)
			return true;
	return false;
}

/* Writes a word in systemd's quotes, with `%` and `$` escaped: specifiers and variables belong to
 * the unit's own words alone. */
static void write_word(FILE *file, const char *word)
{
	fputs(" \"", file);
	for (; *word; word++) {
		if (*word == '"' || *word == '\\')
			fputc('\\', file);
		if (*word == '%' || *word == '$')
			fputc(*word, file);
		fputc(*word, file);
	}
	fputc('"', file);
}

static void write_command(FILE *file, const struct service *service, const char *trapline,
			  const char *command)
{
	size_t prefix = prefix_length(command);

	fprintf(file, "ExecStart=%.*s%s %s --beside -q", (int)prefix, command, trapline,
		service->options[0]);
	if (!has_output(service->options))
		fputs(" -o " STATE_FOLDER "/%N/findings.jsonl", file);
	for (char **option = service->options + 1; *option; option++)
		write_word(file, *option);
	fprintf(file, " -- %s\n", command + prefix);
}

static bool trapline_path(char path[static PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);

	if (length <= 0)
		return false;
	path[length] = '\0';
	return true;
}

/* The journal names a service's lines after the file that was started, so the drop-in sets that
 * name. It does not if the file's name is quoted or has a specifier, which only systemd
 * resolves. */
static void write_identifier(FILE *file, const char *command)
{
	const char *path = command + prefix_length(command);
	int length = (int)strcspn(path, " \t");

	for (int i = length; i > 0; i--)
		if (path[i - 1] == '/') {
			path += i;
			length -= i;
			break;
		}
	if (length && (int)strcspn(path, "\"'%$\\") >= length)
		fprintf(file, "SyslogIdentifier=%.*s\n", length, path);
}

/* If the unit names what may be executed, adds the command and the folder of its libraries. */
static void write_executables(FILE *file, const char *trapline)
{
	/* systemd takes no path with ".." in it. */
	char *library = realpath(program_preload_library(PROGRAM_LIBRARY_PLAIN), NULL);
	const char *slash = library ? strrchr(library, '/') : NULL;

	fprintf(file, "ExecPaths=%s", trapline);
	if (slash)
		fprintf(file, " %.*s", (int)(slash - library), library);
	fputc('\n', file);
	free(library);
}

/* Findings go to a state directory: systemd has it writable whatever else is read-only
 * (ProtectSystem=). */
static void write_drop_in(FILE *file, const struct service *service, const struct unit *unit,
			  const char *trapline)
{
	fputs("# by `trapline service enable`; `trapline service disable` removes it\n[Service]\n"
	      "ExecStart=\n",
	      file);
	for (size_t i = 0; i < unit->count; i++)
		write_command(file, service, trapline, unit->command[i]);
	if (!has_output(service->options))
		fputs("StateDirectory=trapline/%N\n", file);
	if (!unit->identified)
		write_identifier(file, unit->command[0]);
	if (unit->filters)
		fputs("SystemCallFilter=perf_event_open process_vm_readv pidfd_getfd\n", file);
	if (unit->forbids)
		write_executables(file, trapline);
}

static int fail(const char *what, const char *path)
{
	utf8_fprintf(stderr, "trapline: %s %s: %s\n", path, what, strerror(errno));
	return STATUS_FAILED;
}

/* Has systemd read its units again, if they are those of the running system. */
static int reload(const struct service *service)
{
	char *arguments[] = {(char *)"systemctl", (char *)"daemon-reload", NULL};
	int status = 0;
	pid_t pid;

	if (*service->root || access("/run/systemd/system", F_OK))
		return STATUS_OK;
	if (posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ) ||
	    waitpid(pid, &status, 0) != pid || status) {
		fputs("trapline: `systemctl daemon-reload` failed; systemd goes by the unit as it "
		      "was until that is done\n",
		      stderr);
		return STATUS_FAILED;
	}
	return STATUS_OK;
}

/* Makes the folders that `path` lies in. */
static bool make_folders(const char *path)
{
	char *copy = strdup(path);
	bool made = copy;

	for (char *at = copy ? copy + 1 : NULL; made && (at = strchr(at, '/')); at++) {
		*at = '\0';
		made = !mkdir(copy, 0755) || errno == EEXIST;
		*at = '/';
	}
	free(copy);
	return made;
}

/* May a service look there, and does the path need no quotes? Units are often denied home folders
 * and the like. */
static bool is_for_services(const char *path)
{
	static const char *const own[] = {"/home/", "/root/", "/run/user/", "/tmp/", "/var/tmp/"};

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (strncmp(path, own[i], strlen(own[i])) == 0)
			return false;
	return !path[strcspn(path, " \t\"'\\%$;")];
}

/* Removes the drop-in, and its folder unless something else is in it. */
static int remove_drop_in(const char *path)
{
	char *folder;

	if (unlink(path))
		return -1;
	folder = strdup(path);
	if (folder) {
		*strrchr(folder, '/') = '\0';
		rmdir(folder);
	}
	free(folder);
	return 0;
}

/* Removes a drop-in that could not be written whole: half of it could keep the service from being
 * started. */
static int take_back(const char *path)
{
	int err = errno;

	remove_drop_in(path);
	errno = err;
	return fail("cannot be written", path);
}

static int write_file(const struct service *service, const struct unit *unit, const char *path)
{
	char trapline[PATH_MAX];
	FILE *file;
	bool failed;

	if (!access(path, F_OK) && !is_ours(path)) {
		utf8_fprintf(stderr, "trapline: %s is somebody else's: move it away first\n", path);
		return STATUS_FAILED;
	}
	if (!trapline_path(trapline))
		return fail("cannot be made", path);
	if (!*service->root && !is_for_services(trapline)) {
		utf8_fprintf(
			stderr,
			"trapline: %s is where not every service can start it: install trapline first "
			"(`make install`, or its package)\n",
			trapline);
		return STATUS_FAILED;
	}
	if (!make_folders(path))
		return fail("cannot be made", path);
	file = fopen(path, "we");
	if (!file)
		return fail("cannot be written", path);
	write_drop_in(file, service, unit, trapline);
	failed = ferror(file);
	return fclose(file) || failed ? take_back(path) : STATUS_OK;
}

/* Why the service cannot be started under us; NULL: it can. */
static const char *why_not(const struct unit *unit)
{
	if (!unit->count)
		return "has no ExecStart=, so nothing is to be watched";
	if (unit->too_many)
		return "has more commands to start than trapline can take";
	if (unit->has_root)
		return "gives its service a root of its own (RootDirectory=, RootImage=), where "
		       "trapline is not: start it there by `trapline run` yourself";
	for (size_t i = 0; i < unit->count; i++)
		if (strchr("@", unit->command[i][prefix_length(unit->command[i])]))
			return "gives its program another name by '@': write the drop-in by hand, "
			       "see docs/FLEET.md";
	return NULL;
}

/* Parses the options now, so that a mistake is told here and not by a service that does not start.
 * A program is put behind them: an option that lacks its value would take it. */
static bool is_understood(const struct service *service)
{
	static const char *const beside[] = {"race", "heap", "stack", "uninit", "run"};
	static char own[][16] = {"--beside", "-q", "true"};
	struct detect_options options = {0};
	size_t count = 0, at = 0;
	char **words;
	bool understood;

	while (at < sizeof(beside) / sizeof(beside[0]) &&
	       strcmp(service->options[0], beside[at]) != 0)
		at++;
	if (at == sizeof(beside) / sizeof(beside[0])) {
		utf8_fprintf(
			stderr,
			"trapline: '%s' cannot stand beside a service: race, heap, stack, uninit "
			"and run can\n",
			service->options[0]);
		return false;
	}
	while (service->options[count])
		count++;
	words = calloc(count + 4, sizeof(*words));
	if (!words)
		return false;
	words[0] = service->options[0];
	words[1] = own[0];
	words[2] = own[1];
	memcpy(words + 3, service->options + 1, (count - 1) * sizeof(*words));
	words[count + 2] = own[2];
	understood = detect_options_parse(&options, (int)count + 3, words) == 0;
	if (understood && (!options.program || options.program[0] != own[2] || options.pid)) {
		fputs("trapline: these options leave no room for the service's program\n", stderr);
		understood = false;
	}
	free(words);
	return understood;
}

static int enable(const struct service *service, const char *path)
{
	struct unit unit;
	const char *reason;
	int status;

	if (!is_understood(service))
		return STATUS_USAGE;
	if (!unit_read(&unit, service->root, service->name)) {
		utf8_fprintf(
			stderr,
			"trapline: there is no service '%s': `systemctl list-unit-files` lists "
			"them\n",
			service->name);
		return STATUS_FAILED;
	}
	reason = why_not(&unit);
	if (reason)
		utf8_fprintf(stderr, "trapline: %s %s\n", unit.path, reason);
	status = reason ? STATUS_FAILED : write_file(service, &unit, path);
	if (!status)
		status = reload(service);
	if (!status)
		printf("%s is watched from its next start on: `systemctl restart %s`\n",
		       service->name, service->name);
	unit_free(&unit);
	return status;
}

static int disable(const struct service *service, const char *path)
{
	int status;

	if (!is_ours(path)) {
		utf8_fprintf(stderr, "trapline: %s is not watched: there is no %s of trapline's\n",
			     service->name, path);
		return STATUS_FAILED;
	}
	if (remove_drop_in(path))
		return fail("cannot be removed", path);
	status = reload(service);
	if (!status)
		printf("%s is not watched from its next start on; `trapline stop` ends it now\n",
		       service->name);
	return status;
}

static int show(const struct service *service, const char *path)
{
	FILE *file = is_ours(path) ? fopen(path, "re") : NULL;
	char line[4096];

	if (!file) {
		utf8_fprintf(stderr, "trapline: %s is not watched\n", service->name);
		return STATUS_FAILED;
	}
	printf("# %s\n", path);
	while (fgets(line, sizeof(line), file))
		fputs(line, stdout);
	fclose(file);
	return STATUS_OK;
}

static const struct {
	const char *name;
	int (*run)(const struct service *service, const char *path);
} actions[] = {{"enable", enable}, {"disable", disable}, {"show", show}};

static int usage(const char *what)
{
	utf8_fprintf(stderr, "trapline: %s; usage: trapline service enable|disable|show NAME\n",
		     what);
	return STATUS_USAGE;
}

static int unknown_option(const char *option)
{
	utf8_fprintf(stderr,
		     "trapline: service has no option '%s'; `trapline service --help` lists them\n",
		     option);
	return STATUS_USAGE;
}

static int act(const char *action, const struct service *service)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		char *path;
		int status;

		if (strcmp(actions[i].name, action) != 0)
			continue;
		path = unit_drop_in(service->root, service->name);
		status = path ? actions[i].run(service, path) : fail("cannot be named", "drop-in");
		free(path);
		return status;
	}
	return usage("that is nothing to do with a service");
}

int command_service(int argc, char **argv)
{
	static char race[] = "race";
	static char *by_default[] = {race, NULL};
	struct service service = {.root = "", .options = by_default};
	int at = 2;

	if (argc > 1 && asks_for_help(argv[1])) {
		print_help();
		return STATUS_OK;
	}
	for (int i = 1; i < argc && i <= at; i++)
		if (argv[i][0] == '-' && (i == 1 || strcmp(argv[i], "--root") != 0))
			return unknown_option(argv[i]);
	if (argc > at + 1 && strcmp(argv[at], "--root") == 0) {
		service.root = argv[at + 1];
		at += 2;
	}
	if (at >= argc)
		return usage("which service");
	service.name = argv[at++];
	if (!unit_is_name(service.name))
		return usage("that is no name of a service");
	if (at < argc)
		service.options = argv + at;
	if (at < argc && strcmp(argv[1], "enable") != 0)
		return usage("a command belongs to enable");
	return act(argv[1], &service);
}
