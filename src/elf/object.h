/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room: ELF files as bytes of a stranger: program headers (elf/image.h), symbol tables
 * (elf/names.h), Clang's metadata of atomics (elf/metadata.h), restartable sequences
 * (elf/sequences.h), and where the debug information of a file is (elf/debug_file.h,
 * elf/debuginfod.h).
 *
 * Every offset and count that a file holds is checked before it is used; files are fuzzed
 * (elf_file, symbol_object, elf_metadata, elf_sequences). A file is read once as long as a process
 * maps it, and what cannot be read is counted and stays unknown. Runs in the reader of files, which
 * is confined; in the process that asks only where a session has no reader, and for the headers of
 * modules (elf/image.h), which it compares.
 *
 * This file: one program file or library with its debug information. Addresses in it are the file's
 * own (as linked); a module adds where it is loaded. Shared by every process of a session that maps
 * it.
 */
#ifndef ELF_OBJECT_H
#define ELF_OBJECT_H

#include "elf/image.h"
#include "session/session.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <time.h>

struct symbol_names;
struct symbol_units;
struct symbol_place_cache;
struct symbol_row_cache;
struct symbol_metadata;
struct symbol_sequences;

struct symbol_object {
	struct symbol_object *next;
	struct symbol_session *session;
	char *path;	  /* as opened; NULL when only a descriptor was given */
	char *debug_path; /* of the separate debug file, or NULL */
	time_t modified;  /* of the program file; 0 if unknown */
	uint64_t bytes;	  /* of the program file */
	uint64_t wanted;  /* the last trim at which a module had it */
	struct symbol_image image;
	Dwfl *dwfl;
	Dwfl_Module *module;
	/* Each read at first use; NULL afterwards means there is none. */
	bool dwarf_tried, eh_tried, frame_tried;
	Dwarf *dwarf;
	Dwarf_CFI *eh, *frame;
	Dwarf_Addr eh_bias, frame_bias;
	struct symbol_names *names;
	/* Kept for the object by the files of their names, each with what frees it in the end. */
	struct symbol_place_cache *places;
	void (*places_free)(struct symbol_place_cache *places);
	struct symbol_units *units;
	void (*units_free)(struct symbol_units *units);
	struct symbol_row_cache *rows;
	void (*rows_free)(struct symbol_row_cache *rows);
	struct symbol_metadata *metadata;
	void (*metadata_free)(struct symbol_metadata *metadata);
	struct symbol_sequences *sequences;
	void (*sequences_free)(struct symbol_sequences *sequences);
	uint64_t variants_tried; /* ns: variant.c */
};

/*
 * The object in file `fd` (always consumed), which must have build-id `id` unless that is empty.
 * `path` may be NULL. Objects are found again by build-id. 0 or -errno.
 */
int symbol_object_open(struct symbol_session *session, int fd, const char *path,
		       const struct symbol_build_id *id, struct symbol_object **object);
/* One that is open already, or NULL. */
struct symbol_object *symbol_object_known(struct symbol_session *session,
					  const struct symbol_build_id *id);
Dwarf *symbol_object_dwarf(struct symbol_object *object);
Dwarf_CFI *symbol_object_eh(struct symbol_object *object);
Dwarf_CFI *symbol_object_frame(struct symbol_object *object);
/* Contents of a section of the program file, or NULL. `address` receives where it is linked. */
Elf_Data *symbol_object_section(struct symbol_object *object, const char *name, uint64_t *address);
void symbol_objects_free(struct symbol_session *session);

/*
 * Those that no module has had since trim `number` are closed, but for the latest: a program that
 * executes one file after another would take a descriptor and address space for each. For who holds
 * nothing of them between two calls alone, which is a reader of files.
 */
void symbol_objects_trim(struct symbol_session *session, uint64_t number);

#endif
