/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same as kinds.c through what C++ brings: containers, strings, virtual functions, lambdas,
 * exceptions.
 *
 * usage: kinds CASE SECONDS
 */
#include "kinds.h"

#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

/* std::map */
static std::map<int, uint64_t> map;

static APART void put_in_map()
{
	map[3] = decoy;
	map[7] = made;
	map[9] = decoy;
}

static APART void finish_map()
{
	result = map.find(7)->second;
}

static void through_map()
{
	put_in_map();
	finish_map();
}

/* std::unordered_map, emptied each time */
static std::unordered_map<std::string, uint64_t> names;

static APART void put_in_names()
{
	names["one"] = decoy;
	names["two"] = made;
}

static APART void finish_names()
{
	result = names.at("two");
	names.clear();
}

static void through_names()
{
	put_in_names();
	finish_names();
}

/* std::string, longer than what lies in the object itself */
static std::string word, phrase;

static APART void write_word()
{
	word.assign(40, 'x');
	word[20] = static_cast<char>('a' + made % 26);
}

static APART void copy_word()
{
	phrase = word;
}

static APART void finish_phrase()
{
	result = static_cast<uint64_t>(phrase[20]);
}

static void through_word()
{
	write_word();
	copy_word();
	finish_phrase();
}

/* virtual functions */
struct shape {
	virtual ~shape() = default;
	virtual uint64_t area() const = 0;
	uint64_t other = 0, side = 0;
};
struct square : shape {
	APART uint64_t area() const override
	{
		return side;
	}
};
struct decoy_shape : shape {
	APART uint64_t area() const override
	{
		return other + 1;
	}
};
static std::vector<std::unique_ptr<shape>> shapes;

static APART void set_side(shape &to)
{
	to.other = decoy;
	to.side = made;
}

static APART void finish_area(const shape &of)
{
	result = of.area() * 3;
}

static void through_virtual()
{
	if (shapes.empty()) {
		shapes.push_back(std::make_unique<decoy_shape>());
		shapes.push_back(std::make_unique<square>());
	}
	set_side(*shapes[1]);
	finish_area(*shapes[1]);
}

/* std::vector that grows: what is in it moves */
static std::vector<uint64_t> grown;

static APART void append()
{
	std::vector<uint64_t>().swap(grown);
	grown.push_back(made);
	for (int i = 0; i < 20; i++)
		grown.push_back(decoy);
}

static APART void finish_grown()
{
	result = grown[0];
}

static void through_grown()
{
	append();
	finish_grown();
}

/* a lambda that holds the value */
static std::function<uint64_t()> kept;

static APART void keep()
{
	uint64_t value = made, other = decoy;

	kept = [value, other]() { return other ? value : value + 1; };
}

static APART void finish_kept()
{
	result = kept();
}

static void through_lambda()
{
	keep();
	finish_kept();
}

/* an exception that carries it */
struct failure {
	uint64_t other, value;
};

static APART void fail()
{
	throw failure{decoy, made};
}

static APART void finish_failure()
{
	try {
		fail();
	} catch (const failure &caught) {
		result = caught.value;
	}
}

static const struct road roads[] = {
	{"map", through_map},	       {"names", through_names}, {"word", through_word},
	{"virtual", through_virtual},  {"grown", through_grown}, {"lambda", through_lambda},
	{"exception", finish_failure},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
