/* SPDX-License-Identifier: Apache-2.0 */
/* What `trapline patch` asks for: load a fix and apply it, list, revert. All of it runs in the
 * listening thread, which alone uses what is here. */
#include "patch/fix.h"
#include "patch/listen.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <trapline/error.h>
#include <trapline/patch.h>

/* A patch in force that the command asked for. */
struct served {
	struct served *next;
	uint32_t id; /* what --list shows and --revert takes; from 1 on, none is used again */
	tl_patch *patch;
	char text[PATCH_REQUEST_TEXT]; /* the changes by name, as the request has them */
	char path[PATH_MAX];	       /* of the fix */
};

static struct served *served;
static uint32_t last_id;

static void reply(int socket, struct patch_reply *reply)
{
	send(socket, reply, sizeof(*reply), MSG_NOSIGNAL);
}

static void fail(int socket, int err, const char *why)
{
	struct patch_reply failure = {.status = err};

	snprintf(failure.text, sizeof(failure.text), "%s", why);
	reply(socket, &failure);
}

static void describe(const struct served *one, struct patch_reply *answer)
{
	const char *reason = tl_patch_reason(one->patch);

	answer->id = one->id;
	answer->on_breakpoint = (uint32_t)tl_patch_on_breakpoint(one->patch);
	snprintf(answer->text, sizeof(answer->text), "%s %s%s%s", one->path, one->text,
		 reason ? ": " : "", reason ? reason : "");
}

/* ---- apply ------------------------------------------------------------------------------ */

/* Checks that the program sees the same file at this path as the command, which has looked up the
 * functions' names in it: in a container that may be another one. NULL or why not. */
static const char *check_file(const struct patch_request *request)
{
	struct stat file;

	if (stat(request->path, &file))
		return "the program cannot see the fix at this path";
	if (file.st_ino != request->file_inode || (uint64_t)file.st_size != request->file_size)
		return "the program sees another file at the fix's path: put it where both see it";
	return NULL;
}

static const char *find_changes(const struct patch_request *request, void *handle,
				struct tl_patch_change *changes)
{
	struct link_map *map;

	if (dlinfo(handle, RTLD_DI_LINKMAP, &map))
		return "the fix's load address is not known";
	for (uint32_t i = 0; i < request->count; i++) {
		uintptr_t new_fn = map->l_addr + request->change[i].new_file_offset;
		uintptr_t original = map->l_addr + request->change[i].original_file_offset;

		if (!fix_holds(map, new_fn, 1, PF_X))
			return "the new function does not lie in the fix's code";
		if (request->change[i].original_file_offset &&
		    (original % sizeof(void *) || !fix_holds(map, original, sizeof(void *), PF_W)))
			return "the fix's pointer to the original cannot be written: it must not "
			       "be const";
		changes[i].old_fn = (void *)request->change[i].old_address;
		changes[i].new_fn = (void *)new_fn;
		changes[i].original = request->change[i].original_file_offset ? (void **)original
									      : NULL;
	}
	return NULL;
}

/* Remembers the patch and replies. Where memory is short it is taken back: one that --list did not
 * show could not be reverted. */
static void applied(int socket, const struct patch_request *request, tl_patch *patch)
{
	struct served *one = calloc(1, sizeof(*one));
	struct patch_reply answer = {.status = 0};

	if (!one) {
		tl_patch_revert(patch);
		fail(socket, -ENOMEM, "out of memory");
		return;
	}
	one->id = ++last_id;
	one->patch = patch;
	snprintf(one->text, sizeof(one->text), "%s", request->text);
	snprintf(one->path, sizeof(one->path), "%s", request->path);
	one->next = served;
	served = one;
	describe(one, &answer);
	reply(socket, &answer);
}

static void apply(int socket, const struct patch_request *request)
{
	struct tl_patch_change changes[PATCH_REQUEST_CHANGES];
	const char *why = check_file(request);
	void *handle = NULL;
	tl_patch *patch;
	int err;

	if (!why) {
		handle = dlopen(request->path, RTLD_NOW | RTLD_LOCAL);
		why = handle ? find_changes(request, handle, changes) : dlerror();
		if (!handle && !why)
			why = "the fix cannot be loaded";
	}
	if (why) {
		fail(socket, -EINVAL, why);
	} else {
		err = tl_patch_apply_all(
			&patch, changes, request->count,
			request->flags & PATCH_REQUEST_BREAKPOINT ? TL_PATCH_BREAKPOINT : 0);
		if (!err) {
			applied(socket, request, patch);
			return;
		}
		fail(socket, err, tl_explain(err));
	}
	if (handle)
		dlclose(handle);
}

/* ---- list and revert -------------------------------------------------------------------- */

static void list(int socket)
{
	struct patch_reply last = {.status = 0};

	for (const struct served *one = served; one; one = one->next) {
		struct patch_reply answer = {.more = 1};

		describe(one, &answer);
		reply(socket, &answer);
	}
	reply(socket, &last);
}

/* Takes a patch back. The fix stays loaded, since a thread may be inside the new function. */
static void revert(int socket, uint32_t id)
{
	struct patch_reply answer = {.status = 0};
	struct served **link = &served, *one;
	int err;

	while (*link && (*link)->id != id)
		link = &(*link)->next;
	one = *link;
	if (!one) {
		fail(socket, -ENOENT, "there is no patch of this number; --list shows them");
		return;
	}
	describe(one, &answer);
	err = tl_patch_revert(one->patch);
	if (err) {
		fail(socket, err, tl_explain(err));
		return;
	}
	*link = one->next;
	free(one);
	reply(socket, &answer);
}

/* ---- requests --------------------------------------------------------------------------- */

static bool is_terminated(const char *text, size_t size)
{
	return memchr(text, 0, size) != NULL;
}

static bool is_sound(const struct patch_request *request, size_t length)
{
	return length == sizeof(*request) && request->magic == PATCH_REQUEST_MAGIC &&
	       request->version == PATCH_REQUEST_VERSION &&
	       request->count <= PATCH_REQUEST_CHANGES &&
	       is_terminated(request->text, sizeof(request->text)) &&
	       is_terminated(request->path, sizeof(request->path)) &&
	       !(request->flags & ~PATCH_REQUEST_BREAKPOINT);
}

void patch_serve(int socket, struct patch_request *request, size_t length)
{
	if (!is_sound(request, length))
		fail(socket, -EPROTO,
		     "the program's libtrapline is of another version than this command");
	else if (request->operation == PATCH_APPLY)
		apply(socket, request);
	else if (request->operation == PATCH_REVERT)
		revert(socket, request->id);
	else if (request->operation == PATCH_LIST)
		list(socket);
	else
		fail(socket, -EPROTO, "the program does not know this operation");
}
