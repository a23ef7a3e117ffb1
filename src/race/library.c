/* SPDX-License-Identifier: Apache-2.0 */
#include "race/library.h"

#include "base/path.h"
#include "base/text.h"

#include <stddef.h>
#include <string.h>

static bool is_any(const char *text, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(text, *names) == 0)
			return true;
	return false;
}

static const char *const runtimes[] = {"libpthread",  "ld-linux", "ld-2.",
				       "libtrapline", "libtsan",  NULL};

bool library_is_runtime(const char *module)
{
	return text_begins_with_any(path_name(module), runtimes);
}

bool library_is(const char *module)
{
	static const char *const names[] = {"libm.so.", "libm-2.", "[vdso]", NULL};

	return path_is_c_library(module) || text_begins_with_any(path_name(module), names) ||
	       library_is_runtime(module) || strstr(module, "/gconv/"); /* iconv()'s */
}

/* A function goes by its own name and others: __GI_X, _IO_X, __libc_X, __new_X, __isoc99_X. */
static const char *plain_name(const char *function)
{
	static const char *const prefixes[] = {"_",	  "GI_",     "IO_",   "libc_", "new_",
					       "isoc99_", "isoc23_", "vdso_", NULL};

	return text_behind(function, prefixes);
}

static const char *const internal_stems[] = {
	/* threads and what orders them */
	"pthread_", "sem_", "mtx_", "cnd_", "thrd_", "tss_", "call_once", "lll_", "nptl_",
	"condvar_", "futex", "start_thread", "clone", "setxid", "sighandler_setxid", "tls_get",
	"call_tls", "flockfile", "funlockfile", "lockfile", "unlockfile", "vm_lock", "vm_unlock",
	"synccall", "tl_lock", "tl_unlock",
	/* memory */
	"malloc", "calloc", "int_malloc", "int_free", "int_realloc", "int_memalign", "memalign",
	"mid_memalign", "aligned_alloc", "posix_memalign", "valloc", "pvalloc", "tcache", "arena",
	"unlink_chunk", "sysmalloc", "systrim", "heap", "ptmalloc", "alloc_new_heap",
	"reused_arena", "mallopt", "mallinfo", "morecore", "alloc_meta", "alloc_slot",
	"alloc_group", "nontrivial_free", "donate", "try_avail",
	/* the program's beginning and end, processes, modules */
	"dl", "rtld", "exit", "run_exit", "run_fork", "run_prefork", "run_postfork", "cxa_",
	"start_main", "start_call_main", "fork", "vfork", "rseq", NULL};

static const char *const internal_names[] = {"free", "cfree", "realloc",   "reallocarray",
					     "sbrk", "brk",   "lock",	   "unlock",
					     "wait", "wake",  "timedwait", NULL};

bool library_is_internal(const char *function)
{
	if (!function)
		return false;
	function = plain_name(function);
	return text_begins_with_any(function, internal_stems) || is_any(function, internal_names);
}

/* Variants chosen by CPU carry the plain name inside theirs (__memmove_avx_unaligned_erms). */
bool library_is_string(const char *function)
{
	static const char *const stems[] = {
		"mem",	 "str",	 "stp",	  "wcs", "wmem",   "wcp",    "bcopy",
		"bzero", "bcmp", "index", "ffs", "rindex", "rawmem", "explicit_bzero",
		NULL};

	if (!function)
		return false;
	/* Streams have functions like _IO_str_overflow(). */
	if (strncmp(function + strspn(function, "_"), "IO_", 3) == 0)
		return false;
	function = plain_name(function);
	return text_begins_with_any(function, stems) && strncmp(function, "memalign", 8) != 0;
}

bool library_works_for_caller(const char *function)
{
	static const char *const stems[] = {
		/* text, from values and to them */
		"snprintf", "vsnprintf", "sprintf", "vsprintf", "swprintf", "vswprintf", "sscanf",
		"vsscanf", "swscanf", "strto", "wcsto", "strf", "strp", "mbs", "wcs", "mbr", "wcr",
		"wctomb", "mbtowc", "mblen", "iconv", "inet_", "ether_", "ecvt_r", "fcvt_r",
		/* arrays */
		"qsort", "bsearch", "lsearch", "lfind", "swab", "memccpy", "insque", "remque",
		"tsearch", "tfind", "tdelete", "twalk", "hsearch_r",
		/* times */
		"localtime", "gmtime", "asctime", "ctime", "mktime", "timegm", "timelocal", "time",
		"clock_get", "gettimeofday", "timespec_get", "ftime",
		/* numbers */
		"rand_r", "random_r", "srandom_r", "initstate_r", "setstate_r", "drand48_r",
		"erand48", "lrand48_r", "nrand48", "mrand48_r", "jrand48", "srand48_r", "seed48_r",
		"frexp", "modf",
		/* blocks and lines */
		"fread", "fgets", "fgetws", "getline", "getdelim", "gets", "read", "recv", "getcwd",
		"realpath", "getopt", "basename", "dirname", "sig", "setjmp", "longjmp", "argz_",
		"envz_", "crypt_r", "getpw", "getgr", "gethost", "getserv", "getproto", "getnet",
		"ttyname_r", "readdir_r", "hcreate_r", NULL};

	if (!function)
		return false;
	return library_is_string(function) || text_begins_with_any(plain_name(function), stems);
}

/* POSIX marks them as not safe for threads: each works on an object of its own that all calls
 * share. */
static const char *const unsafe_names[] = {
	/* text and times */
	"asctime", "ctime", "getdate", "gmtime", "localtime", "basename", "dirname", "inet_ntoa",
	"l64a", "strerror", "strsignal", "strtok", "mblen", "mbtowc", "wctomb", "mbrlen", "mbrtowc",
	"wcrtomb", "mbsrtowcs", "wcsrtombs", "catgets", "nl_langinfo", "localeconv",
	/* numbers */
	"drand48", "srand48", "seed48", "lcong48", "lrand48", "mrand48", "rand", "ecvt", "fcvt",
	"gcvt", "lgamma", "crypt", "encrypt", "setkey",
	/* tables of the system */
	"endgrent", "endpwent", "getgrent", "getgrgid", "getgrnam", "gethostent", "gethostbyname",
	"gethostbyaddr", "getnetbyaddr", "getnetbyname", "getprotobyname", "getprotobynumber",
	"getpwent", "getpwnam", "getpwuid", "getservbyname", "getservbyport", "getutxent",
	"hcreate", "hdestroy", "hsearch", "setgrent", "setpwent",
	/* the process */
	"dlerror", "getenv", "secure_getenv", "getlogin", "getopt", "getopt_long",
	"getopt_long_only", "ptsname", "putenv", "readdir", "readdir64", "setenv", "unsetenv",
	"clearenv", "setlocale", "tmpnam", "ttyname", NULL};

bool library_is_unsafe(const char *function)
{
	return function && is_any(plain_name(function), unsafe_names);
}
