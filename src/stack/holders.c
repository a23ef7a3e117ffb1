/* SPDX-License-Identifier: Apache-2.0 */
#include "stack/holders.h"

#include "memory/mapping.h"
#include "process/pagemap.h"

#include <string.h>
#include <unistd.h>

#define OUR_LIBRARY "/libtrapline-agent" /* and what follows */
#define WORD 8u
#define PART 65536u	       /* bytes that are read at once, at most */
#define SCAN_MOST (512u << 10) /* bytes that are read for one frame: about 0.1 ms */
#define SCAN_ONE (256u << 10)  /* of one mapping */
#define THREAD_TOP (16u << 10) /* of another thread's stack: where the C library keeps its data */
#define STACK_NEAR 2048	       /* bytes of the frames above the one that is gone */

struct scan {
	const struct holders_search *search;
	struct holder *to;
	unsigned found, max;
	uint64_t left; /* bytes that may be read yet */
	int pagemap;
};

static bool look_at_words(struct scan *scan, uint64_t from, uint64_t length, bool on_stack)
{
	static uint64_t words[PART / WORD]; /* one thread; large */
	const struct holders_search *search = scan->search;
	const uint64_t size = search->end - search->start;
	ssize_t got = space_read(search->space, from, words, length);

	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(words[0]); i++)
		if (words[i] - search->start < size && scan->found < scan->max)
			scan->to[scan->found++] =
				(struct holder){from + i * sizeof(words[0]), words[i], on_stack};
	return got == (ssize_t)length;
}

/* Reads the pages that are in memory. To read another page would create it, or wait for whoever the
 * program has fill it (userfaultfd(2), FUSE), which may be the very thread that is held. */
static bool look_at_part(struct scan *scan, uint64_t from, uint64_t length, bool on_stack)
{
	const uint64_t end = from + length, first = from / PAGEMAP_PAGE;
	const unsigned pages = (unsigned)((end - 1) / PAGEMAP_PAGE - first + 1);
	const uint64_t present = pagemap_present(scan->pagemap, from, pages);

	for (unsigned page = 0; page < pages; page++) {
		const unsigned run = page;
		uint64_t start = (first + run) * PAGEMAP_PAGE, stop;

		while (page < pages && present >> page & 1)
			page++;
		stop = (first + page) * PAGEMAP_PAGE;
		start = start < from ? from : start;
		stop = stop > end ? end : stop;
		if (page > run && !look_at_words(scan, start, stop - start, on_stack))
			return false;
	}
	return true;
}

static void look(struct scan *scan, uint64_t from, uint64_t length, bool on_stack)
{
	while (length >= WORD && scan->left && scan->found < scan->max) {
		uint64_t part = length < PART ? length : PART;

		if (!look_at_part(scan, from, part, on_stack))
			return;
		from += part;
		length -= part;
		scan->left -= part < scan->left ? part : scan->left;
	}
}

/* Is the mapping our own library's, which notes the program's registers and stacks, or the zeroed
 * memory behind it? */
static bool is_ours(const struct symbol_mappings *mappings, size_t at)
{
	const struct symbol_mapping *mapping = &mappings->mapping[at];

	if (mapping->use == SYMBOL_MAPPING_ANONYMOUS && at && mapping[-1].end == mapping->start)
		mapping--;
	return mapping->path && strstr(mapping->path, OUR_LIBRARY);
}

static bool has_stack(const struct symbol_mapping *mapping, uint64_t pointer)
{
	return pointer >= mapping->start && pointer < mapping->end;
}

/* Looks at a mapping; at a large one only a part, another one each time. */
static void look_at_mapping(struct scan *scan, const struct symbol_mapping *mapping)
{
	uint64_t start = mapping->start, length = mapping->end - start;
	uint64_t most = scan->left < SCAN_ONE ? scan->left : SCAN_ONE;

	if (mapping->use == SYMBOL_MAPPING_ANONYMOUS && length > THREAD_TOP &&
	    space_guarded(scan->search->space, start)) {
		start = mapping->end - THREAD_TOP;
		length = THREAD_TOP;
	}
	if (length > most) {
		uint64_t pages = (length - most) >> 12;

		start += (scan->search->chance % (pages + 1)) << 12;
		length = most;
	}
	look(scan, start, length, false);
}

/* Looks at writable private memory, except for the thread's own stack. */
static void look_at_use(struct scan *scan, const struct symbol_mappings *mappings, bool of_files)
{
	for (size_t i = 0; i < mappings->count && scan->left; i++) {
		const struct symbol_mapping *mapping = &mappings->mapping[i];
		bool named = mapping->use == SYMBOL_MAPPING_FILE ||
			     mapping->use == SYMBOL_MAPPING_BREAK;

		if (mapping->readable && mapping->writable && !mapping->shared &&
		    mapping->use != SYMBOL_MAPPING_KERNEL && named == of_files &&
		    !is_ours(mappings, i) && !has_stack(mapping, scan->search->stack))
			look_at_mapping(scan, mapping);
	}
}

static void find(struct scan *scan)
{
	const struct holders_search *search = scan->search;
	const struct symbol_mappings *mappings;
	uint64_t start, end, near;

	mappings = symbol_modules_mappings(space_modules(search->space));
	look_at_use(scan, mappings, true);
	look_at_use(scan, mappings, false);
	if (!space_mapping(search->space, search->stack, &start, &end))
		return;
	near = end - search->end < STACK_NEAR ? end - search->end : STACK_NEAR;
	scan->left = near;
	look(scan, (search->end + 7) & ~7ull, near, true);
}

unsigned holders_find(const struct holders_search *search, struct holder *to, unsigned max)
{
	struct scan scan = {search, to, 0, max, SCAN_MOST, pagemap_open(search->pid)};

	if (scan.pagemap < 0)
		return 0;
	find(&scan);
	close(scan.pagemap);
	return scan.found;
}
