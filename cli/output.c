/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include "cli/command.h"
#include "cli/output_file.h"
#include "jsonl/jsonl.h"
#include "record/utf8.h"

#include <errno.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

bool output_open(struct output *output, const char *path)
{
	*output = (struct output){.path = path, .file = output_file_open(path)};
	output->shared = output->file && output_file_is_shared(output->file);
	return output->file;
}

/* Takes an incomplete line back, since it would spoil the next one too. Only a regular file can be
 * cut. */
static void take_back(struct output *output, off_t end)
{
	FILE *file = output->file;

	__fpurge(file);
	clearerr(file);
	output->cut = output->shared;
	if (!output->shared && end >= 0 && !ftruncate(fileno(file), end))
		fseeko(file, end, SEEK_SET);
}

static void say_lost(struct output *output, int err)
{
	if (!output->lost++)
		utf8_fprintf(stderr, "trapline: %s cannot be written: %s\n", output->path,
			     strerror(-err));
}

void output_begin(struct output *output)
{
	if (output->file && !output_file_empty(output->file))
		say_lost(output, -errno);
}

void output_write(struct output *output, const struct finding *finding)
{
	off_t end = ftello(output->file);
	int err;

	if (output->cut)
		fputc('\n', output->file);
	err = jsonl_write(output->file, finding);
	if (fflush(output->file))
		err = -errno;
	if (!err) {
		output->cut = false;
		return;
	}
	take_back(output, end);
	say_lost(output, err);
}

int output_close(struct output *output, int status)
{
	FILE *file = output->file;

	if (!file)
		return status;
	output->file = NULL;
	if (fclose(file))
		say_lost(output, -errno);
	if (!output->lost)
		return status;
	utf8_fprintf(stderr, "trapline: %s: %llu finding%s could not be written\n", output->path,
		     (unsigned long long)output->lost, output->lost == 1 ? "" : "s");
	return status == STATUS_OK ? STATUS_FAILED : status;
}
