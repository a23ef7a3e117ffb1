/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/generated.h"

#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/program.h"
#include "record/utf8.h"
#include "suppression/suppressions.h"

#include <errno.h>
#include <string.h>

bool generated_open(struct generated *generated, const char *path)
{
	*generated = (struct generated){.path = path};
	if (path)
		generated->file = strcmp(path, "-") == 0 ? program_messages()
							 : output_file_open(path);
	return !path || generated->file;
}

void generated_begin(struct generated *generated)
{
	if (generated->file)
		output_file_empty(generated->file);
}

void generated_add(struct generated *generated, const struct finding *finding)
{
	FILE *file = generated->file;

	if (!file)
		return;
	suppressions_generate(file, finding);
	if ((fflush(file) || ferror(file)) && !generated->err)
		generated->err = errno;
}

int generated_close(struct generated *generated, int status)
{
	int err = generated->err;

	if (!generated->file || generated->file == program_messages())
		return status;
	if (fclose(generated->file) && !err)
		err = errno;
	if (!err)
		return status;
	utf8_fprintf(stderr, "trapline: %s could not be written in full: %s\n", generated->path,
		     strerror(err));
	return status == STATUS_OK ? STATUS_FAILED : status;
}
