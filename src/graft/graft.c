/* SPDX-License-Identifier: Apache-2.0 */
#include "graft/graft.h"

#include "graft/entry.h"
#include "graft/exports.h"
#include "reader/open.h"
#include "symbol/function_name.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(GRAFT_PARTS <= INJECT_FIX_PARTS, "they fit");

struct graft {
	struct symbol_session *session;
	struct symbol_modules *process;
	struct symbol_modules *fix; /* the library alone, at address 0 */
	struct graft_exports *exports;
	struct graft_image image;
	struct inject_fix memory;
	struct injected_redirect redirect[INJECTED_REDIRECTS];
	unsigned count;
};

/* ---- code that a dynamic linker would run --------------------------------------------------- */

/* The function there has this name, by the library's own symbol table. */
static bool is_called(const struct graft *graft, uint64_t address, const char *name)
{
	const char *found = symbol_function_name(graft->fix, address);

	return found && !strcmp(found, name);
}

/* The compiler's own constructor registers memory for transactions where the process has a library
 * for that (crtstuff.c of GCC), which nothing depends on. */
static int check_constructor(void *context, uint64_t address)
{
	return is_called(context, address, "frame_dummy") ? 0 : -EINVAL;
}

/* _init() of crti.o calls a profiler, where there is one. */
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
	/* At an address of its own later; here, whether all that it needs is there. */
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

int graft_add(struct graft *graft, uint64_t from, uint64_t to, struct graft_error *error)
{
	if (graft->count == INJECTED_REDIRECTS)
		return -ENOSPC;
	for (unsigned i = 0; i < graft->count; i++)
		if (graft->redirect[i].from == from)
			return graft_refuse(error, -EINVAL, "is replaced twice");
	if (!graft_image_is_code(&graft->image, to))
		return graft_refuse(error, -EINVAL, "would be replaced by what is no code");
	graft->redirect[graft->count++] = (struct injected_redirect){from, to};
	return graft_entry_check(graft->process, from, error);
}

/* ---- into the process ----------------------------------------------------------------------- */

static void describe(struct graft *graft)
{
	struct inject_fix *memory = &graft->memory;

	*memory = (struct inject_fix){.size = graft->image.size, .count = graft->image.count};
	for (unsigned i = 0; i < memory->count; i++)
		memory->part[i] = (struct inject_part){graft->image.part[i].offset,
						       graft->image.part[i].size,
						       graft->image.part[i].protection};
}

static int set_redirects(struct graft *graft, const struct injection *injection)
{
	struct injected_redirect placed[INJECTED_REDIRECTS];

	for (unsigned i = 0; i < graft->count; i++)
		placed[i] = (struct injected_redirect){graft->redirect[i].from,
						       graft->redirect[i].to + graft->memory.base};
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
