/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of frames that are gone, in C++: see cases.h. */
#include "cases.h"

#include <functional>
#include <stdexcept>
#include <vector>

namespace
{

/* A closure that has references to locals outlives them. */
std::function<long()> closure;

APART void leave_captured()
{
	volatile long local = (long)cases_sum + 1;

	closure = [&local]() __attribute__((noinline))
	{
		return (long)local;
	};
	work();
	cases_sum += (unsigned long)local;
}

APART void touch_closure()
{
	cases_sum += (unsigned long)closure();
}

void closure_rare()
{
	for (unsigned i = 0; again(); i++) {
		leave_captured();
		usleep(1000);
		if (i % 8 == 0)
			touch_closure();
	}
}

void closure_hot()
{
	while (again()) {
		leave_captured();
		for (int i = 0; i < 50; i++)
			touch_closure();
	}
}

/* A view of a buffer that is gone. */
struct view {
	const char *text;
	size_t length;
};

view *current;

APART void leave_view(unsigned number)
{
	char text[64];

	snprintf(text, sizeof(text), "request number %u of a client", number);
	current->text = text;
	current->length = strlen(text);
	work();
	cases_sum += (unsigned long)text[3];
}

APART void touch_view()
{
	const char *text = current->text;

	for (size_t i = 0; i < current->length; i++)
		cases_sum += (unsigned long)text[i];
}

void view_rare()
{
	current = new view;
	for (unsigned i = 0; again(); i++) {
		leave_view(i);
		usleep(1000);
		if (i % 8 == 0)
			touch_view();
	}
}

/* An object whose reference member refers to a local. */
struct holder {
	long &value;
};

std::vector<holder> *holders;

APART void leave_reference()
{
	long value = (long)cases_sum;

	holders->push_back(holder{value});
	work();
	cases_sum += (unsigned long)value;
}

APART void touch_reference()
{
	holders->back().value++;
}

void reference_rare()
{
	holders = new std::vector<holder>;
	for (unsigned i = 0; again(); i++) {
		holders->clear();
		leave_reference();
		usleep(1000);
		if (i % 8 == 0)
			touch_reference();
	}
}

/* A frame that an exception left. */
const long *pending;

APART void leave_thrown()
{
	long local[8];

	for (long i = 0; i < 8; i++)
		local[i] = i;
	pending = local;
	work();
	throw std::runtime_error("away");
}

APART void touch_pending()
{
	cases_sum += (unsigned long)((const volatile long *)pending)[3];
}

void exception_hot()
{
	while (again()) {
		try {
			leave_thrown();
		} catch (const std::runtime_error &) {
		}
		for (int i = 0; i < 200; i++)
			touch_pending();
	}
}

} // namespace

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {
		{"closure_rare", closure_rare},	  {"closure_hot", closure_hot},
		{"view_rare", view_rare},	  {"reference_rare", reference_rare},
		{"exception_hot", exception_hot}, {NULL, NULL}};

	return run_case(cases, argc, argv);
}
