/* SPDX-License-Identifier: Apache-2.0 */
#include "atomicity/language.h"

#include <dwarf.h>
#include <stddef.h>
#include <string.h>

/* Of the list that DWARF 6 goes on with (dwarfstd.org/languages.html), which compilers use before.
 */
enum { HIP = 0x29, CPP_17, CPP_20, C_17, CPP_23 = 0x3a, C_23 = 0x3e };

static bool is_any(int language, const int *languages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (languages[i] == language)
			return true;
	return false;
}

static bool is_c(int language)
{
	static const int languages[] = {DW_LANG_C89, DW_LANG_C,	  DW_LANG_C99,	  DW_LANG_C11, C_17,
					C_23,	     DW_LANG_UPC, DW_LANG_OpenCL, DW_LANG_ObjC};

	return is_any(language, languages, sizeof(languages) / sizeof(*languages));
}

static bool is_cpp(int language)
{
	static const int languages[] = {DW_LANG_C_plus_plus,
					DW_LANG_C_plus_plus_03,
					DW_LANG_C_plus_plus_11,
					DW_LANG_C_plus_plus_14,
					DW_LANG_ObjC_plus_plus,
					CPP_17,
					CPP_20,
					CPP_23,
					HIP};

	return is_any(language, languages, sizeof(languages) / sizeof(*languages));
}

bool symbol_language_is_rust(Dwarf_Die *unit)
{
	return dwarf_srclang(unit) == DW_LANG_Rust;
}

bool symbol_language_is_read(Dwarf_Die *unit)
{
	const int language = dwarf_srclang(unit);

	return is_c(language) || is_cpp(language) || language == DW_LANG_Rust;
}

bool symbol_language_hides_atomic(Dwarf_Die *unit)
{
	Dwarf_Half version = 0;

	return is_c(dwarf_srclang(unit)) &&
	       dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) == 0 &&
	       version < 5;
}

/* ------------------------------------------------------------------------------------------- */

static bool in_list(const char *word, size_t length, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == length && memcmp(*list, word, length) == 0)
			return true;
	return false;
}

/* Words of the languages that say nothing about atomicity, and names that every header defines. */
/* clang-format off */
static const char *const keywords[] = {"if", "else", "while", "for", "do", "switch", "case",
	"default", "return", "break", "continue", "goto", "sizeof", "int", "long", "short", "char",
	"unsigned", "signed", "float", "double", "void", "struct", "union", "enum", "const", "static",
	"extern", "register", "inline", "_Bool", "bool", "true", "false", "NULL", "nullptr", "this",
	"new", "delete", "auto", "restrict", "__restrict", "typeof", "__typeof__", "__attribute__",
	"__extension__", "static_cast", "reinterpret_cast", "const_cast", "throw", "try", "catch",
	"operator", "template", "typename", "class", "noexcept", "using", "namespace", "constexpr",
	"_Static_assert", "defined", "_Alignof", "size_t", "ssize_t", "int8_t", "int16_t", "int32_t",
	"int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "uintptr_t", "intptr_t", "va_arg",
	NULL};
static const char *const rust_keywords[] = { "unsafe", "let", "mut", "fn", "as", "match", "loop",
	"ref", "in", "pub", "impl", "self", "Self", "usize", "isize", "u8", "u16", "u32", "u64", "i8",
	"i16", "i32", "i64", "f32", "f64", "move", "crate", "super", "wrapping_add", "wrapping_sub",
	"addr_of", "addr_of_mut", NULL};
/* clang-format on */

bool symbol_language_keyword(const char *word, size_t length, bool rust_too)
{
	return in_list(word, length, keywords) ||
	       (rust_too && in_list(word, length, rust_keywords));
}

bool symbol_language_builtin(const char *word, size_t length)
{
	static const char prefix[] = "__builtin_";

	return word && length > strlen(prefix) && memcmp(word, prefix, strlen(prefix)) == 0 &&
	       !memmem(word, length, "atomic", 6) && !memmem(word, length, "ia32", 4);
}

/* clang-format off */
static const char *const inlined[] = {
	/* memory and strings */
	"memcpy", "memmove", "mempcpy", "memset", "memcmp", "memchr", "bzero", "bcopy", "bcmp",
	"strlen", "strnlen", "strcpy", "strncpy", "stpcpy", "stpncpy", "strcat", "strncat", "strcmp",
	"strncmp", "strcasecmp", "strncasecmp", "strchr", "strrchr", "index", "rindex", "strstr",
	"strspn", "strcspn", "strpbrk", "strdup", "strndup", "wmemcpy", "wmemset", "wcslen",
	/* streams: puts() and its kin are called in their place */
	"printf", "fprintf", "vprintf", "vfprintf", "sprintf", "snprintf", "puts", "fputs", "putchar",
	"fputc", "putc", "fwrite",
	/* numbers and characters */
	"abs", "labs", "llabs", "fabs", "fabsf", "fabsl", "sqrt", "sqrtf", "floor", "floorf", "ceil",
	"ceilf", "round", "roundf", "trunc", "truncf", "rint", "rintf", "nearbyint", "lrint", "lround",
	"fmin", "fminf", "fmax", "fmaxf", "fma", "copysign", "isnan", "isinf", "signbit", "ffs", "pow",
	"exp", "isalpha", "isdigit", "isspace", "isupper", "islower", "isalnum", "toascii", "toupper",
	"tolower", NULL};
/* clang-format on */

bool symbol_language_inlined(const char *word, size_t length)
{
	return in_list(word, length, inlined);
}
