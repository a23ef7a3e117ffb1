/* SPDX-License-Identifier: Apache-2.0 */
/* trapline doctor: what works on this machine, and what to change. */
#include "cli/command.h"
#include "cli/doctor_prices.h"
#include "event/probe.h"
#include "record/utf8.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

static void print_help(FILE *to)
{
	fputs("usage: trapline doctor [--json]\n\n"
	      "Try out, by doing it, everything that trapline needs of this machine, and say what\n"
	      "to change. Exit status: 0 if `trapline race` and `trapline watch` can work here, 1 if\n"
	      "not, 2 for a wrong command line.\n\n"
	      "  --json   one JSON object instead of the table\n",
	      to);
}

/* If no event can be opened, only that is advised on: it is what most rows lack. */
static void print_advice(enum probe probe)
{
	const char *advice = probe_outcome(probe)->advice;
	const char *first = probe_outcome(PROBE_PERMISSION)->advice;

	if (*advice)
		printf("  %-8s %-18s → %s\n", "", "",
		       probe != PROBE_PERMISSION && strcmp(advice, first) == 0 ? "as perf-events"
									       : advice);
}

static void print_table_row(enum probe probe)
{
	static const char *const marks[] = {"?", "ok", "limited", "missing"};
	const struct probe_outcome *outcome = probe_outcome(probe);

	printf("  %-8s %-18s %s\n", marks[outcome->state], probe_name(probe), probe_meaning(probe));
	if (outcome->detail[0])
		printf("  %-8s %-18s · %s\n", "", "", outcome->detail);
	if (outcome->state == PROBE_WORKS)
		return;
	printf("  %-8s %-18s · needed by: %s\n", "", "", probe_needed_by(probe));
	print_advice(probe);
}

static void print_prices(void)
{
	struct doctor_prices prices;

	doctor_prices_measure(&prices);
	doctor_prices_print(&prices);
}

/* Says which of the rows above keep trapline from working. */
static void print_verdict(void)
{
	const char *before = "\n`trapline race` cannot work here without what is missing: ";

	if (probe_main_job()) {
		puts("\n`trapline race` and `trapline watch` work here.");
		return;
	}
	for (int probe = 0; probe < PROBE_COUNT; probe++) {
		if (!probe_required((enum probe)probe) || probe_works((enum probe)probe))
			continue;
		printf("%s%s", before, probe_name((enum probe)probe));
		before = ", ";
	}
	putchar('\n');
}

static void print_table(const struct utsname *system)
{
	printf("trapline %s on %s %s (%s), %ld CPUs\n\n", TRAPLINE_VERSION, system->sysname,
	       system->release, system->machine, sysconf(_SC_NPROCESSORS_ONLN));
	for (int probe = 0; probe < PROBE_COUNT; probe++)
		print_table_row((enum probe)probe);
	if (probe_main_job())
		print_prices();
	print_verdict();
}

static void print_json_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putchar('\\');
		if ((unsigned char)*text < 0x20)
			printf("\\u%04x", (unsigned)*text);
		else
			putchar(*text);
	}
	putchar('"');
}

static void print_json_member(const char *name, const char *value)
{
	printf("\"%s\":", name);
	print_json_string(value);
}

static void print_json_row(enum probe probe)
{
	const struct probe_outcome *outcome = probe_outcome(probe);

	printf("%s\n  {", probe == 0 ? "" : ",");
	print_json_member("name", probe_name(probe));
	putchar(',');
	print_json_member("status", probe_state_name(outcome->state));
	printf(",\"required\":%s,", probe_required(probe) ? "true" : "false");
	print_json_member("meaning", probe_meaning(probe));
	putchar(',');
	print_json_member("needed_by", probe_needed_by(probe));
	putchar(',');
	print_json_member("detail", outcome->detail);
	putchar(',');
	print_json_member("advice", outcome->advice);
	putchar('}');
}

static void print_json(const struct utsname *system)
{
	struct doctor_prices prices;

	printf("{\"v\":1,");
	print_json_member("trapline", TRAPLINE_VERSION);
	putchar(',');
	print_json_member("kernel", system->release);
	putchar(',');
	print_json_member("machine", system->machine);
	printf(",\"cpus\":%ld,\"main_job\":%s,", sysconf(_SC_NPROCESSORS_ONLN),
	       probe_main_job() ? "true" : "false");
	if (probe_main_job()) {
		doctor_prices_measure(&prices);
		doctor_prices_print_json(&prices);
	}
	printf("\"checks\":[");
	for (int probe = 0; probe < PROBE_COUNT; probe++)
		print_json_row((enum probe)probe);
	puts("\n]}");
}

int command_doctor(int argc, char **argv)
{
	struct utsname system = {0};
	int json = 0;

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0) {
			json = 1;
		} else if (asks_for_help(argv[i])) {
			print_help(stdout);
			return STATUS_OK;
		} else {
			utf8_fprintf(
				stderr,
				"trapline doctor: '%s' is not one of its options; the only one is "
				"--json\n",
				argv[i]);
			return STATUS_USAGE;
		}
	}
	uname(&system);
	if (json)
		print_json(&system);
	else
		print_table(&system);
	return probe_main_job() ? STATUS_OK : STATUS_FAILED;
}
