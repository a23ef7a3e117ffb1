/* SPDX-License-Identifier: Apache-2.0 */
/* What the C library accesses: what is told of it, and what is its own affair. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "race/rules.h"

struct library_row {
	const char *function, *entry;	/* of the first, in the C library */
	const char *function2, *entry2; /* of the second; NULL: the program's own */
	const char *memory;		/* whose file the data are of; NULL: heap */
	enum tl_certainty certainty;	/* 0: hidden */
};

#define LIBC "/lib/x86_64-linux-gnu/libc.so.6"
#define PROGRAM "/bin/program"

static const struct library_row library_rows[] = {
	/* What the program handed over is the program's, whoever accesses it. */
	{"_IO_default_xsputn", "snprintf", "_IO_default_xsputn", "snprintf", PROGRAM, TL_DEFINITE},
	{"_IO_default_xsputn", "snprintf", "_IO_default_xsputn", "snprintf", NULL, TL_DEFINITE},
	{"_IO_default_xsputn", "__snprintf", NULL, NULL, NULL, TL_DEFINITE},
	{"__strftime_internal", "strftime", "msort_with_tmp", "qsort", PROGRAM, TL_DEFINITE},
	{"__vfscanf_internal", "__isoc99_sscanf", NULL, NULL, PROGRAM, TL_DEFINITE},
	{NULL, "getdelim", NULL, NULL, NULL, TL_DEFINITE},
	{"__memcpy_avx_unaligned", "fread", "__memcpy_avx_unaligned", "fread", NULL, TL_DEFINITE},
	/* Streams are the library's own, and the locks of all. */
	{"_IO_fputs", "_IO_fputs", "_IO_new_file_xsputn", "fprintf", NULL, 0},
	{"_IO_fputs", "_IO_fputs", "_IO_putc", "_IO_putc", LIBC, 0},
	{"_IO_fgets", "fgets", "__vfscanf_internal", "__isoc99_fscanf", NULL, 0},
	{"_IO_fgets", "fgets", NULL, NULL, NULL, TL_DEFINITE},
	{"__lll_lock_wait_private", "fprintf", NULL, NULL, NULL, 0},
	{"___pthread_mutex_lock", "___pthread_mutex_lock", NULL, NULL, PROGRAM, 0},
	{"__new_sem_post", "__new_sem_post", NULL, NULL, PROGRAM, 0},
	{"futex_wait", "pthread_cond_wait", NULL, NULL, PROGRAM, 0},
	{NULL, "pthread_barrier_wait", NULL, NULL, PROGRAM, 0},
	{"_int_malloc", "malloc", NULL, NULL, NULL, 0},
	{"__GI___libc_malloc", "snprintf", NULL, NULL, NULL, 0},
	{"_dl_fixup", NULL, NULL, NULL, PROGRAM, 0},
	{"__run_exit_handlers", "exit", NULL, NULL, PROGRAM, 0},
	/* A block is given back while another thread uses it; free() knows no other one in use. */
	{"_int_free", "__libc_free", NULL, NULL, NULL, TL_DEFINITE},
	{NULL, "free", NULL, NULL, NULL, TL_DEFINITE},
	{"_int_free", NULL, NULL, NULL, NULL, TL_DEFINITE},
	{"_int_free", "realloc", "__strcpy_evex", "__strcpy_evex", NULL, TL_DEFINITE},
	{"_int_free", "__libc_free", "_IO_default_xsputn", "snprintf", NULL, 0},
	{"_int_free", "__libc_free", "_int_malloc", "malloc", NULL, 0},
	{"_int_free", "fclose", NULL, NULL, NULL, 0},
	{"_int_free", "__libc_free", NULL, NULL, LIBC, 0},
	/* Its own data: the program that reads them races, and functions of which one alone may
	   run. */
	{"__offtime", "localtime", NULL, NULL, LIBC, TL_DEFINITE},
	{"random", "rand_x", "random", "rand_x", LIBC, 0},
	{"_IO_default_xsputn", "asctime", "_IO_default_xsputn", "asctime", LIBC, TL_DEFINITE},
	{"__strcpy_evex", "__strcpy_evex", "_IO_default_xsputn", "asctime", LIBC, TL_DEFINITE},
	/* Results, attributes and ids that functions write for whom they are called by, … */
	{"posix_memalign", "posix_memalign", NULL, NULL, NULL, TL_DEFINITE},
	{NULL, "posix_memalign", NULL, NULL, PROGRAM, TL_DEFINITE},
	{"__new_sem_getvalue", "__new_sem_getvalue", NULL, NULL, NULL, TL_DEFINITE},
	{"_dl_addr", "dladdr", NULL, NULL, PROGRAM, TL_DEFINITE},
	{"_dl_addr", "dladdr", NULL, NULL, NULL, TL_DEFINITE},
	{"__pthread_create_2_1", "pthread_create", NULL, NULL, PROGRAM, TL_DEFINITE},
	{"__pthread_clockjoin_ex", "pthread_join", NULL, NULL, PROGRAM, TL_DEFINITE},
	{"__pthread_attr_setstacksize", NULL, NULL, NULL, NULL, TL_DEFINITE},
	{"__pthread_mutexattr_settype", NULL, NULL, NULL, NULL, TL_DEFINITE},
	{"__pthread_getaffinity_np", NULL, NULL, NULL, PROGRAM, TL_DEFINITE},
	{"sincos", "sincos", "sincos", "sincos", NULL, TL_DEFINITE},
	{"feholdexcept", "feholdexcept", NULL, NULL, NULL, TL_DEFINITE},
	{"__re_search_internal", "regexec", "__re_search_internal", "regexec", NULL, TL_DEFINITE},
	/* … and what is theirs in the same calls: blocks' headers, threads' descriptors, modules.
	 */
	{"_int_memalign", "posix_memalign", NULL, NULL, NULL, 0},
	{NULL, "posix_memalign", NULL, NULL, NULL, 0},
	{"__pthread_create_2_1", "pthread_create", NULL, NULL, NULL, 0},
	{"start_thread", NULL, "__pthread_clockjoin_ex", "pthread_join", NULL, 0},
	{"__pthread_key_create", NULL, NULL, NULL, LIBC, 0},
	{"pthread_mutex_getprioceiling", NULL, "___pthread_mutex_lock", NULL, PROGRAM, 0},
	/* A request and the helper that answers it. */
	{"handle_fildes_io", "start_thread", "aio_error", "aio_error", PROGRAM, 0},
	/* memcpy() within realloc() is what another thread may race with. */
	{"__memmove_evex_unaligned", "realloc", NULL, NULL, NULL, TL_DEFINITE},
};

