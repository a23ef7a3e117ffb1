/* SPDX-License-Identifier: Apache-2.0 */
#include "reader/mirror.h"

#include "module/modules.h"
#include "reader/protocol.h"
#include "session/asker.h"
#include "session/session.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE 4096u
#define PAGES 8u /* of the program's memory, kept while one question is answered */

struct kept_page {
	bool valid;
	uint64_t handle, address;
	uint8_t bytes[PAGE];
};

/* One thread; a wish may come from the handler of SIGSYS, but never while another is under way. */
static struct {
	struct symbol_session *session;
	uint64_t *page;
	struct symbol_packet packet;
	struct kept_page kept[PAGES];
	unsigned next;
} mirror;

static void ask_blame(const struct symbol_module *module)
{
	if (mirror.page)
		__atomic_store_n(mirror.page, module->id, __ATOMIC_RELAXED);
}

/* ---- wishes ----------------------------------------------------------------------------- */

/* Sends the wish in mirror.packet and leaves the grant there. Without its asker a reader has
 * nothing to live for. The grant begins with 0 or -errno, which is returned. */
static int grant(int *fd)
{
	int result = -EIO;

	if (symbol_packet_send(SYMBOL_READER_SOCKET, &mirror.packet, -1, NULL, NULL) ||
	    symbol_packet_receive(SYMBOL_READER_SOCKET, &mirror.packet, fd, NULL, NULL))
		_exit(0);
	symbol_packet_int(&mirror.packet, &result);
	return mirror.packet.bad ? -EIO : result;
}

static int granted_file(char **path)
{
	const char *name = NULL;
	int fd, err = grant(&fd);

	if (err)
		return err;
	if (path) {
		symbol_packet_text(&mirror.packet, &name);
		*path = name ? strdup(name) : NULL;
	}
	return fd < 0 ? -ENOENT : fd;
}

static int ask_module_file(const struct symbol_module *module, unsigned attempt, char **path)
{
	uint64_t id = module->id;

	symbol_packet_write(&mirror.packet, SYMBOL_WISH_MODULE_FILE);
	symbol_packet_u64(&mirror.packet, &id);
	symbol_packet_u32(&mirror.packet, &attempt);
	return granted_file(path);
}

static int ask_held_file(const struct symbol_module *module)
{
	int fd = ask_module_file(module, SYMBOL_FILE_HELD, NULL);

	return fd < 0 ? -1 : fd;
}

int symbol_mirror_path(const char *path)
{
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	symbol_packet_write(&mirror.packet, SYMBOL_WISH_PATH);
	symbol_packet_text(&mirror.packet, &path);
	return granted_file(NULL);
}

static void ask_present(const char *const *directories, size_t count, const char *name,
			bool *present)
{
	memset(present, 0, count * sizeof(*present));
	symbol_packet_write(&mirror.packet, SYMBOL_WISH_PRESENT);
	symbol_packet_text(&mirror.packet, &name);
	symbol_packet_count(&mirror.packet, &count, SYMBOL_PRESENT_MAX);
	for (size_t i = 0; i < count && !mirror.packet.bad; i++)
		symbol_packet_text(&mirror.packet, (const char **)&directories[i]);
	if (mirror.packet.bad || grant(NULL))
		return;
	for (size_t i = 0; i < count; i++)
		symbol_packet_bool(&mirror.packet, &present[i]);
}

static int ask_download(const struct symbol_build_id *id, char **path)
{
	const void *bytes = id->bytes;
	size_t length = id->length;

	symbol_packet_write(&mirror.packet, SYMBOL_WISH_DOWNLOAD);
	symbol_packet_bytes(&mirror.packet, &bytes, &length, SYMBOL_BUILD_ID_MAX);
	return granted_file(path);
}

