/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/graft.h"

#include "graft/entry.h"
#include "graft/exports.h"
#include "graft/original.h"
#include "reader/open.h"
#include "symbol/function_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(GRAFT_PARTS + 1 <= INJECT_FIX_PARTS,
	       "the library's parts fit, and one for the copies of old functions");
_Static_assert(INJECTED_REDIRECTS *GRAFT_ORIGINAL_MOST <= GRAFT_BEHIND,
	       "the copies of old functions fit behind the library");

struct graft {
	struct symbol_session *session;
	struct symbol_modules *process;
	struct symbol_modules *fix; /* the library alone, at address 0 */
	struct graft_exports *exports;
	struct graft_image image;
	struct inject_fix memory;
	struct graft_change change[INJECTED_REDIRECTS];
	/* The copy of each change's old function, where its `original` asks for one. */
	uint8_t copy[INJECTED_REDIRECTS][GRAFT_ORIGINAL_MOST];
	unsigned count; /* of changes */
};

/* ---- code that a dynamic linker would run --------------------------------------------------- */

/* Does the function at this address have this name, by the library's own symbol table? */
static bool is_called(const struct graft *graft, uint64_t address, const char *name)
{
	const char *found = symbol_function_name(graft->fix, address);

	return found && !strcmp(found, name);
}

/* Refuses all constructors but the compiler's own, which need not run: it registers memory for
 * transactions where the process has a library for that (crtstuff.c of GCC). */
static int check_constructor(void *context, uint64_t address)
{
	return is_called(context, address, "frame_dummy") ? 0 : -EINVAL;
}

/* The library's _init() may be that of crti.o, which need not run: it calls a profiler where there
 * is one. */
static int check_constructors(const struct graft *graft, struct graft_error *error)
{
	if (graft_image_constructors(&graft->image, check_constructor, (void *)graft) ||
	    (graft->image.init && !is_called(graft, graft->image.init, "_init")))
		return graft_refuse(error, -EOPNOTSUPP,
				    "has constructors, or is stripped so that it cannot be told: "
				    "they would have to run in the program, which only one started "
				    "with `trapline run` lets them");
	return 0;
}

/* ---- looking -------------------------------------------------------------------------------- */

static int open_modules(struct graft *graft, pid_t pid, const char *path)
{
	const struct symbol_options options = {.size = sizeof(options),
					       .reader = SYMBOL_READER_SELF};
	const struct symbol_module_record record = {.path = path, .end = graft->image.size};
	int err = symbol_session_open(&graft->session, &options);

	if (!err)
		err = symbol_modules_of_process(graft->session, pid, &graft->process);
	if (!err)
		err = symbol_modules_recorded(graft->session, &graft->fix);
	return err ? err : symbol_modules_add(graft->fix, &record);
}

static int read_image(struct graft *graft, const char *path, struct graft_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), err;

	if (fd < 0)
		return graft_refuse(error, -errno, "cannot be read: %s", strerror(errno));
	err = graft_image_read(fd, &graft->image, error);
	close(fd);
	return err;
}

static int look(struct graft *graft, pid_t pid, const char *path, struct graft_error *error)
{
	int err = read_image(graft, path, error);

	if (err)
		return err;
	err = open_modules(graft, pid, path);
	if (err)
		return graft_refuse(error, err, "cannot be looked at beside process %d: %s",
				    (int)pid, strerror(-err));
	graft->exports = graft_exports_read(graft->process);
	if (!graft->exports)
		return graft_refuse(error, -ENOMEM, "cannot be bound: memory is short");
	err = check_constructors(graft, error);
	/* Bound to address 0 to find out whether all that it needs is there; graft_load() binds it
	 * to its real address. */
	return err ? err
		   : graft_image_bind(&graft->image, 0, graft_exports_find, graft->exports, error);
}

int graft_prepare(struct graft **graft, pid_t pid, const char *path, struct graft_error *error)
{
	int err;

	*graft = calloc(1, sizeof(**graft));
	if (!*graft)
		return graft_refuse(error, -ENOMEM, "cannot be read: memory is short");
	err = look(*graft, pid, path, error);
	if (err) {
		graft_free(*graft);
		*graft = NULL;
	}
	return err;
}