static void test_whose_memory(void **state)
{
	struct tl_access load = {.access = TL_READ, .traits = TL_TRAIT_PLAIN, .length = 8};
	struct tl_access store = {.access = TL_WRITE, .traits = TL_TRAIT_PLAIN, .length = 8};

	(void)state;
	for (size_t i = 0; i < sizeof(library_rows) / sizeof(library_rows[0]); i++) {
		const struct library_row *row = &library_rows[i];
		struct rule_side first = {.access = &store,
					  .code = {LIBC, row->function, row->entry}};
		struct rule_side second = {.access = &load, .code = {PROGRAM, "f", NULL}};
		struct rule_meeting meeting = {.memory = row->memory};
		struct verdict verdict;

		if (row->function2)
			second.code = (struct rule_code){LIBC, row->function2, row->entry2};
		rules_judge(&first, &second, &meeting, &verdict);
		if (verdict.hidden != !row->certainty ||
		    (!verdict.hidden && verdict.certainty != row->certainty))
			fail_msg("row %zu, %s in %s: %d", i, row->function, row->entry,
				 verdict.hidden ? 0 : (int)verdict.certainty);
	}
}

/* It may load a word of the block in front, and not go by it. A count of references that reaches
 * zero lets it run. */
static void test_free_of_what_is_used(void **state)
{
	const struct rule_meeting unseen = {.memory = NULL}, in_order = {.first_seen = true};
	struct tl_access load = {.access = TL_READ, .traits = TL_TRAIT_PLAIN, .length = 8};
	struct tl_access store = {.access = TL_WRITE, .traits = TL_TRAIT_PLAIN, .length = 8};
	struct tl_access count = {.access = TL_READ | TL_WRITE | TL_ATOMIC, .length = 8};
	struct rule_side frees = {.access = &load, .code = {LIBC, "_int_free", "free"}};
	struct rule_side uses = {.access = &store, .code = {PROGRAM, "f", NULL}};
	struct verdict verdict;

	(void)state;
	rules_judge(&uses, &frees, &unseen, &verdict);
	assert_true(verdict.hidden);
	frees.access = &store;
	rules_judge(&uses, &frees, &unseen, &verdict);
	assert_false(verdict.hidden);
	assert_int_equal(verdict.certainty, TL_DEFINITE);
	rules_judge(&uses, &frees, &in_order, &verdict);
	assert_int_equal(verdict.certainty, TL_POSSIBLE);
	uses.access = &count;
	rules_judge(&uses, &frees, &in_order, &verdict);
	assert_true(verdict.hidden);
	assert_string_equal(verdict.rule, "hidden-released");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whose_memory),
		cmocka_unit_test(test_free_of_what_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
