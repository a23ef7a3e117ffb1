/* SPDX-License-Identifier: Apache-2.0 */
/* A build-id: the linker's identity of a file's contents (ELF note NT_GNU_BUILD_ID). */
#ifndef SESSION_BUILD_ID_H
#define SESSION_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOL_BUILD_ID_MAX 64
#define SYMBOL_BUILD_ID_TEXT (2 * SYMBOL_BUILD_ID_MAX + 1)

struct symbol_build_id {
	uint8_t length; /* 0: none */
	uint8_t bytes[SYMBOL_BUILD_ID_MAX];
};

bool symbol_build_id_equal(const struct symbol_build_id *a, const struct symbol_build_id *b);
/* Lower-case hexadecimal; the empty string for none. */
void symbol_build_id_format(const struct symbol_build_id *id, char text[SYMBOL_BUILD_ID_TEXT]);
/* 0, or -EINVAL if `text` is not an even number of hexadecimal digits. */
int symbol_build_id_parse(const char *text, struct symbol_build_id *id);
/* Find the build-id among the ELF notes in `notes`. 0, or -ENOENT. */
int symbol_build_id_from_notes(const uint8_t *notes, size_t length, struct symbol_build_id *id);

#endif
