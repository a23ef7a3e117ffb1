/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libFuzzer in ordinary builds: feeds every file of the directories (or files) named
 * on the command line to LLVMFuzzerTestOneInput(), so that what a fuzzer once found stays fixed.
 */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input is handed over in a block of exactly its size, for tools that check bounds. */
static int replay_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data;
	long size;
	int status = -1;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) {
		perror(path);
		if (file)
			fclose(file);
		return -1;
	}
	rewind(file);
	data = malloc(size ? (size_t)size : 1);
	if (data && fread(data, 1, (size_t)size, file) == (size_t)size) {
		LLVMFuzzerTestOneInput(data, (size_t)size);
		status = 0;
	}
	free(data);
	fclose(file);
	return status;
}

/* Files replayed, or -1. */
static long replay_directory(const char *path, DIR *directory)
{
	struct dirent *entry;
	long count = 0;

	while ((entry = readdir(directory))) {
		char name[PATH_MAX];

		if (entry->d_name[0] == '.')
			continue;
		if (snprintf(name, sizeof(name), "%s/%s", path, entry->d_name) >=
			    (int)sizeof(name) ||
		    replay_file(name))
			return -1;
		count++;
	}
	return count;
}

int main(int argc, char **argv)
{
	long total = 0;

	for (int i = 1; i < argc; i++) {
		DIR *directory = opendir(argv[i]);
		long count = 1;

		if (!directory) {
			if (replay_file(argv[i]))
				return EXIT_FAILURE;
		} else {
			count = replay_directory(argv[i], directory);
			closedir(directory);
			if (count < 0)
				return EXIT_FAILURE;
		}
		total += count;
	}
	printf("%ld inputs\n", total);
	if (total == 0)
		fprintf(stderr, "usage: %s CORPUS-DIRECTORY|FILE… (nothing to replay there)\n",
			argv[0]);
	return total ? EXIT_SUCCESS : EXIT_FAILURE;
}
