/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every rule that hides an access to a guarded block, with its reason. What no rule hides is an
 * error for certain: nothing but the block's owner has business between its `front` and `back`, and
 * after it was freed nobody has.
 */
#include "heap/rules.h"

#include <string.h>

static struct heap_verdict hide(const char *rule)
{
	return (struct heap_verdict){.kind = HEAP_NO_ERROR, .rule = rule};
}

static bool is_read(const struct heap_access *access)
{
	return (access->access & (TL_READ | TL_WRITE)) == TL_READ;
}

/*
 * Code that looks for the end of something word by word, or 16 or 32 bytes at a time, may load what
 * lies behind it: an aligned load that begins inside the block crosses no page and changes nothing.
 * The C library's string functions do so; what they were asked about is known where the arguments
 * of the call tell it (TL_TRAIT_BEYOND, TL_TRAIT_BOUNDED), or is not (TL_TRAIT_UNBOUNDED). A word
 * of up to 8 bytes is what a member of a structure is loaded by, too, which may be larger than its
 * block: it counts where nothing becomes of what lies beyond (ahead.c).
 */
static bool loads_beyond(const struct tl_guarded *block, const struct heap_access *access)
{
	bool begins_inside = access->address >= block->address &&
			     access->address - block->address < block->length;

	return is_read(access) && begins_inside && (access->length >= 16 || access->is_too_much) &&
	       !(access->traits & (TL_TRAIT_UNALIGNED | TL_TRAIT_BOUNDED));
}

static bool overlaps(const struct heap_access *access, uint64_t from, uint64_t to)
{
	return access->address < to && access->address + access->length > from;
}

/* Of a load that trips several watches of a block one is told; what the call was asked about may be
 * wrong where another one is. It may be about a neighbour, and right. */
static bool is_asked_elsewhere(const struct tl_guarded *block, const struct heap_access *access)
{
	uint64_t end = block->address + block->length;

	if (!(access->traits & TL_TRAIT_BOUNDED))
		return false;
	if (block->freed)
		return overlaps(access, block->address, end);
	return overlaps(access, block->front, block->address) || overlaps(access, end, block->back);
}

/* Its masked loads are of 64 bytes wherever they stay in a page; the mask is overwritten by the
 * time of the trap, and its arguments alone do not tell how far it was to search. */
static bool is_by_strstr(const struct heap_access *access)
{
	return is_read(access) && access->function &&
	       strncmp(access->function, "__strstr_", 9) == 0;
}

/*
 * The kernel copies a path or another string from the program by whole words, up to the one in
 * which it ends. Which bytes a system call was asked about is known where its arguments tell it,
 * and then also whether they were read or written.
 */
static bool is_unbounded_copy(const struct heap_access *access)
{
	return (access->access & TL_KERNEL) &&
	       (access->access & (TL_READ | TL_WRITE)) == (TL_READ | TL_WRITE) &&
	       !(access->traits & TL_TRAIT_BOUNDED);
}

/*
 * Of a hit that was delivered late, or of a process that was gone before its code could be read,
 * the instruction is not known: it may as well be a load of a string function beyond what it was
 * asked about, or the kernel's copy of a path.
 */
static bool is_unknown(const struct heap_access *access)
{
	return access->access & TL_GUESSED && !(access->access & (TL_READ | TL_WRITE));
}

static struct heap_verdict judge_bounds(const struct tl_guarded *block,
					const struct heap_access *access)
{
	struct heap_verdict verdict = {.certainty = TL_DEFINITE};
	uint64_t end = block->address + block->length;

	if (is_unbounded_copy(access))
		return hide("heap-kernel-string");
	if (access->address < block->address)
		verdict.kind = HEAP_BEFORE;
	else if (access->address + access->length > end)
		verdict.kind = HEAP_AFTER;
	if (access->access & TL_GUESSED)
		verdict.certainty = TL_LIKELY;
	if (loads_beyond(block, access) || is_by_strstr(access) || is_unknown(access))
		verdict.certainty = TL_POSSIBLE;
	return verdict;
}

struct heap_verdict heap_judge(const struct tl_guarded *block, const struct heap_access *access)
{
	struct heap_verdict freed = {.kind = HEAP_USE_AFTER_FREE, .certainty = TL_DEFINITE};

