/* SPDX-License-Identifier: Apache-2.0 */
#include "event/machine.h"

#include "event/arch.h"
#include "event/perf.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECCOMP_MODE_OF_FILTER 2

long machine_number(const char *path, long absent)
{
	FILE *file = fopen(path, "re");
	long number;

	if (!file)
		return absent;
	if (fscanf(file, "%ld", &number) != 1)
		number = absent;
	fclose(file);
	return number;
}

long machine_status(const char *field, long absent)
{
	FILE *file = fopen("/proc/self/status", "re");
	size_t length = strlen(field);
	char line[256];
	long number = absent;

	if (!file)
		return absent;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, field, length) == 0 && line[length] == ':') {
			if (sscanf(line + length + 1, "%ld", &number) != 1)
				number = absent;
			break;
		}
	}
	fclose(file);
	return number;
}

long machine_paranoid(void)
{
	return machine_number("/proc/sys/kernel/perf_event_paranoid", MACHINE_NO_PERF);
}

pid_t machine_tracer(char *name, size_t size)
{
	pid_t tracer = (pid_t)machine_status("TracerPid", 0);
	char path[64];
	FILE *file;

	name[0] = 0;
	if (tracer <= 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/comm", tracer);
	file = fopen(path, "re");
	if (file) {
		if (fgets(name, (int)size, file))
			name[strcspn(name, "\n")] = 0;
		fclose(file);
	}
	return tracer;
}

bool machine_filtered(void)
{
	return machine_status("Seccomp", 0) == SECCOMP_MODE_OF_FILTER;
}

bool machine_filter_refuses(void)
{
	return machine_filtered() && perf_is_refused_whatever();
}

bool machine_has_protection_keys(void)
{
	return event_arch.has_protection_keys();
}

unsigned machine_perf_descriptors(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	unsigned count = 0;

	if (!directory)
		return 0;
	while ((entry = readdir(directory))) {
		char target[64];
		ssize_t length =
			readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1);

		if (length < 0)
			continue;
		target[length] = 0;
		count += strcmp(target, "anon_inode:[perf_event]") == 0;
	}
	closedir(directory);
	return count;
}
