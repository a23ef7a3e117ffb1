/* SPDX-License-Identifier: Apache-2.0 */
#include "dwarf/atomic_names.h"

#include <string.h>

static bool starts_with(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* libstdc++ (bits/atomic_base.h, atomic), libc++ (__atomic/), MSVC's STL names are the same;
 * Boost.Atomic; Rust (library/core/src/sync/atomic.rs); crossbeam; folly. */
static const char *const type_prefixes[] = {
	"atomic<",
	"atomic_ref<",
	"__atomic_base<",
	"__atomic_float<",
	"__atomic_ref<",
	"__atomic_flag_base",
	"__cxx_atomic_impl<",
	"__cxx_atomic_base_impl<",
	"__atomic_semaphore",
	"AtomicBool",
	"AtomicI",
	"AtomicU",
	"AtomicPtr<",
	"AtomicCell<",
	"__atomic_base",
};

static const char *const type_names[] = {"atomic_flag", "__atomic_flag_base", "atomic_bool",
					 "atomic_t", "atomic64_t"};

bool symbol_atomic_type_name(const char *name)
{
	const char *colon;

	/* Without the scopes of its own name; those of template arguments come after a '<'. */
	while ((colon = strstr(name, "::")) && (!strchr(name, '<') || colon < strchr(name, '<')))
		name = colon + 2;
	for (size_t i = 0; i < sizeof(type_prefixes) / sizeof(type_prefixes[0]); i++)
		if (starts_with(name, type_prefixes[i]))
			return true;
	for (size_t i = 0; i < sizeof(type_names) / sizeof(type_names[0]); i++)
		if (strcmp(name, type_names[i]) == 0)
			return true;
	return false;
}

/*
 * Functions, by prefix. C++: the members of the types above, free functions of <atomic>,
 * libstdc++'s reference counting (ext/atomicity.h). Rust: core and std's atomics. Concurrency Kit:
 * ck_pr.h. liburcu: uatomic.h. GCC's and LLVM's out-of-line atomics (__atomic_load_8,
 * __aarch64_cas4_relax).
 */
static const char *const function_prefixes[] = {
	"libat_", /* of libatomic, which may be linked in */
	"std::atomic",
	"std::__atomic",
	"std::__1::atomic",
	"std::__1::__atomic",
	"std::__1::__cxx_atomic",
	"std::__cxx_atomic",
	"boost::atomics::",
	"core::sync::atomic::",
	"std::sync::atomic::",
	"portable_atomic::",
	"crossbeam_utils::atomic::",
	"__gnu_cxx::__exchange_and_add",
	"__gnu_cxx::__atomic_add",
	"__exchange_and_add",
	"__atomic_add",
	"ck_pr_",
	"uatomic_",
	"_uatomic_",
	"cmm_",
	"__atomic_",
	"__sync_",
	"__aarch64_cas",
	"__aarch64_ldadd",
	"__aarch64_swp",
	"__aarch64_ldclr",
	"__aarch64_ldset",
	"__aarch64_ldeor",
	"g_atomic_",
	"AO_",
	"arch_atomic",
	"raw_atomic",
	"OSAtomic",
	"pg_atomic_",
	"apr_atomic_",
	"rte_atomic",
};

/* What stands in the names of C11's operations, of Linux's, and of those made after them. */
/* clang-format off */
static const char *const operation_words[] = {"load", "store", "read", "set", "get", "exchange", "xchg",
	"swap", "compare", "cmpxchg", "cmp", "cas", "try", "strong", "weak", "explicit", "fetch", "add",
	"sub", "inc", "dec", "and", "or", "xor", "andnot", "not", "nand", "neg", "max", "min", "test",
	"flag", "clear", "thread", "signal", "fence", "init", "return", "nv", "unless", "negative",
	"positive", "zero", "acquire", "release", "relaxed", "acq", "rel", "relax", "seq", "cst", "mb",
	"full", "nofence", "barrier", "bit", "bool", "char", "short", "int", "uint", "long", "ulong",
	"ll", "llong", "ullong", "ptr", "pointer", "size", "sz", "u8", "u16", "u32", "u64", "i8", "i16",
	"i32", "i64", "s32", "s64", "8", "16", "32", "64", "128", "n", "4", "1", "2", "val", "if",
	"consume", NULL};
/* clang-format on */

/* "atomic_fetch_add_explicit" and "atomic_dec_and_test", but not "atomic_write_config": each word
 * is one of theirs. Anybody may name a function so. */
static bool is_operation_name(const char *name)
{
	static const char prefix[] = "atomic_";

	if (!starts_with(name, prefix))
		return false;
	for (const char *word = name + strlen(prefix);; word++) {
		size_t length = strcspn(word, "_(<");
		const char *const *known = operation_words;

		while (*known && !(strlen(*known) == length && memcmp(*known, word, length) == 0))
			known++;
		if (!*known)
			return false;
		word += length;
		if (*word != '_')
			return true;
	}
}

/* "int std::atomic_load<int>(…)", "<core::sync::atomic::AtomicU32 as …>": the return type of a
 * template and the angle bracket come first. */
bool symbol_atomic_function_name(const char *name)
{
	const char *space = strchr(name, ' ');

	while (*name == '<' || *name == '&')
		name++;
	if (is_operation_name(name) || (space && is_operation_name(space + 1)))
		return true;
	for (size_t i = 0; i < sizeof(function_prefixes) / sizeof(function_prefixes[0]); i++) {
		if (starts_with(name, function_prefixes[i]))
			return true;
		if (space && starts_with(space + 1, function_prefixes[i]))
			return true;
	}
	return false;
}

/* libstdc++'s std::shared_ptr (bits/shared_ptr_base.h): its counts are ints, which it looks at and
 * clears without an atomic operation where no other thread can have them. The pointers around them
 * are ordinary members. */
bool symbol_atomic_counting(const char *name)
{
	return starts_with(name, "std::_Sp_counted_base<");
}

static const char *const word_prefixes[] = {
	"atomic_",
	"__atomic_",
	"__c11_atomic_",
	"__sync_",
	"ck_pr_",
	"uatomic_",
	"g_atomic_",
	"__hip_atomic",
	"__opencl_atomic",
	"AO_",
	"pg_atomic_",
	"apr_atomic_",
	"OSAtomic",
	"Interlocked",
	"_Interlocked",
	"arch_atomic",
	"raw_atomic",
	"rte_atomic",
	"__exchange_and_add",
	"rcu_",
	"cds_",
	"urcu_",
	"cmm_",
	"CMM_",
	"hatomic_",
};

static const char *const words[] = {
	"_Atomic",	     "READ_ONCE", "WRITE_ONCE",	  "ACCESS_ONCE", "smp_load_acquire",
	"smp_store_release", "LOAD_ONCE", "STORE_ONCE",	  "atomic",	 "Atomic",
	"std_atomic",	     "volatile",  "__volatile__", "__volatile",	 "memory_order",
	"Ordering",	     "cmpxchg",	  "xchg",	  "xadd",	 "compare_and_swap",
};

static bool word_in(const char *word, size_t length, const char *const *list, size_t count,
		    bool prefix)
{
	for (size_t i = 0; i < count; i++) {
		size_t size = strlen(list[i]);

		if ((prefix ? length >= size : length == size) && memcmp(word, list[i], size) == 0)
			return true;
	}
	return false;
}

#define IN(list, prefix) word_in(word, length, list, sizeof(list) / sizeof((list)[0]), prefix)

bool symbol_atomic_word(const char *word, size_t length)
{
	return IN(word_prefixes, true) || IN(words, false);
}

bool symbol_opaque_word(const char *word, size_t length)
{
	static const char *const assembly[] = {"asm", "__asm__", "__asm", "llvm_asm", "global_asm"};

	return IN(assembly, false);
}

bool symbol_atomic_method(const char *word, size_t length)
{
	static const char *const prefixes[] = {"fetch_", "compare_exchange", "compare_and_",
					       "load_", "store_"};
	static const char *const methods[] = {"load",	  "store",	   "swap",
					      "exchange", "test_and_set",  "clear",
					      "test",	  "read_volatile", "write_volatile"};

	return IN(prefixes, true) || IN(methods, false);
}

bool symbol_atomic_file(const char *path)
{
	static const char *const tails[] = {
		"/atomic",
		"/bits/atomic_base.h",
		"/ext/atomicity.h",
		"/stdatomic.h",
		"/sync/atomic.rs",
		"/bits/atomic_wait.h",
		"/ck_pr.h",
		"/urcu/uatomic.h",
		"/uatomic/generic.h",
		"/urcu/arch.h",
		"/intrin-impl.h",
		"/bits/shared_ptr_atomic.h",
		"/cxx_atomic_impl.h",
		"/atomic_ops.h",
		"/atomic_base.h",
	};
	static const char *const parts[] = {"/gcc/x86_64/ck_pr", "/urcu/uatomic/", "/__atomic/",
					    "/boost/atomic/"};
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		size_t size = strlen(tails[i]);

		if (length >= size && strcmp(path + length - size, tails[i]) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(path, parts[i]))
			return true;
	return false;
}
