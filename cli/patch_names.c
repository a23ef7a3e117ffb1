/* SPDX-License-Identifier: Apache-2.0 */
/* OLD=NEW: where the old function is in the process, and the new one in the fix. */
#include "cli/command.h"
#include "cli/patch.h"
#include "reader/open.h"
#include "record/utf8.h"
#include "symbol/copies.h"
#include "symbol/function_name.h"
#include "symbol/lookup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SHARED \
	"is the name of several functions; give the one's name as the symbol table has it (nm)"

struct names {
	struct symbol_session *session;
	struct symbol_modules *process; /* the program's modules */
	struct symbol_modules *fix;	/* the fix alone, at address 0 */
	bool anyway;
};

static int refuse(const char *name, const char *why)
{
	utf8_fprintf(stderr, "trapline: %s %s\n", name, why);
	return STATUS_FAILED;
}

/* Is it a name that several functions share, as overloads of C++ do? Which of them is found is
 * chance. Copies of one function, and static ones of C, have one name in the symbol table. */
static bool is_shared(struct symbol_modules *modules, const struct symbol_found *found)
{
	const char *first = NULL;

	for (unsigned i = 0; i < SYMBOL_OVERLOADS && found->overload[i]; i++) {
		const char *linkage = symbol_function_name(modules, found->overload[i]);
		size_t length = linkage ? strcspn(linkage, ".") : 0;

		if (linkage && first &&
		    (strcspn(first, ".") != length || strncmp(linkage, first, length) != 0))
			return true;
		first = first ? first : linkage;
	}
	return false;
}

/* ---- the old function ------------------------------------------------------------------- */

static int check_copies(const struct names *names, const struct symbol_found *found,
			const char *name)
{
	struct symbol_copies copies;

	if (symbol_copies_find(names->process, found->module, name, &copies))
		return 0;
	if (copies.indirect)
		return refuse(name, "is an IFUNC, a resolver that chooses one of several functions "
				    "at start; name the function that was chosen");
	if ((copies.inlined || copies.specialised) && !names->anyway) {
		if (copies.inlined)
			utf8_fprintf(
				stderr,
				"trapline: %s was inlined at %zu place%s, first in %s(), which "
				"would stay as they are; replace the functions around them as "
				"well, and give --anyway\n",
				name, copies.inlined, copies.inlined == 1 ? "" : "s",
				copies.inlined_in);
		else
			utf8_fprintf(
				stderr,
				"trapline: the compiler made variants of %s, such as %s, which "
				"would stay as they are; give --anyway to replace %s alone\n",
				name, copies.specialised_name, name);
		return STATUS_FAILED;
	}
	return 0;
}

/* The colon between a module or source file and a name, which may itself hold "::". */
static char *find_colon(char *text)
{
	for (char *at = text; (at = strchr(at, ':')); at += 2)
		if (at[1] != ':')
			return at;
	return NULL;
}

static int find_old(const struct names *names, char *text, uint64_t *address)
{
	char error[SYMBOL_ERROR_MAX], *end, *colon = find_colon(text);
	const char *name = colon ? colon + 1 : text;
	struct symbol_found found;
	int err;

	if (strncmp(text, "0x", 2) == 0) {
		*address = strtoull(text, &end, 16);
		return *end ? refuse(text, "is not an address") : 0;
	}
	if (colon)
		*colon = '\0';
	err = symbol_lookup(names->process, colon ? text : NULL, name, &found, error);
	if (err) {
		utf8_fprintf(stderr, "trapline: %s\n", error);
		return STATUS_FAILED;
	}
	if (!found.function)
		return refuse(name, "is a variable, not a function");
	if (is_shared(names->process, &found))
		return refuse(name, SHARED);
	*address = found.address;
	return check_copies(names, &found, name);
}

/* ---- the new one ------------------------------------------------------------------------ */

static int find_new(const struct names *names, const char *name, uint64_t *offset)
{
	char error[SYMBOL_ERROR_MAX];
	struct symbol_found found;

	if (symbol_lookup(names->fix, NULL, name, &found, error))
		return refuse(name, "is not a function of the fix");
	if (!found.function)
		return refuse(name, "is a variable of the fix, not a function");
	if (is_shared(names->fix, &found))
		return refuse(name, SHARED);
	*offset = found.address;
	return 0;
}

/* A pointer called original_OLD is told where the old function can still be called. */
static int find_original(const struct names *names, const char *old_name, uint64_t *offset)
{
	char error[SYMBOL_ERROR_MAX], name[256];
	struct symbol_found found;

	snprintf(name, sizeof(name), "original_%s", old_name);
	if (symbol_lookup(names->fix, NULL, name, &found, error))
		return 0;
	if (found.function || found.tls || (found.size && found.size != sizeof(void *)))
		return refuse(name, "of the fix is not a pointer");
	*offset = found.address;
	return 0;
}

static int open_fix(struct names *names, const char *fix, struct patch_request *request)
{
	struct symbol_module_record record = {.path = request->path};
	struct stat file;

	if (!realpath(fix, request->path) || stat(request->path, &file) ||
	    access(request->path, R_OK)) {
		utf8_fprintf(stderr, "trapline: %s cannot be read: %s\n", fix, strerror(errno));
		return STATUS_FAILED;
	}
	request->file_inode = file.st_ino;
	request->file_size = (uint64_t)file.st_size;
	record.end = record.start + request->file_size;
	if (symbol_modules_recorded(names->session, &names->fix) ||
	    symbol_modules_add(names->fix, &record))
		return refuse(fix, "is not a shared library");
	return 0;
}

/* ---- all of them ------------------------------------------------------------------------ */

static int open_process(struct names *names, pid_t pid)
{
	const struct symbol_options options = {.size = sizeof(options),
					       .reader = SYMBOL_READER_SELF};
	int err = symbol_session_open(&names->session, &options);

	if (!err)
		err = symbol_modules_of_process(names->session, pid, &names->process);
	if (!err)
		return 0;
	utf8_fprintf(stderr, "trapline: process %d cannot be looked at: %s\n", pid, strerror(-err));
	return STATUS_FAILED;
}

static int resolve_change(const struct names *names, char *text, struct patch_request *request)
{
	uint32_t i = request->count++;
	char *equals = strchr(text, '=');
	const char *colon = find_colon(text);
	size_t used = strlen(request->text);
	const char *old_name, *new_name;
	int status;

	snprintf(request->text + used, sizeof(request->text) - used, "%s%s", used ? " " : "", text);
	if (equals)
		*equals = 0;
	old_name = colon ? colon + 1 : text;
	new_name = equals ? equals + 1 : old_name;
	status = find_old(names, text, &request->change[i].old_address);
	if (!status)
		status = find_new(names, new_name, &request->change[i].new_file_offset);
	if (!status)
		status = find_original(names, old_name, &request->change[i].original_file_offset);
	return status;
}

int patch_resolve(pid_t pid, const char *fix, char **changes, int count, bool anyway,
		  struct patch_request *request)
{
	struct names names = {.anyway = anyway};
	int status;

	if (count > PATCH_REQUEST_CHANGES)
		return refuse(changes[PATCH_REQUEST_CHANGES], "is one function too many: at most "
							      "64 can be replaced at once");
	status = open_process(&names, pid);
	if (!status)
		status = open_fix(&names, fix, request);
	for (int i = 0; i < count && !status; i++)
		status = resolve_change(&names, changes[i], request);
	if (names.fix)
		symbol_modules_close(names.fix);
	if (names.process)
		symbol_modules_close(names.process);
	if (names.session)
		symbol_session_close(names.session);
	return status;
}
