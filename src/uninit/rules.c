/* SPDX-License-Identifier: Apache-2.0 */
#include "uninit/rules.h"

#include "base/path.h"
#include "base/text.h"

#include "libc/c_function.h"

#include <string.h>
#include <wchar.h>

bool uninit_is_library(const char *module)
{
	return path_is_c_library(module);
}

/* ------------------------------------------------------------------------------------------- */
/* The block is the allocator's */

static bool is_allocator_file(const char *module)
{
	static const char *const names[] = {"libjemalloc", "libtcmalloc", "libmimalloc",
					    "libtrapline", "libhoard",	  NULL};

	return module && text_begins_with_any(path_name(module), names);
}

/* The function's plain name, without what the library puts before it: __libc_free,
 * __GI___libc_realloc. */
static const char *plain_name(const char *function)
{
	static const char *const prefixes[] = {"_", "GI_", "libc_", NULL};

	return text_behind(function, prefixes);
}

static bool is_allocator_function(const struct tl_frame *frame)
{
	static const char *const stems[] = {"malloc",	      "calloc",	      "realloc",
					    "free",	      "cfree",	      "int_malloc",
					    "int_free",	      "int_realloc",  "int_memalign",
					    "memalign",	      "mid_memalign", "aligned_alloc",
					    "posix_memalign", "tcache",	      "arena",
					    "unlink_chunk",   "sysmalloc",    "systrim",
					    "valloc",	      "pvalloc",      NULL};

	return is_allocator_file(frame->module) ||
	       (uninit_is_library(frame->module) && frame->function &&
		text_begins_with_any(plain_name(frame->function), stems));
}

/*
 * Is the load the allocator's? It accesses links of free blocks and sizes, and realloc() copies a
 * block as a whole, written or not. From then on the block is another one, or none.
 */
static bool is_allocators(const struct rules_load *load)
{
	for (int i = 0; i < load->place.count; i++) {
		if (is_allocator_function(&load->place.frames[i]))
			return true;
		/* The first frame outside the library: the program made the access, or called what
		 * made it. */
		if (!uninit_is_library(load->place.frames[i].module))
			return false;
	}
	return false;
}

/* Is the load the dynamic linker's? It works on blocks that need not come from malloc(). */
static bool is_linkers(const struct rules_load *load)
{
	static const char *const names[] = {"ld-linux", "ld-2.", "ld-musl", NULL};

	return load->place.count && load->place.frames[0].module &&
	       text_begins_with_any(path_name(load->place.frames[0].module), names);
}

/* ------------------------------------------------------------------------------------------- */

static void hide(struct rules_verdict *verdict, const char *rule)
{
	if (!verdict->hidden)
		verdict->hidden = rule;
}

static void add_evidence(struct rules_verdict *verdict, const char *text)
{
	if (verdict->evidence_count < RULES_EVIDENCE)
		verdict->evidence[verdict->evidence_count++] = text;
}

void uninit_admit(const struct rules_load *load, struct rules_verdict *verdict)
{
	const struct tl_access *access = load->access;

	*verdict = (struct rules_verdict){.certainty = TL_POSSIBLE};
	if (is_allocators(load)) {
		verdict->over = true;
		hide(verdict, "hidden-allocator");
	}
	if (is_linkers(load))
		hide(verdict, "hidden-linker");
	/* Which instruction it was is not certain, or it was told late: a write may have come
	 * before it. */
	if (access->access & (TL_LATE | TL_GUESSED)) {
		verdict->over = true;
		hide(verdict, "hidden-guessed");
	}
	/* String functions load whole vectors. What is behind the terminator is not read in the
	 * language's sense. */
	if (access->traits & TL_TRAIT_BEYOND)
		hide(verdict, "hidden-beyond");
	/* The watches may have been armed too late. */
	if (load->unheld) {
		verdict->over = true;
		hide(verdict, "hidden-unheld");
	}
	/* Functions that begin with `push %rax`, which stores what means nothing (alignment.h),
	 * give that room back with a pop into a register of which nothing is expected. */
	if (load->popped)
		hide(verdict, "hidden-popped");
	/* The bytes belong to another frame by now, or to none. */
	if (load->gone) {
		verdict->over = true;
		hide(verdict, "hidden-frame-gone");
	}
	/* Somebody wrote there unseen: with all signals blocked, or by way of another mapping. */
	if (load->changed) {
		verdict->over = true;
		hide(verdict, "hidden-changed");
	}
}

static void weigh_sink(const struct shadow_found *found, struct rules_verdict *verdict)
{
	static const char *const text[] = {
		[SHADOW_SINK_BRANCH] = "a branch depends on the value",
		[SHADOW_SINK_TARGET] = "where a call, jump or return leads depends on the value",
		[SHADOW_SINK_ADDRESS] = "an address that is accessed depends on the value",
		[SHADOW_SINK_INDEX] = "an index of memory that is accessed depends on the value",
		[SHADOW_SINK_ARGUMENT] = "an argument of a system call depends on the value",
		[SHADOW_SINK_SENT] = "a system call passes the value to the outside",
	};

	add_evidence(verdict, text[found->sink]);
	if (!found->certain) {
		/* On another way through the code the value may not matter. */
		add_evidence(verdict,
			     "the thread may go another way than the one that was followed");
		verdict->certainty = TL_POSSIBLE;
	} else if (found->vague) {
		/* Of shuffles and their like only some bytes may come from those in question. */
		add_evidence(verdict, "some instruction on the way was not followed bit by bit");
		verdict->certainty = TL_POSSIBLE;
	} else {
		verdict->certainty = TL_DEFINITE;
	}
}

