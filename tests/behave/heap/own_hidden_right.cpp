// SPDX-License-Identifier: Apache-2.0
// A program with operators new and delete of its own that no other file sees, on malloc() and
// free(). What the C++ library has made with the common ones is deleted by these.
#include <cstdlib>
#include <new>
#include <sstream>
#include <string>
#include "mistakes.h"

// The compiler does not take an attribute for this, since the C++ library's header has no such one.
__asm__(".hidden _Znwm, _ZdlPv, _ZdlPvm");

void *operator new(size_t size)
{
	return checked(malloc(size));
}

void operator delete(void *block) noexcept
{
	free(block);
}

void operator delete(void *block, size_t) noexcept
{
	free(block);
}

static void of_the_library()
{
	for (int i = 0; i < 100; i++) {
		std::ostringstream stream;
		std::string text;

		stream << "a text of more than sixteen letters, number " << i;
		text = stream.str();
		text.append(static_cast<size_t>(i), 'x');
		require(text.size() > 40, "a length");
	}
}

static const test_case cases[] = {{"of_the_library", of_the_library}};

CASES_MAIN(cases)
