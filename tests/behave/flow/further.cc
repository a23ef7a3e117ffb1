/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As further.c, in C++.
 *
 * usage: further CASE SECONDS
 */
#include "kinds.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <sstream>
#include <utility>
#include <variant>
#include <vector>

/* sorted by the standard library's own code */
struct entry {
	uint64_t key, value;
};
static std::vector<entry> entries;

static APART void fill_entries()
{
	entries.clear();
	for (uint64_t i = 0; i < 24; i++)
		entries.push_back({i * 11 % 24, i * 11 % 24 == 7 ? made : decoy + i});
}

static APART void sort_entries()
{
	std::sort(entries.begin(), entries.end(),
		  [](const entry &a, const entry &b) { return a.key < b.key; });
}

static APART void finish_sorted()
{
	result = entries[7].value;
}

static void through_sort()
{
	fill_entries();
	sort_entries();
	finish_sorted();
}

/* a queue, through whose blocks the elements wander */
struct job {
	bool ours;
	uint64_t value;
};
static std::deque<job> jobs;
static uint64_t others;

static APART void submit_all()
{
	jobs.push_back({false, decoy});
	jobs.push_back({true, made});
	jobs.push_back({false, decoy + 1});
}

static APART void finish_job(const job &next)
{
	result = next.value;
}

static APART void finish_other(const job &next)
{
	others += next.value;
}

static APART void work_all()
{
	for (; !jobs.empty(); jobs.pop_front())
		if (jobs.front().ours)
			finish_job(jobs.front());
		else
			finish_other(jobs.front());
}

static void through_jobs()
{
	submit_all();
	work_all();
}

/* one of several types, that a visitor looks at */
struct circle {
	uint64_t radius;
};
struct square {
	uint64_t side, colour;
};
static std::variant<circle, square> shapes[3];
static uint64_t seen;

static APART void make_shapes()
{
	shapes[0] = circle{decoy};
	shapes[1] = square{made, decoy};
	shapes[2] = circle{decoy + 1};
}

struct visitor {
	void operator()(const circle &shape) const
	{
		others = shape.radius;
	}
	void operator()(const square &shape) const
	{
		seen = shape.side;
	}
};

static APART void visit_all()
{
	for (const auto &shape : shapes)
		std::visit(visitor(), shape);
}

static APART void finish_seen()
{
	result = seen;
}

static void through_visit()
{
	make_shapes();
	visit_all();
	finish_seen();
}

/* printed and read by streams */
static std::string text;
static uint64_t number;

static APART void print_number()
{
	std::ostringstream stream;

	stream << "n=" << made << ' ' << decoy;
	text = stream.str();
}

static APART void parse_number()
{
	std::istringstream stream(text.substr(2));

	stream >> number;
}

static APART void finish_number()
{
	result = number;
}

static void through_stream()
{
	print_number();
	parse_number();
	finish_number();
}

static const road roads[] = {
	{"sort", through_sort},
	{"jobs", through_jobs},
	{"visit", through_visit},
	{"stream", through_stream},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
