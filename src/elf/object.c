/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/object.h"

#include "elf/debug_file.h"
#include "elf/names.h"
#include "session/session.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Of files that no process maps any more. */
#define IDLE_MOST 64
#define IDLE_BYTES (1ull << 30)

/* libdwfl passes no argument of ours to its callbacks but through the module's user data. */
static int find_elf(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
		    char **file_name, Elf **elf)
{
	(void)module, (void)user, (void)name, (void)base, (void)file_name, (void)elf;
	return -1;
}

static struct symbol_object *object_of(Dwfl_Module *module)
{
	void **user;

	dwfl_module_info(module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
	return *user;
}

static int find_debuginfo(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
			  const char *file, const char *link, GElf_Word crc, char **path)
{
	struct symbol_object *object = object_of(module);
	struct symbol_debug_request request = {.link = link, .link_crc = crc};
	int fd;

	(void)user, (void)name, (void)base;
	if (!object)
		return -1;
	if (!file) /* libdwfl's way of asking for the alternate file of the debug file */
		return symbol_debug_file_find_alternate(
			object->session, object->debug_path ? object->debug_path : object->path,
			link ? link : "", path);
	request.build_id = object->image.build_id;
	request.file = object->path;
	fd = symbol_debug_file_find(object->session, &request, path);
	if (fd < 0)
		return -1;
	free(object->debug_path);
	object->debug_path = *path ? strdup(*path) : NULL;
	return fd;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_debuginfo,
};

static void object_free(struct symbol_object *object)
{
	symbol_names_free(object->names);
	if (object->places)
		object->places_free(object->places);
	if (object->units)
		object->units_free(object->units);
	if (object->rows)
		object->rows_free(object->rows);
	if (object->metadata)
		object->metadata_free(object->metadata);
	if (object->sequences)
		object->sequences_free(object->sequences);
	if (object->dwfl)
		dwfl_end(object->dwfl);
	free(object->path);
	free(object->debug_path);
	free(object);
}

void symbol_objects_free(struct symbol_session *session)
{
	struct symbol_object *object = session->objects;

	session->objects = NULL;
	while (object) {
		struct symbol_object *next = object->next;

		object_free(object);
		object = next;
	}
}

void symbol_objects_trim(struct symbol_session *session, uint64_t number)
{
	struct symbol_object **at = &session->objects, *object;
	uint64_t bytes = 0;
	unsigned idle = 0;

	while ((object = *at)) {
		bool keep = object->wanted == number ||
			    (idle < IDLE_MOST && bytes + object->bytes <= IDLE_BYTES);

		if (object->wanted != number && keep) {
			idle++;
			bytes += object->bytes;
		}
		if (keep) {
			at = &object->next;
			continue;
		}
		*at = object->next;
		object_free(object);
	}
}

/* Addresses reported are the file's own: a base of 0 that counts from the linked address. */
static int open_dwfl(struct symbol_object *object, int fd)
{
	const char *name = object->path ? object->path : "program";
	void **user;

	object->dwfl = dwfl_begin(&callbacks);
	if (!object->dwfl) {
		close(fd);
		return -ENOMEM;
	}
	dwfl_report_begin(object->dwfl);
	object->module = dwfl_report_elf(object->dwfl, name, name, fd, 0, true);
	if (!object->module) {
		close(fd);
		return -ENOEXEC;
	}
	dwfl_module_info(object->module, &user, NULL, NULL, NULL, NULL, NULL, NULL);
	*user = object;
	return dwfl_report_end(object->dwfl, NULL, NULL) == 0 ? 0 : -ENOEXEC;
}

struct symbol_object *symbol_object_known(struct symbol_session *session,
					  const struct symbol_build_id *id)
{
	struct symbol_object **at = &session->objects, *object;

	if (id->length == 0)
		return NULL;
	for (; (object = *at); at = &object->next) {
		if (!symbol_build_id_equal(&object->image.build_id, id))
			continue;
		*at = object->next;
		object->next = session->objects;
		session->objects = object;
		return object;
	}
	return NULL;
}

static int check_file(int fd, const struct symbol_build_id *id, struct symbol_image *image,
		      struct stat *status)
{
	int error;

