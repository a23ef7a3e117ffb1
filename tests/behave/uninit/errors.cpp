// SPDX-License-Identifier: Apache-2.0
// The same in C++: members that no constructor sets, containers that reserve.
#include "cases.h"

#include <memory>
#include <string>
#include <vector>

namespace
{

struct Shape {
	virtual ~Shape() = default;
	virtual int sides() const
	{
		return count;
	}
	int count;
	long name;
};

NOINLINE void no_constructor()
{
	Shape *shape = new Shape;

	HIDE(shape);
	shape->name = 1;
	HIDE(shape);
	if (shape->sides() == 3)
		touch();
	delete shape;
}

struct Base {
	int a;
	explicit Base(int value) : a(value)
	{
	}
};

struct Derived : Base {
	int b;
	Derived() : Base(1)
	{
	}
};

NOINLINE void derived_member()
{
	auto derived = std::make_unique<Derived>();
	Derived *plain = derived.get();

	HIDE(plain);
	if (plain->b > 4)
		touch();
}

NOINLINE void new_array()
{
	int *numbers = new int[12];

	HIDE(numbers);
	for (int i = 0; i < 12; i += 2)
		numbers[i] = 1;
	HIDE(numbers);
	int count = 0;
	for (int i = 0; i < 12; i++)
		if (numbers[i] == 1)
			count++;
	if (count == 7)
		touch();
	delete[] numbers;
}

NOINLINE void reserved_vector()
{
	for (int i = 0; i < 8; i++) {
		std::vector<long> numbers;

		numbers.reserve(4);
		long *data = numbers.data();
		HIDE(data);
		if (data[2] == 5)
			touch();
	}
}

NOINLINE void deleted_between()
{
	Derived *derived = new Derived;

	HIDE(derived);
	int b = derived->b;
	delete derived;
	if (b > 4)
		touch();
}

NOINLINE void enum_member()
{
	enum class Kind { None, One, Two };
	struct Token {
		std::string text;
		Kind kind;
	};
	Token *token = new Token;

	HIDE(token);
	if (token->kind == Kind::Two)
		touch();
	delete token;
}

struct Counter {
	long count;
	bool closed;
};

NOINLINE void captured_member()
{
	auto counter = std::unique_ptr<Counter>(new Counter);
	Counter *plain = counter.get();

	HIDE(plain);
	plain->count = 0;
	HIDE(plain);
	auto close = [plain] { return plain->closed ? 1 : 2; };
	if (close() == 1)
		touch();
}

/* A bit that is 0 in fresh memory. */
NOINLINE void ended_with()
{
	Counter *counter = new Counter;

	HIDE(counter);
	counter->closed = true;
	exit(counter->count & 0x80);
}

const struct row rows[] = {
	{"no_constructor", no_constructor},
	{"derived_member", derived_member},
	{"new_array", new_array},
	{"reserved_vector", reserved_vector},
	{"enum_member", enum_member},
	{"captured_member", captured_member},
	{"deleted_between", deleted_between},
	{"ended_with", ended_with},
};

} // namespace

RUN_CASES(rows)