static int add_copy(struct graft *graft, const struct graft_change *change,
		    struct graft_error *error)
{
	if (!change->original)
		return 0;
	if (!graft_image_is_pointer(&graft->image, change->original))
		return graft_refuse(error, -EINVAL,
				    "cannot be told to the fix, whose original_OLD is no variable "
				    "that can be written");
	return graft_original_copy(graft->process, change->from, graft->copy[graft->count], error);
}

int graft_add(struct graft *graft, const struct graft_change *change, struct graft_error *error)
{
	int err;

	if (graft->count == INJECTED_REDIRECTS)
		return -ENOSPC;
	for (unsigned i = 0; i < graft->count; i++)
		if (graft->change[i].from == change->from)
			return graft_refuse(error, -EINVAL, "is replaced twice");
	if (!graft_image_is_code(&graft->image, change->to))
		return graft_refuse(error, -EINVAL, "would be replaced by what is no code");
	err = graft_entry_check(graft->process, change->from, error);
	if (!err)
		err = add_copy(graft, change, error);
	if (!err)
		graft->change[graft->count++] = *change;
	return err;
}

/* ---- into the process ----------------------------------------------------------------------- */

static bool wants_copies(const struct graft *graft)
{
	for (unsigned i = 0; i < graft->count; i++)
		if (graft->change[i].original)
			return true;
	return false;
}

static void describe(struct graft *graft)
{
	struct inject_fix *memory = &graft->memory;

	*memory = (struct inject_fix){.size = graft->image.size, .count = graft->image.count};
	for (unsigned i = 0; i < memory->count; i++)
		memory->part[i] = (struct inject_part){graft->image.part[i].offset,
						       graft->image.part[i].size,
						       graft->image.part[i].protection};
	if (!wants_copies(graft))
		return;
	memory->part[memory->count++] =
		(struct inject_part){graft->image.size, GRAFT_BEHIND, PROT_READ | PROT_EXEC};
	memory->size += GRAFT_BEHIND;
}

/* Puts the copies of old functions behind the library, and their addresses into its pointers. */
static void place_copies(struct graft *graft)
{
	for (unsigned i = 0; i < graft->count; i++) {
		const uint64_t place = graft->image.size + (uint64_t)i * GRAFT_ORIGINAL_MOST;
		const uint64_t address = graft->memory.base + place;

		if (!graft->change[i].original)
			continue;
		memcpy(graft->image.bound + place, graft->copy[i], GRAFT_ORIGINAL_MOST);
		memcpy(graft->image.bound + graft->change[i].original, &address, sizeof(address));
	}
}

static int set_redirects(struct graft *graft, const struct injection *injection)
{
	struct injected_redirect placed[INJECTED_REDIRECTS];

	for (unsigned i = 0; i < graft->count; i++)
		placed[i] = (struct injected_redirect){graft->change[i].from,
						       graft->change[i].to + graft->memory.base};
	return inject_redirect_set(injection, placed, graft->count);
}

int graft_load(struct graft *graft, struct injection *injection)
{
	struct graft_error error;
	int err;

	describe(graft);
	err = inject_fix_map(injection, &graft->memory);
	if (err)
		return err;
	err = graft_image_bind(&graft->image, graft->memory.base, graft_exports_find,
			       graft->exports, &error);
	if (!err)
		place_copies(graft);
	if (!err)
		err = inject_fix_fill(injection, &graft->memory, graft->image.bound);
	if (!err)
		err = set_redirects(graft, injection);
	if (err)
		graft_unload(graft, injection);
	return err;
}

void graft_unload(struct graft *graft, struct injection *injection)
{
	inject_fix_unmap(injection, &graft->memory);
}

void graft_free(struct graft *graft)
{
	if (graft->exports)
		graft_exports_free(graft->exports);
	if (graft->fix)
		symbol_modules_close(graft->fix);
	if (graft->process)
		symbol_modules_close(graft->process);
	if (graft->session)
		symbol_session_close(graft->session);
	graft_image_free(&graft->image);
	free(graft);
}
