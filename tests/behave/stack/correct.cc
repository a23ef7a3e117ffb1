/* SPDX-License-Identifier: Apache-2.0 */
/* Correct C++ that looks like errors of stacks: nothing may be reported. */
#include "cases.h"

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace
{

const long *volatile pending;

APART long throws(int depth)
{
	long local[4] = {depth, 1, 2, 3};

	pending = local;
	if (!depth)
		throw std::runtime_error("away");
	return throws(depth - 1) + local[cases_sum % 4];
}

void exceptions()
{
	while (again()) {
		try {
			cases_sum += (unsigned long)throws(5);
		} catch (const std::runtime_error &error) {
			cases_sum += (unsigned long)error.what()[0];
		}
		pending = nullptr;
	}
}

APART void call(const std::function<void(long)> &function)
{
	for (long i = 0; i < 10; i++)
		function(i);
}

void closures()
{
	while (again()) {
		long sum = 0;

		call([&sum](long number) { sum += number; });
		cases_sum += (unsigned long)sum;
	}
}

struct node {
	node **where;
	long value;
	explicit node(node **to) : where(to), value(7)
	{
		*where = this;
	}
	~node()
	{
		*where = nullptr;
	}
};

node *registered;

APART void scoped(int depth)
{
	node own(&registered);

	if (depth)
		scoped(depth - 1);
	if (registered)
		cases_sum += (unsigned long)registered->value;
}

void registrations()
{
	while (again()) {
		scoped(3);
		if (registered)
			abort();
	}
}

void threads()
{
	while (again()) {
		long sums[4] = {0};
		std::vector<std::thread> pool;

		for (auto &sum : sums)
			pool.emplace_back([&sum] {
				for (int i = 0; i < 1000; i++)
					sum += i;
			});
		for (auto &thread : pool)
			thread.join();
		cases_sum += (unsigned long)sums[2];
	}
}

APART std::string compose(const std::string &first, const std::string &second)
{
	return first + ", " + second;
}

void strings()
{
	while (again())
		cases_sum += compose("short", std::string(12, 'x')).size();
}

} // namespace

int main(int argc, char **argv)
{
	static const struct one_case cases[] = {{"exceptions", exceptions},
						{"closures", closures},
						{"registrations", registrations},
						{"threads", threads},
						{"strings", strings},
						{NULL, NULL}};

	return run_case(cases, argc, argv);
}