	/* Patterns are filled in, and blocks are copied when they move, by our own code. */
	if (access->is_own_code)
		return hide("heap-own-code");
	/* A masked instruction trips where its mask is clear and it touches nothing; then nothing
	 * of it explains the trap, and the kernel is taken to have made the access where its
	 * accesses are seen. */
	if (access->traits & TL_TRAIT_UNEXPLAINED ||
	    ((access->access & TL_KERNEL) && !access->is_system_call))
		return hide("heap-masked");
	/* No load beyond the end of what was asked about crosses into a page that has none of it:
	 * of a freed block's own pages nothing may be loaded at all. */
	if (block->freed && block->on_pages && block->ended.time &&
	    access->time > block->ended.time)
		return freed;
	if (access->traits & TL_TRAIT_BEYOND && !is_asked_elsewhere(block, access))
		return hide("heap-loads-beyond");
	if (access->traits & TL_TRAIT_UNBOUNDED)
		return hide("heap-not-bounded");
	/* Of a sample nobody has asked how far a string function was to search: it loads up to four
	 * times 64 bytes more, and so what lies in the block behind its own. */
	if (access->is_sample && is_read(access) && access->length >= 16)
		return hide("heap-not-bounded");
	/* It may have been somebody else's memory then. */
	if (access->time < block->made.time)
		return hide("heap-before-birth");
	/* Without a time it is just being freed. */
	if (!block->freed || !block->ended.time || access->time <= block->ended.time)
		return judge_bounds(block, access);
	if (access->access & TL_GUESSED)
		freed.certainty = is_unknown(access) ? TL_POSSIBLE : TL_LIKELY;
	return freed;
}

/* Compilers put a dot and more behind the names of parts and clones of a function. */
static bool is_named(const char *name, const char *function)
{
	size_t length = strlen(function);

	return name && strncmp(name, function, length) == 0 &&
	       (!name[length] || name[length] == '.');
}

/*
 * The C library empties a thread's cache as that ends, and arenas as a process forks or ends, by
 * functions that no program calls (glibc, malloc/malloc.c and arena.c). In a file without names of
 * local functions one that another such one has called may be one of these; string functions, which
 * are local too, are called by others. A stack that ends within such a file says nothing.
 */
bool heap_is_allocators(const char *name, const char *caller, int inside, int count)
{
	static const char *const own[] = {
		"_int_malloc",	   "_int_free",
		"_int_realloc",	   "_int_memalign",
		"_int_free_chunk", "_int_free_merge_chunk",
		"unlink_chunk",	   "malloc_consolidate",
		"sysmalloc",	   "systrim",
		"heap_trim",	   "tcache_thread_shutdown",
		"tcache_init",	   "__malloc_arena_thread_freeres",
		"arena_get2",	   "__libc_thread_freeres",
		"malloc_printerr", "__malloc_fork_lock_parent",
		"mtrim",	   "int_mallinfo",
	};

	for (unsigned i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (is_named(name, own[i]) || is_named(caller, own[i]))
			return true;
	return !name && ((inside > 1 && !caller) || inside == count);
}

/*
 * A program or library with an operator new of its own that calls malloc(), and the common operator
 * delete, or the reverse, makes its pairs itself. Operators that no other file sees, of a file
 * without symbols, show themselves by what that does not take from other files. Accepted losses: a
 * file that takes one operator from others and hides another is told of; of one in which all of the
 * C++ library is linked nothing shows that it is C++, and it is told as likely.
 */
struct heap_mismatch heap_judge_mismatch(enum heap_operators maker, enum heap_operators freer)
{
	struct heap_mismatch verdict = {.certainty = TL_DEFINITE};

	if (maker == HEAP_OPERATORS_OWN || freer == HEAP_OPERATORS_OWN) {
		verdict.rule = "heap-own-operator";
	} else if (maker == HEAP_OPERATORS_PERHAPS || freer == HEAP_OPERATORS_PERHAPS) {
		verdict.certainty = TL_POSSIBLE;
		verdict.evidence = "a file of C++ without symbols, which takes no operator new or "
				   "delete from others, may have some of its own";
	} else if (maker == HEAP_OPERATORS_HARDLY || freer == HEAP_OPERATORS_HARDLY) {
		verdict.certainty = TL_LIKELY;
		verdict.evidence = "a file without symbols may have operators new and delete of "
				   "its own";
	}
	return verdict;
}
