/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/golang.h"

#include "base/file.h"
#include "record/utf8.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool golang_is_elf(int fd, const Elf64_Ehdr *header)
{
	static const char wanted[] = ".go.buildinfo";
	Elf64_Shdr section, names;
	char name[sizeof(wanted)];

	if (pread(fd, &names, sizeof(names),
		  (off_t)(header->e_shoff + header->e_shstrndx * sizeof(names))) != sizeof(names))
		return false;
	for (unsigned i = 0; i < header->e_shnum; i++)
		if (pread(fd, &section, sizeof(section),
			  (off_t)(header->e_shoff + i * sizeof(section))) == sizeof(section) &&
		    pread(fd, name, sizeof(name), (off_t)(names.sh_offset + section.sh_name)) ==
			    sizeof(name) &&
		    memcmp(name, wanted, sizeof(name)) == 0)
			return true;
	return false;
}

static bool is_go(const char *path)
{
	int fd = file_open(path);
	Elf64_Ehdr header;
	bool go;

	if (fd < 0)
		return false;
	go = pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	     memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
	     header.e_ident[EI_CLASS] == ELFCLASS64 && golang_is_elf(fd, &header);
	close(fd);
	return go;
}

/* Such a tool tells of an access only if it is certain which instruction made it (race/rules.c,
 * stack/rules.c: hidden-guessed), which in Go's code it never is. */
static bool is_silent(const struct tl_tool *tool)
{
	return strcmp(tool->name, "race") == 0 || strcmp(tool->name, "stack") == 0;
}

void golang_tell(const char *path, const char *name, const struct tl_tool *const tool[],
		 unsigned count)
{
	const bool go = is_go(path);

	for (unsigned i = 0; go && i < count; i++)
		if (is_silent(tool[i]))
			utf8_fprintf(
				stderr,
				"trapline: %s: %s is a program of Go: in Go's code it is not certain "
				"which instruction made an access, so nothing is reported there, "
				"whatever it does\n",
				tool[i]->name, name);
}