static bool ask_mapping(uint64_t address, struct symbol_mapping *mapping)
{
	uint32_t use = 0;

	memset(mapping, 0, sizeof(*mapping));
	symbol_packet_write(&mirror.packet, SYMBOL_WISH_MAPPING);
	symbol_packet_u64(&mirror.packet, &address);
	if (grant(NULL))
		return false;
	symbol_packet_u64(&mirror.packet, &mapping->start);
	symbol_packet_u64(&mirror.packet, &mapping->end);
	symbol_packet_u32(&mirror.packet, &use);
	mapping->use = use;
	return !mirror.packet.bad;
}

/* ---- memory ----------------------------------------------------------------------------- */

static int read_part(uint64_t handle, uint64_t address, void *to, size_t length)
{
	const void *bytes;
	size_t got = 0;
	int err;

	symbol_packet_write(&mirror.packet, SYMBOL_WISH_MEMORY);
	symbol_packet_u64(&mirror.packet, &handle);
	symbol_packet_u64(&mirror.packet, &address);
	symbol_packet_count(&mirror.packet, &length, SYMBOL_MEMORY_MAX);
	err = grant(NULL);
	if (err)
		return err;
	symbol_packet_bytes(&mirror.packet, &bytes, &got, SYMBOL_MEMORY_MAX);
	if (mirror.packet.bad || got != length)
		return -EFAULT;
	memcpy(to, bytes, length);
	return 0;
}

static const struct kept_page *page_at(uint64_t handle, uint64_t address)
{
	struct kept_page *page;

	for (unsigned i = 0; i < PAGES; i++) {
		page = &mirror.kept[i];
		if (page->valid && page->handle == handle && page->address == address)
			return page;
	}
	page = &mirror.kept[mirror.next++ % PAGES];
	page->handle = handle;
	page->address = address;
	page->valid = read_part(handle, address, page->bytes, PAGE) == 0;
	return page->valid ? page : NULL;
}

/* What is short is taken from its page; a source that has no whole page is asked for the part. */
static int read_memory(void *context, uint64_t address, void *to, size_t length)
{
	uint64_t handle = (uint64_t)(uintptr_t)context, offset = address % PAGE;
	const struct kept_page *page = offset + length <= PAGE ? page_at(handle, address - offset)
							       : NULL;

	if (page) {
		memcpy(to, page->bytes + offset, length);
		return 0;
	}
	while (length > SYMBOL_MEMORY_MAX) {
		int err = read_part(handle, address, to, SYMBOL_MEMORY_MAX);

		if (err)
			return err;
		address += SYMBOL_MEMORY_MAX;
		to = (char *)to + SYMBOL_MEMORY_MAX;
		length -= SYMBOL_MEMORY_MAX;
	}
	return read_part(handle, address, to, length);
}

struct symbol_memory symbol_mirror_source_memory(void)
{
	return (struct symbol_memory){read_memory, (void *)SYMBOL_MEMORY_OF_SOURCE};
}

/* ---- modules ---------------------------------------------------------------------------- */

/* Lists come in the same order again and again: the search begins where the last one ended. */
static struct symbol_module *take_old(struct symbol_module_list *old, uint64_t id, size_t *hint)
{
	for (size_t i = 0; i < old->count; i++) {
		size_t at = (*hint + i) % old->count;
		struct symbol_module *module = old->module[at];

		if (module && module->id == id) {
			old->module[at] = NULL;
			*hint = at + 1;
			return module;
		}
	}
	return NULL;
}

static int add(struct symbol_modules *modules, const struct symbol_module *from,
	       struct symbol_module_list *old, size_t *hint)
{
	struct symbol_module *module = take_old(old, from->id, hint);

	if (!module) {
		module = symbol_module_create(mirror.session, from->path ? from->path : "",
					      &from->build_id);
		if (!module)
			return -ENOMEM;
		module->id = from->id;
		module->inode = from->inode;
		module->start = from->start;
		module->bias = from->bias;
		module->recorded = from->recorded;
		module->main = from->main;
		module->held = from->held;
	}
	module->end = from->end;
	module->deleted = from->deleted;
	module->gone = from->gone;
	module->bad = from->bad;
	if (symbol_module_append(module->gone ? &modules->gone : &modules->loaded, module) == 0)
		return 0;
	symbol_module_free(module);
	return -ENOMEM;
}

