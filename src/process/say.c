/* SPDX-License-Identifier: Apache-2.0 */
#include "process/say.h"

#include "record/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SENTENCE_MAX 400
#define ERASE_LINE "\r\033[K" /* the progress line, which may stand there */

void say(const char *format, ...)
{
	char sentence[SENTENCE_MAX], shown[2 * SENTENCE_MAX];
	va_list list;

	va_start(list, format);
	vsnprintf(sentence, sizeof(sentence), format, list);
	va_end(list);
	dprintf(STDERR_FILENO, "%strapline: %s\n", isatty(STDERR_FILENO) ? ERASE_LINE : "",
		utf8_escape(shown, sizeof(shown), sentence));
}

void process_name(pid_t pid, char name[static PROCESS_NAME])
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	file = fopen(path, "re");
	if (!file || !fgets(name, PROCESS_NAME, file))
		strcpy(name, "?");
	if (file)
		fclose(file);
	name[strcspn(name, "\n")] = '\0';
}
