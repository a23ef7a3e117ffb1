// SPDX-License-Identifier: Apache-2.0
// Names that begin or end like others, in a symbol table alone.
#include "names.h"

#define APART __attribute__((noinline, used))

namespace names
{
struct base {
	virtual ~base() = default;
	virtual int get(int number);
};

struct other {
	virtual ~other() = default;
	virtual int put(int number);
};

struct both : base, other {
	int put(int number) override; // with a thunk, since `other` is no first base
};

APART int base::get(int number)
{
	return number + 1;
}

APART int other::put(int number)
{
	return number + 2;
}

APART int both::put(int number)
{
	return number + 3;
}

APART int outer(int number)
{
	static volatile int calls;
	auto inner = [number](int more) __attribute__((noinline))
	{
		return number * more;
	};

	calls = calls + 1;
	return inner(calls) + inner(number);
}

APART int my_operator()
{
	return 7;
}

APART int overloaded(int number)
{
	return number;
}

APART int overloaded(const char *text)
{
	return *text;
}
} // namespace names

extern "C" uint64_t names_outer(void)
{
	names::both both;
	names::other *other = &both;

	return reinterpret_cast<uint64_t>(&names::outer) + (other->put(-3) != 0);
}

extern "C" uint64_t names_operator(void)
{
	return reinterpret_cast<uint64_t>(&names::my_operator);
}
