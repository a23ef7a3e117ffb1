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

bool library_is_atomics(const char *module)
{
	static const char *const names[] = {"libatomic.so.", NULL};

	return text_begins_with_any(path_name(module), names);
}

bool library_is(const char *module)
{
	static const char *const names[] = {"libm.so.", "libm-2.", "[vdso]", NULL};

	return path_is_c_library(module) || text_begins_with_any(path_name(module), names) ||
	       /* modules that iconv() loads */
	       library_is_runtime(module) || strstr(module, "/gconv/");
}

/* A function of glibc goes by its own name and by others: __GI_X, _IO_X, __libc_X, __new_X,
 * __isoc99_X. */
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
	"start_main", "start_call_main", "fork", "vfork", "rseq",
	/* requests that the library's helper threads answer; the program asks these functions
	 * whether they are done */
	"aio_", "lio_", "handle_fildes_io", "gai_", "getaddrinfo_a", NULL};

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

/* The dynamic symbol table has only the public names; _int_free() and its like stand in the full
 * one. */
static const char *const freeing_names[] = {"free",	"cfree",       "realloc", "reallocarray",
					    "int_free", "int_realloc", NULL};

bool library_gives_back(const char *function)
{
	return function && is_any(plain_name(function), freeing_names);
}

static const char *const attribute_stems[] = {"pthread_attr_",	      "pthread_mutexattr_",
					      "pthread_condattr_",    "pthread_rwlockattr_",
					      "pthread_barrierattr_", NULL};

/* Both kinds of memory that pthread_create() writes: the id that it hands back and the
 * descriptor that it fills in. */
static const char *const handed_stems[] = {
	/* threads */
	"pthread_create", "pthread_join", "pthread_tryjoin", "pthread_timedjoin",
	"pthread_clockjoin", "thrd_create", "thrd_join", "pthread_get", "pthread_set",
	"pthread_key_create", "tss_create", "pthread_sigmask",
	/* memory and modules */
	"posix_memalign", "mallinfo", "dladdr", "dl_addr", "dlinfo", "dl_iterate_phdr", NULL};

static const char *const results_stems[] = {"sem_getvalue",
					    "new_sem_getvalue",
					    "pthread_mutex_getprioceiling",
					    "pthread_getcpuclockid",
					    "pthread_key_create",
					    "tss_create",
					    "posix_memalign",
					    "dladdr",
					    "dl_addr",
					    "dlinfo",
					    NULL};

bool library_is_handed_alone(const char *function)
{
	return function && text_begins_with_any(plain_name(function), attribute_stems);
}

bool library_is_handed(const char *function)
{
	return function && (library_is_handed_alone(function) ||
			    text_begins_with_any(plain_name(function), handed_stems));
}

bool library_hands_back(const char *function)
{
	return function && text_begins_with_any(plain_name(function), results_stems);
}

/* Variants that are chosen by CPU contain the plain name (__memmove_avx_unaligned_erms). */
bool library_is_string(const char *function)
{
	static const char *const stems[] = {
		"mem",	 "str",	 "stp",	  "wcs", "wmem",   "wcp",    "bcopy",
		"bzero", "bcmp", "index", "ffs", "rindex", "rawmem", "explicit_bzero",
		NULL};

	if (!function)
		return false;
	/* Functions of streams contain such names, too: _IO_str_overflow(). */
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
		"wctomb", "mbtowc", "mblen", "iconv", "inet", "ether_", "ecvt_r", "fcvt_r",
		"qecvt_r", "qfcvt_r", "asprintf", "vasprintf", "c16rtomb", "c32rtomb", "a64l",
		"scanf", "vscanf", "fscanf", "vfscanf", "wscanf", "fwscanf", "vfwscanf", "vswscanf",
		"reg", "fnmatch", "glob", "wordexp", "wordfree", "confstr", "getsubopt", "argp_",
		"ns_", "res_n", "dn_", "printf_size", "parse_printf_format",
		/* arrays */
		"qsort", "bsearch", "lsearch", "lfind", "swab", "memccpy", "insque", "remque",
		"tsearch", "tfind", "tdelete", "twalk", "tdestroy", "hsearch_r", "hdestroy_r",
		"obstack_", "alphasort", "versionsort", "sched_",
		/* times */
		"localtime", "gmtime", "asctime", "ctime", "mktime", "timegm", "timelocal", "time",
		"clock_get", "gettimeofday", "timespec_get", "ftime",
		/* numbers */
		"rand_r", "random_r", "srandom_r", "initstate_r", "setstate_r", "drand48_r",
		"erand48", "lrand48_r", "nrand48", "mrand48_r", "jrand48", "srand48_r", "seed48_r",
		"lcong48_r", "frexp", "modf", "sincos", "remquo", "lgamma", "gamma_r", "nan",
		"canonicalize", "totalorder", "setpayload", "getpayload", "feget", "feset",
		"fehold", "feupdate",
		/* blocks and lines */
		"fread", "fgets", "fgetws", "getline", "getdelim", "gets", "read", "recv", "getcwd",
		"realpath", "getopt", "basename", "dirname", "sig", "setjmp", "longjmp", "argz_",
		"envz_", "crypt_r", "getpw", "getgr", "gethost", "getserv", "getproto", "getnet",
		"ttyname_r", "ptsname_r", "readdir_r", "hcreate_r", "getcontext", "makecontext",
		"cfmakeraw", "cfset", "cfget", "getaddrinfo", "freeaddrinfo", "getnameinfo",
		"getifaddrs", "freeifaddrs", "if_", "fgetpwent", "fgetgrent", "fgetspent", "getsp",
		"getsg", "getrpc", "getalias", "getmntent_r", "getut", "getloadavg",
		"getdomainname", "getrandom", "getentropy", "uname", "ftok", "ftw", "nftw",
		"scandir", "fts_", NULL};

	if (!function)
		return false;
	return library_is_string(function) || library_is_handed_alone(function) ||
	       library_hands_back(function) || text_begins_with_any(plain_name(function), stems);
}

bool library_reads_stream(const char *function)
{
	static const char *const stems[] = {"fread",	"fgets",     "fgetws",	 "getline",
					    "getdelim", "getwdelim", "gets",	 "fscanf",
					    "scanf",	"vscanf",    "vfscanf",	 "wscanf",
					    "fwscanf",	"vwscanf",   "vfwscanf", NULL};

	return function && text_begins_with_any(plain_name(function), stems);
}

/* POSIX marks these as not safe for threads: each works on one object that all its calls share. */
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
