/* SPDX-License-Identifier: Apache-2.0 */
/* A copy of a function's first instruction, which goes on in the function, does the same as that;
 * what works at its own place alone is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "graft/original.h"
#include "reader/open.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef long function(long x);

#define FUNCTION(name, code) \
	function name;       \
	__asm__(".text\n.globl " #name "\n.type " #name ",@function\n" #name ":\n" code "\n")

FUNCTION(marked, "endbr64\n lea 1(%rdi),%rax\n ret");
FUNCTION(plain, "mov %rdi,%rax\n add $2,%rax\n ret");
FUNCTION(pushed, "push %rbx\n lea 3(%rdi),%rax\n pop %rbx\n ret");
FUNCTION(address, "lea 1f(%rip),%r11\n mov (%r11),%rax\n add %rdi,%rax\n ret\n 1: .quad 4");
FUNCTION(low_address, "lea 1f(%rip),%rdx\n mov (%rdx),%rax\n add %rdi,%rax\n ret\n 1: .quad 5");
FUNCTION(jumped, "jmp 1f\n ud2\n 1: lea 6(%rdi),%rax\n ret");
FUNCTION(returned, "ret");
FUNCTION(loaded, "mov 1f(%rip),%rax\n add %rdi,%rax\n ret\n 1: .quad 7");
FUNCTION(stored, "incl 1f(%rip)\n ret\n 1: .quad 7");
FUNCTION(short_address, "lea 1f(%rip),%eax\n 1: ret");
FUNCTION(called, "call 1f\n ret\n 1: ret");
FUNCTION(called_through, "call *1f(%rip)\n ret\n 1: .quad 0");
FUNCTION(jumped_through, "jmp *1f(%rip)\n 1: .quad 0");
FUNCTION(branched, "jz 1f\n 1: ret");
FUNCTION(looped, "1: loop 1b\n ret");
FUNCTION(begun, "xbegin 1f\n 1: ret");
FUNCTION(no_code, ".byte 6\n ret");

static struct symbol_session *session;
static struct symbol_modules *modules;
static uint8_t *room;

static int set_up(void **state)
{
	const struct symbol_options options = {.size = sizeof(options)};

	(void)state;
	room = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	return room == MAP_FAILED || symbol_session_open(&session, &options) ||
	       symbol_modules_of_process(session, getpid(), &modules);
}

static int tear_down(void **state)
{
	(void)state;
	symbol_modules_close(modules);
	symbol_session_close(session);
	return munmap(room, 4096);
}

static int copy(function *from)
{
	struct graft_error error = {""};
	int err = graft_original_copy(modules, (uint64_t)(uintptr_t)from, room, &error);

	assert_int_equal(err != 0, error.text[0] != 0);
	return err;
}

static void copies_do_the_same(void **state)
{
	function *const all[] = {marked, plain, pushed, address, low_address, jumped};

	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		function *copied;

		assert_int_equal(copy(all[i]), 0);
		memcpy(&copied, &room, sizeof(copied));
		assert_int_equal(copied(100), 101 + i);
		assert_int_equal(all[i](100), 101 + i);
	}
	assert_int_equal(copy(returned), 0);
}

static void what_works_at_its_own_place_alone_is_refused(void **state)
{
	function *const all[] = {loaded,	 stored,   short_address, called, called_through,
				 jumped_through, branched, looped,	  begun,  no_code};

	(void)state;
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_not_equal(copy(all[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_do_the_same),
		cmocka_unit_test(what_works_at_its_own_place_alone_is_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