/* A part of the list, from the `at`th on. How many came, or -errno. */
static int pull_part(struct symbol_modules *modules, uint64_t at, struct symbol_module_list *old,
		     size_t *hint, bool *last)
{
	size_t count = 0;
	int err;

	symbol_packet_write(&mirror.packet, SYMBOL_WISH_MODULES);
	symbol_packet_u64(&mirror.packet, &at);
	err = grant(NULL);
	symbol_packet_u64(&mirror.packet, &modules->version);
	symbol_packet_bool(&mirror.packet, last);
	symbol_packet_count(&mirror.packet, &count, SYMBOL_PACKET_MAX);
	for (size_t i = 0; i < count && !err; i++) {
		struct symbol_module module = {0};

		symbol_packet_whole_module(&mirror.packet, &module);
		err = mirror.packet.bad ? -EIO : add(modules, &module, old, hint);
	}
	return err ? err : (int)count;
}

static int pull(struct symbol_modules *modules)
{
	struct symbol_module_list old[2] = {modules->loaded, modules->gone};
	struct symbol_module_list all = {0};
	size_t hint = 0;
	uint64_t at = 0;
	bool last = false;
	int got = 0;

	for (int i = 0; i < 2; i++)
		for (size_t j = 0; j < old[i].count; j++)
			if (symbol_module_append(&all, old[i].module[j]))
				_exit(1);
	memset(&modules->loaded, 0, sizeof(modules->loaded));
	memset(&modules->gone, 0, sizeof(modules->gone));
	while (!last && got >= 0) {
		got = pull_part(modules, at, &all, &hint, &last);
		at += got > 0 ? (unsigned)got : 0;
		if (got == 0)
			break;
	}
	for (size_t i = 0; i < all.count; i++)
		symbol_module_free(all.module[i]);
	free(all.module);
	free(old[0].module);
	free(old[1].module);
	return got < 0 ? got : 0;
}

struct symbol_modules *symbol_mirror_of(uint64_t id, uint64_t version, pid_t pid)
{
	struct symbol_modules *modules = symbol_modules_known(mirror.session, id);

	for (unsigned i = 0; i < PAGES; i++)
		mirror.kept[i].valid = false;
	if (!modules) {
		if (symbol_modules_recorded(mirror.session, &modules))
			return NULL;
		modules->id = id;
		modules->version = 0;
		modules->pid = pid;
		if (pid)
			modules->memory = (struct symbol_memory){read_memory,
								 (void *)SYMBOL_MEMORY_OF_MODULES};
	}
	return modules->version == version || pull(modules) == 0 ? modules : NULL;
}

static int ask_refresh(struct symbol_modules *modules)
{
	uint64_t version = modules->version;

	symbol_packet_write(&mirror.packet, SYMBOL_WISH_REFRESH);
	if (grant(NULL))
		return 0;
	symbol_packet_u64(&mirror.packet, &version);
	if (mirror.packet.bad || version == modules->version)
		return 0;
	return pull(modules) ? 0 : 1;
}

void symbol_mirror_forget(uint64_t id)
{
	symbol_modules_close(symbol_modules_known(mirror.session, id));
	symbol_modules_trim(mirror.session);
}

static const struct symbol_asker asker = {
	.refresh = ask_refresh,
	.mapping = ask_mapping,
	.blame = ask_blame,
	.held_file = ask_held_file,
	.module_file = ask_module_file,
	.download = ask_download,
	.present = ask_present,
};

void symbol_mirror_begin(struct symbol_session *session, uint64_t *page)
{
	mirror.packet.session = session;
	mirror.page = page;
	mirror.session = session;
	session->asker = &asker;
}