void uninit_judge(const struct rules_load *load, struct rules_verdict *verdict)
{
	uninit_admit(load, verdict);
	if (verdict->hidden)
		return;
	if (!load->found || !load->found->sink) {
		/* Copies of structures take their padding along, a bit-field's neighbours are
		 * loaded with it: correct programs do so all the time. */
		verdict->again = true;
		/* Comparisons by words branch on bytes behind a string's end, which then do not
		 * count; compilers evaluate conditions in another order than they stand in. Both
		 * ways were carried out (insn/shadow_meet.c). */
		if (load->found && load->found->alike)
			add_evidence(verdict, "a branch depends on the value, and both its ways "
					      "end alike");
		add_evidence(verdict, "the value was loaded; nothing was seen to depend on it yet");
		return;
	}
	weigh_sink(load->found, verdict);
	if (load->access->traits & TL_TRAIT_UNBOUNDED) {
		verdict->certainty = TL_POSSIBLE;
		add_evidence(verdict, "a string function of the C library may have loaded this "
				      "behind the end of what it reads");
	}
	/* That the bytes have not changed proves nothing: zeroes may have been written over zeroes,
	 * and a loop around fstat() reads the same into the same memory again. */
	if (load->unseen) {
		verdict->certainty = TL_POSSIBLE;
		add_evidence(verdict, load->unseen);
	}
	/* More may have happened between the copy and this load than was watched: the thread may
	 * have made another store than the one that was expected, and the memory may have got
	 * another owner unseen. */
	if (load->copied && !load->sure)
		verdict->certainty = TL_POSSIBLE;
	else if (load->copied && verdict->certainty == TL_DEFINITE)
		verdict->certainty = TL_LIKELY;
	if (load->copied)
		add_evidence(verdict, "the bytes were copied out of the block");
}

/* ------------------------------------------------------------------------------------------- */

unsigned uninit_writes_third(const char *function)
{
	static const char *const names[] = {"memset", "memcpy", "memmove", "mempcpy", NULL};
	static const char *const wide[] = {"wmemset", "wmemcpy", "wmemmove", "wmempcpy", NULL};

	if (text_begins_with_any(plain_name(function), wide))
		return sizeof(wchar_t);
	return text_begins_with_any(plain_name(function), names);
}

bool uninit_sets_third(const char *function)
{
	static const char *const names[] = {"memset", "wmemset", NULL};

	return text_begins_with_any(plain_name(function), names);
}

/* Of these functions the walk needs no code: they change nothing but the block they are handed, and
 * return nothing. */
bool uninit_gives_back(const char *function)
{
	static const char *const deletes[] = {"ZdlPv", "ZdaPv", NULL};
	const char *name = plain_name(function);

	return strcmp(name, "free") == 0 || strcmp(name, "cfree") == 0 ||
	       text_begins_with_any(name, deletes);
}

bool uninit_makes_block(const char *function)
{
	const char *name = plain_name(function);

	return strcmp(name, "malloc") == 0 || strcmp(name, "calloc") == 0 ||
	       strcmp(name, "aligned_alloc") == 0 || strcmp(name, "memalign") == 0;
}

bool uninit_ends_with(const char *function)
{
	const char *name = plain_name(function);

	return strcmp(name, "exit") == 0 || strcmp(name, "Exit") == 0;
}

bool uninit_has_names(const char *module)
{
	return uninit_is_library(module) || is_allocator_file(module);
}

/*
 * Three kinds of functions are answered for instead of being followed. String functions load more
 * than they are asked about, and what they do with the rest would look like a decision. The
 * allocator's work on memory is no use of the value, and behind free() or malloc() the program goes
 * on with what it has loaded. The dynamic linker binds a function at its first call, which takes
 * more instructions than any walk has.
 */
enum shadow_function uninit_function(const char *module, const char *function)
{
	static const char *const deadly[] = {"abort",
					     "exit",
					     "Exit",
					     "fatal",
					     "message",
					     "assert_fail",
					     "assert_perror_fail",
					     "fortify_fail",
					     "stack_chk_fail",
					     NULL};
	struct tl_frame frame = {.module = module, .function = function};

	if (is_allocator_function(&frame))
		return function && (uninit_gives_back(function) || uninit_makes_block(function))
			       ? SHADOW_SKIP
			       : SHADOW_END;
	if (!uninit_is_library(module) || !function)
		return SHADOW_FOLLOW;
	if (c_function_find(function))
		return SHADOW_SKIP;
	if (strncmp(plain_name(function), "dl_runtime_resolve", 18) == 0)
		return SHADOW_DETOUR;
	if (strncmp(plain_name(function), "dl_", 3) == 0)
		return SHADOW_END;
	if (text_begins_with_any(plain_name(function), deadly))
		return SHADOW_DIES;
	return SHADOW_FOLLOW;
}
