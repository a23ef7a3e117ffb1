/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of Go, whose code has no unwind tables of C's kind. */
#ifndef CLI_GOLANG_H
#define CLI_GOLANG_H

#include <elf.h>
#include <stdbool.h>
#include <trapline/tool.h>

/* Go's linker leaves a section of its own in every program. */
bool golang_is_elf(int fd, const Elf64_Ehdr *header);

/* If the file is a program of Go, says which of the tools report nothing in its code, so that their
 * silence says nothing about it. `name`: what the user calls the program. */
void golang_tell(const char *path, const char *name, const struct tl_tool *const tool[],
		 unsigned count);

#endif
