/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of locals that objects of the C++ library have */
#include "handed.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

/* Closure returned */
APART std::function<long(long)> leave_adder0()
{
	LOCAL long base[4];
	base[1] = (long)cases_sum + 1;
	HIDE(base[1]);
#if CORRECT == 2
	long value = base[1];
	return [value](long x) { return x + value; };
#else
	return [&](long x) { return x + ((volatile long *)base)[1]; };
#endif
}
APART void touch_adder0(std::function<long(long)> &f)
{
	cases_sum += (unsigned long)f(3);
}
void run_adder()
{
	while (again()) {
		auto f = leave_adder0();
		usleep(600);
		touch_adder0(f);
	}
}

/* String_view of a short string */
std::string_view view;
APART void touch_view()
{
	if (view.size())
		cases_sum += (unsigned char)view[2];
}
APART void leave_view()
{
	LOCAL std::string s = "abc";
	s += std::to_string(cases_sum % 100);
	view = s;
	work();
	FINISH(touch_view, view = {});
}
CASE(view, 900)

/* C_str() of a local string */
struct options {
	int level;
	const char *name;
};
options *opts = new options{};
APART void touch_name()
{
	if (opts->name)
		cases_sum += strlen(opts->name);
}
APART void leave_name()
{
	LOCAL std::string s;
	s = "n" + std::to_string(cases_sum % 100);
	opts->name = s.c_str();
	work();
	FINISH(touch_name, opts->name = nullptr);
}
CASE(name, 900)

/* Iterator into a local array */
std::array<int, 12>::iterator position;
APART void touch_position()
{
	if (position)
		cases_sum += (unsigned)*position;
}
APART void leave_position()
{
	LOCAL std::array<int, 12> a;
	for (int i = 0; i < 12; i++)
		a[(size_t)i] = i;
	HIDE(a[0]);
	position = a.begin() + 5;
	work();
	cases_sum += (unsigned)a[5];
	FINISH(touch_position, position = nullptr);
}
CASE(position, 1000)

/* A reference wrapper in an optional */
struct config {
	long v[5];
};
std::optional<std::reference_wrapper<config>> current;
APART void touch_wrapped()
{
	if (current)
		cases_sum += (unsigned long)((volatile config &)current->get()).v[3];
}
APART void leave_wrapped()
{
	LOCAL config c;
	for (int i = 0; i < 5; i++)
		c.v[i] = i;
	HIDE(c.v[0]);
	current = c;
	work();
	FINISH(touch_wrapped, current.reset());
}
CASE(wrapped, 1000)

/* Observers in a vector */
struct observer {
	long first = 0;
	APART void notify()
	{
		touch_base();
	}
	APART void touch_base()
	{
		cases_sum += (unsigned long)first;
	}
};
std::vector<observer *> observers;
struct counter : observer {
	long n = 0;
	long pad[3];
	void touch_notify()
	{
		n++;
	}
};
APART void touch_observers()
{
	for (auto *o : observers)
		o->notify();
}
APART void leave_observers()
{
	LOCAL counter c;
	observers.clear();
	observers.push_back(&c);
	work();
	cases_sum += (unsigned long)c.n;
	FINISH(touch_observers, observers.clear());
}
CASE(observers, 1000)

/* A map of views */
std::map<int, const std::string *> *names = new std::map<int, const std::string *>;
APART void touch_map()
{
	for (auto &e : *names)
		cases_sum += e.second->size();
}
APART void leave_map()
{
	LOCAL std::string s = "key";
	(*names)[(int)(cases_sum % 3)] = &s;
	work();
	cases_sum += s.size();
	FINISH(touch_map, names->clear());
}
CASE(map, 1000)

/* A thread with a closure by reference */
APART std::thread leave_thread0()
{
	LOCAL long values[6];
	for (int i = 0; i < 6; i++)
		values[i] = i;
#if CORRECT == 2
	std::array<long, 6> copy;
	for (size_t i = 0; i < 6; i++)
		copy[i] = values[i];
	return std::thread([copy] {
		usleep(2000);
		for (int i = 0; i < 20; i++) {
			cases_sum += (unsigned long)copy[2];
			usleep(500);
		}
	});
#else
	long *v0 = values;
	(void)v0;
	auto &ref = *reinterpret_cast<long(*)[6]>(v0);
	return std::thread([&ref] {
		struct in {
			APART static void touch_values(volatile long *v)
			{
				usleep(2000);
				for (int i = 0; i < 20; i++) {
					cases_sum += (unsigned long)v[2];
					usleep(500);
				}
			}
		};
		in::touch_values(ref);
	});
#endif
}
void run_thread()
{
	while (again()) {
		std::thread t = leave_thread0();
		for (int i = 0; i < 10; i++)
			usleep(1500);
		t.join();
	}
}

/* Left by an exception */
const config *thrown;
APART void touch_thrown()
{
	if (thrown)
		cases_sum += (unsigned long)((volatile const config *)thrown)->v[4];
}
APART void touch_deep0(int n)
{
	volatile long pad[4];
	pad[0] = n;
	if (n)
		touch_deep0(n - 1);
	else
		touch_thrown();
	pad[1] = pad[0];
}
APART void leave_thrown()
{
	LOCAL config c;
	for (int i = 0; i < 5; i++)
		c.v[i] = i;
	thrown = &c;
	work();
#if CORRECT == 2
	touch_deep0(2);
	thrown = nullptr;
#endif
	throw 1;
}
void run_thrown()
{
	for (unsigned i = 0; again(); i++) {
		try {
			leave_thrown();
		} catch (int) {
		}
		usleep(900);
		if (i % 5 == 0)
			touch_deep0(2);
	}
}

/* A span-like class with two pointers, moved into a member */
struct span {
	const int *b, *e;
};
struct holder {
	span s;
	void set(span x)
	{
		s = x;
	}
};
holder *hold = new holder{};
APART void touch_span()
{
	for (const int *p = hold->s.b; p != hold->s.e; ++p)
		cases_sum += (unsigned)*p;
}
APART void leave_span()
{
	LOCAL int a[7];
	for (int i = 0; i < 7; i++)
		a[i] = i + (int)(cases_sum % 9);
	hold->set({a, a + 7});
	work();
	cases_sum += (unsigned)a[3];
	FINISH(touch_span, hold->set({nullptr, nullptr}));
}
CASE(span, 1000)

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {{"adder", run_adder},
						{"view", run_view},
						{"name", run_name},
						{"position", run_position},
						{"wrapped", run_wrapped},
						{"observers", run_observers},
						{"map", run_map},
						{"thread", run_thread},
						{"thrown", run_thrown},
						{"span", run_span},
						{NULL, NULL}};
	return run_case(cases, argc, argv);
}
