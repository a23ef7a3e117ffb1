/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One program file or library with its debug information. Addresses in it are the file's own (as
 * linked); a module adds where it is loaded. Shared by every process of a session that maps it.
 */
#ifndef SYMBOL_OBJECT_H
#define SYMBOL_OBJECT_H

#include "session/session.h"
#include "symbol/image.h"

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <time.h>

struct symbol_names;
struct symbol_units;
struct symbol_place_cache;
struct symbol_row_cache;
struct symbol_metadata;

struct symbol_object {
	struct symbol_object *next;
	struct symbol_session *session;
	char *path;	  /* as opened; NULL when only a descriptor was given */
	char *debug_path; /* of the separate debug file, or NULL */
	time_t modified;  /* of the program file; 0 if unknown */
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

#endif