	if (fstat(fd, status) < 0)
		return -errno;
	if (!S_ISREG(status->st_mode))
		return -ENOEXEC;
	error = symbol_image_read_file(fd, image);
	if (error)
		return error;
	if (id->length && !symbol_build_id_equal(id, &image->build_id))
		return -ESTALE;
	return 0;
}

static int create(struct symbol_session *session, int fd, const char *path,
		  const struct stat *status, const struct symbol_image *image,
		  struct symbol_object **result)
{
	struct symbol_object *object = calloc(1, sizeof(*object));
	int error;

	if (!object) {
		close(fd);
		return -ENOMEM;
	}
	object->session = session;
	object->path = path ? strdup(path) : NULL;
	object->modified = status->st_mtime;
	object->bytes = (uint64_t)status->st_size;
	object->image = *image;
	error = open_dwfl(object, fd);
	if (error) {
		object_free(object);
		return error;
	}
	object->next = session->objects;
	session->objects = object;
	symbol_count(session, SYMBOL_STATISTIC_OBJECTS);
	*result = object;
	return 0;
}

int symbol_object_open(struct symbol_session *session, int fd, const char *path,
		       const struct symbol_build_id *id, struct symbol_object **result)
{
	struct symbol_image image;
	struct stat status;
	int error = check_file(fd, id, &image, &status);

	*result = error ? NULL : symbol_object_known(session, &image.build_id);
	if (error || *result) {
		close(fd);
		if (error)
			symbol_count(session, SYMBOL_STATISTIC_OBJECTS_REJECTED);
		return error;
	}
	error = create(session, fd, path, &status, &image, result);
	if (error)
		symbol_count(session, SYMBOL_STATISTIC_OBJECTS_REJECTED);
	return error;
}

/* The supplementary file, which has what several debug files share (dwz): is it of this build? */
static bool is_alternate_right(Dwarf *dwarf)
{
	Dwarf *alternate = dwarf_getalt(dwarf);
	const void *wanted, *id;
	const char *name;
	ssize_t length = dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &wanted);

	return !alternate ||
	       (length > 0 && dwelf_elf_gnu_build_id(dwarf_getelf(alternate), &id) == length &&
		memcmp(id, wanted, (size_t)length) == 0);
}

/* Offsets into another build's are names of anything. Without it libdw looks for one itself, once,
 * in places of its own. False: that is wrong, too. */
static bool check_alternate(struct symbol_object *object)
{
	for (unsigned i = 0; i < 2; i++) {
		if (is_alternate_right(object->dwarf))
			return true;
		symbol_count(object->session, SYMBOL_STATISTIC_DEBUG_FILES_MISMATCHED);
		dwarf_setalt(object->dwarf, NULL);
	}
	return false;
}

Dwarf *symbol_object_dwarf(struct symbol_object *object)
{
	Dwarf_Addr bias;

	if (!object->dwarf_tried) {
		object->dwarf_tried = true;
		object->dwarf = dwfl_module_getdwarf(object->module, &bias);
		/* The debug file may have been prelinked elsewhere; then nothing would agree. */
		if (object->dwarf && bias != 0) {
			symbol_count(object->session, SYMBOL_STATISTIC_UNITS_SKIPPED);
			object->dwarf = NULL;
		}
		if (object->dwarf && !check_alternate(object))
			object->dwarf = NULL;
	}
	return object->dwarf;
}

Dwarf_CFI *symbol_object_eh(struct symbol_object *object)
{
	if (!object->eh_tried) {
		object->eh_tried = true;
		object->eh = dwfl_module_eh_cfi(object->module, &object->eh_bias);
	}
	return object->eh;
}

Dwarf_CFI *symbol_object_frame(struct symbol_object *object)
{
	if (!object->frame_tried) {
		object->frame_tried = true;
		object->frame = dwfl_module_dwarf_cfi(object->module, &object->frame_bias);
	}
	return object->frame;
}

Elf_Data *symbol_object_section(struct symbol_object *object, const char *name, uint64_t *address)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(object->module, &bias);
	Elf_Scn *section = NULL;
	size_t names;

	if (!elf || elf_getshdrstrndx(elf, &names) < 0)
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		GElf_Shdr header;
		const char *text;

		if (!gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS)
			continue;
		text = elf_strptr(elf, names, header.sh_name);
		if (!text || strcmp(text, name) != 0)
			continue;
		*address = header.sh_addr;
		return elf_rawdata(section, NULL);
	}
	return NULL;
}
