/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A finding's stable id: a 64-bit hash of its kind and of the code places of its accesses, the same
 * whichever access comes first.
 *
 * A place is the best of these that is known, so that code which moves elsewhere in the source or
 * in the binary keeps its id:
 *
 *   function@file+N       debug information: N is the line counted from the function's own
 *   function#module+0xN   symbols only: N is the byte within the function
 *   function@file:N       debug information that lacks the function's line
 *   function#module       a name and nothing more
 *   module+0xN            stripped: N is the address within the module
 *   ?+0xN                 no module (generated code): N is the address within its page
 *
 * What is left out on purpose: directories (builds differ in them), a library's version suffix, the
 * build-id, the compiler's clone suffixes (.constprop.0), addresses under address-space
 * randomisation, the operation and the object (one racy line touches many objects). Frames of the C
 * library are passed over, because which variant of memcpy runs depends on the machine's CPU: the
 * place of such an access is its first caller outside. The id of a race in a stripped binary
 * changes with every rebuild that moves its code, and differs from the id of the same race in a
 * build with symbols: there is nothing in a stripped binary to tie them together. Frames of what
 * Trapline preloads are passed over, too: they stand in for the C library's.
 *
 * Of findings that count what single instructions did (is_by_instruction()) the instructions'
 * addresses within their modules, in the findings' order, are part of it: the store and the load
 * of one line, or the copies of one inlined function, have shares of their own, and what flows from
 * here to there is not what flows back.
 */
#include "record/finding.h"

#include "base/path.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PRELOADED "libtrapline-agent" /* and what follows: .so, -heap.so */

#define FNV_OFFSET UINT64_C(0xcbf29ce484222325) /* FNV-1a, 64 bits */
#define FNV_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * FNV_PRIME;
	return (hash ^ 0xff) *
	       FNV_PRIME; /* a byte no UTF-8 text has, so that fields cannot run together */
}

/* "libfoo.so.1.2" -> "libfoo.so"; anything else whole. */
static int module_length(const char *name)
{
	const char *suffix = strstr(name, ".so");

	if (suffix && (suffix[3] == '.' || !suffix[3]))
		return (int)(suffix + 3 - name);
	return (int)strlen(name);
}

size_t finding_function_length(const char *name)
{
	static const char *const suffixes[] = {".constprop.", ".isra.",	    ".part.",
					       ".cold",	      ".lto_priv.", ".llvm."};
	size_t length = strlen(name), i;

	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *found = strstr(name, suffixes[i]);

		if (found && found != name && (size_t)(found - name) < length)
			length = (size_t)(found - name);
	}
	return length;
}

static bool is_c_library(const struct finding_frame *frame)
{
	return path_is_c_library(frame->module) ||
	       (frame->module &&
		(!strcmp(frame->module, "[vdso]") ||
		 !strncmp(path_name(frame->module), PRELOADED, sizeof(PRELOADED) - 1)));
}

const struct finding_frame *finding_place_frame(const struct finding_access *access)
{
	size_t i;

	for (i = 0; i < access->stack.count; i++)
		if (!is_c_library(&access->stack.frames[i]))
			return &access->stack.frames[i];
	return access->stack.count ? &access->stack.frames[0] : NULL;
}

static void function_place(const struct finding_frame *frame, char *text, size_t size)
{
	const char *module = frame->module ? path_name(frame->module) : "?";
	const char *file = frame->file ? path_name(frame->file) : NULL;
	int length = (int)finding_function_length(frame->function);

	if (file && frame->line && frame->function_line)
		snprintf(text, size, "%.*s@%s%+d", length, frame->function, file,
			 (int)(frame->line - frame->function_line));
	else if (frame->function_offset >= 0 && !frame->inlined)
		snprintf(text, size, "%.*s#%.*s+0x%" PRIx64, length, frame->function,
			 module_length(module), module, (uint64_t)frame->function_offset);
	else if (file && frame->line)
		snprintf(text, size, "%.*s@%s:%u", length, frame->function, file, frame->line);
	else
		snprintf(text, size, "%.*s#%.*s", length, frame->function, module_length(module),
			 module);
}

void finding_place(const struct finding_access *access, char *text, size_t size)
{
	const struct finding_frame *frame = finding_place_frame(access);
	const char *module;

	if (!frame) {
		snprintf(text, size, "?");
	} else if (frame->function) {
		function_place(frame, text, size);
	} else if (frame->module) {
		module = path_name(frame->module);
		snprintf(text, size, "%.*s+0x%" PRIx64, module_length(module), module,
			 frame->offset);
	} else {
		snprintf(text, size, "?+0x%" PRIx64, frame->pc & 0xfff);
	}
}

static int compare_hashes(const void *first, const void *second)
{
	uint64_t a = *(const uint64_t *)first, b = *(const uint64_t *)second;

	return a < b ? -1 : a > b;
}

static bool is_by_instruction(const struct finding *finding)
{
	static const char *const kinds[] = {"flow-edge", "flow-step", "dead-store", "silent-store",
					    "redundant-load"};

	for (size_t i = 0; finding->kind && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(finding->kind, kinds[i]))
			return true;
	return false;
}

static uint64_t hash_instructions(uint64_t hash, const struct finding *finding)
{
	char text[24];

	for (size_t i = 0; i < finding->access_count; i++) {
		const struct finding_stack *stack = &finding->accesses[i].stack;
		const char *module = stack->count ? stack->frames[0].module : NULL;

		snprintf(text, sizeof(text), "+0x%" PRIx64,
			 stack->count ? stack->frames[0].offset : 0);
		hash = hash_text(hash_text(hash, module ? path_name(module) : "?"), text);
	}
	return hash;
}

/* What a kind without code places, or one about an object, is told apart by. */
static uint64_t hash_object(uint64_t hash, const struct finding *finding)
{
	char offset[24];

	if (finding->object.name && finding->kind && !strcmp(finding->kind, FINDING_HIT)) {
		snprintf(offset, sizeof(offset), "+%" PRIu64, finding->object.offset);
		hash = hash_text(hash_text(hash, finding->object.name), offset);
	}
	if (!finding->access_count && finding->message)
		hash = hash_text(hash, finding->message);
	return hash;
}

void finding_identify(struct finding *finding)
{
	uint64_t places[FINDING_ACCESSES_MAX] = {0};
	uint64_t hash = hash_text(FNV_OFFSET, finding->kind ? finding->kind : "");
	char place[4096], text[24];
	size_t i;

	for (i = 0; i < finding->access_count; i++) {
		finding_place(&finding->accesses[i], place, sizeof(place));
		places[i] = hash_text(FNV_OFFSET, place);
	}
	qsort(places, finding->access_count, sizeof(places[0]), compare_hashes);
	for (i = 0; i < finding->access_count; i++) {
		snprintf(text, sizeof(text), "%016" PRIx64, places[i]);
		hash = hash_text(hash, text);
	}
	hash = hash_object(hash, finding);
	if (is_by_instruction(finding))
		hash = hash_instructions(hash, finding);
	hash ^= hash >> 32; /* FNV's low bits mix least */
	hash *= UINT64_C(0xd6e8feb86659fd93);
	hash ^= hash >> 32;
	snprintf(finding->id, sizeof(finding->id), "%016" PRIx64, hash);
}
