/* SPDX-License-Identifier: Apache-2.0 */
/* What programs in C++ do every day (see chores.c).
 *
 * usage: chores_cpp CASE SECONDS
 */
#include <algorithm>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>
#include "kinds.h"

static uint64_t elsewhere;

/* rows: a vector of structures of which the largest is looked for */
struct score {
	int points;
	uint64_t prize;
};
static std::vector<score> scores;
static APART void rows_fill()
{
	scores.clear();
	for (int i = 0; i < 5; i++)
		scores.push_back({i == 2 ? 90 : i, i == 2 ? made : decoy});
}
static APART void rows_finish()
{
	auto best =
		std::max_element(scores.begin(), scores.end(), [](const score &a, const score &b) {
			return a.points < b.points;
		});
	result = best->prize;
}
static APART void through_rows()
{
	rows_fill();
	rows_finish();
}

/* users: a table of names to objects that it owns */
struct user {
	uint64_t quota = 0, used = 0;
};
static std::unordered_map<std::string, std::unique_ptr<user>> users;
static APART void users_set(const std::string &name, uint64_t quota)
{
	auto &place = users[name];
	if (!place)
		place = std::make_unique<user>();
	place->quota = quota;
}
static APART void users_finish()
{
	auto found = users.find("bert");
	result = found->second->quota;
}
static APART void through_users()
{
	users_set("anna", decoy);
	users_set("bert", made);
	users_finish();
}

/* shapes: virtual functions of objects that a vector owns */
struct shape {
	virtual ~shape() = default;
	virtual uint64_t area() const = 0;
};
struct square : shape {
	uint64_t side;
	APART explicit square(uint64_t side) : side(side)
	{
	}
	APART uint64_t area() const override
	{
		return side * side;
	}
};
struct strip : shape {
	uint64_t length;
	APART explicit strip(uint64_t length) : length(length)
	{
	}
	APART uint64_t area() const override
	{
		return length * 2;
	}
};
static std::vector<std::unique_ptr<shape>> shapes;
static APART void shapes_fill()
{
	shapes.clear();
	shapes.push_back(std::make_unique<square>(decoy));
	shapes.push_back(std::make_unique<strip>(made));
}
static APART void shapes_finish()
{
	elsewhere = shapes[0]->area();
	result = shapes[1]->area();
}
static APART void through_shapes()
{
	shapes_fill();
	shapes_finish();
}

/* filters: a chain of functions */
static std::vector<std::function<uint64_t(uint64_t)>> filters;
static APART void filters_begin(uint64_t more)
{
	filters.emplace_back([more](uint64_t value) { return value + more; });
	filters.emplace_back([](uint64_t value) { return value ^ 0xff; });
}
static APART void filters_finish()
{
	uint64_t value = made;
	for (const auto &filter : filters)
		value = filter(value);
	result = value;
}
static APART void through_filters()
{
	if (filters.empty())
		filters_begin(3);
	filters_finish();
}

/* ordered: structures that are sorted */
static std::vector<std::pair<int, uint64_t>> ordered;
static APART void ordered_fill()
{
	ordered.clear();
	for (int i = 0; i < 7; i++)
		ordered.emplace_back(i * 3 % 7, i * 3 % 7 == 0 ? made : decoy + (unsigned)i);
}
static APART void ordered_sort()
{
	std::sort(ordered.begin(), ordered.end(),
		  [](const auto &a, const auto &b) { return a.first < b.first; });
}
static APART void ordered_finish()
{
	result = ordered.front().second;
}
static APART void through_ordered()
{
	ordered_fill();
	ordered_sort();
	ordered_finish();
}

/* fields: a text that is cut, and a number in it */
static std::string fields_line;
static APART void fields_write()
{
	fields_line = "id=12;size=00000;end";
	uint64_t value = made >> 30;
	for (int i = 0; i < 5; i++)
		fields_line[11 + static_cast<size_t>(i)] =
			static_cast<char>('1' + (value >> 4 * i) % 9);
}
static APART std::string fields_get(const std::string &line, const char *name)
{
	size_t at = line.find(name) + std::char_traits<char>::length(name) + 1;
	return line.substr(at, line.find(';', at) - at);
}
static APART void fields_finish()
{
	result = std::stoull(fields_get(fields_line, "size"));
}
static APART void through_fields()
{
	fields_write();
	fields_finish();
}

/* answer: what may be there, of two kinds, in a tuple */
using reply = std::tuple<int, std::optional<std::variant<uint32_t, uint64_t>>>;
static APART reply answer_make(bool wide)
{
	if (wide)
		return {200, made};
	return {404, static_cast<uint32_t>(decoy)};
}
static APART void answer_finish(const reply &got)
{
	const auto &[code, body] = got;
	if (code == 200 && body)
		result = std::get<uint64_t>(*body);
	else
		elsewhere = std::get<uint32_t>(*body);
}
static APART void through_answer()
{
	answer_finish(answer_make(false));
	answer_finish(answer_make(true));
}

/* timers: a queue by urgency */
struct timer {
	uint64_t when, load;
	bool operator<(const timer &other) const
	{
		return when > other.when;
	}
};
static std::priority_queue<timer> timers;
static APART void timers_add(uint64_t when, uint64_t load)
{
	timers.push({when, load});
}
static APART void timers_fill()
{
	timers_add(30, decoy);
	timers_add(10, made);
	timers_add(20, decoy + 1);
}
static APART void timers_finish()
{
	result = timers.top().load;
	timers.pop();
	timers.pop();
	timers.pop();
}
static APART void through_timers()
{
	timers_fill();
	timers_finish();
}

/* news: observers that are shared */
struct reader {
	uint64_t last = 0;
	APART void notify(uint64_t value)
	{
		last = value;
	}
};
static std::vector<std::weak_ptr<reader>> readers;
static std::shared_ptr<reader> first_reader, second_reader;
static APART void news_begin()
{
	first_reader = std::make_shared<reader>();
	second_reader = std::make_shared<reader>();
	readers = {first_reader, second_reader};
}
static APART void news_tell(const uint64_t *news)
{
	for (auto &weak : readers)
		if (auto reader = weak.lock())
			reader->notify(*news++);
}
static APART void news_write(uint64_t *news)
{
	news[0] = decoy;
	news[1] = made;
}
static APART void news_finish()
{
	result = second_reader->last;
}
static APART void through_news()
{
	static uint64_t news[2];
	if (readers.empty())
		news_begin();
	news_write(news);
	news_tell(news);
	news_finish();
}

/* thrown: an exception that carries a number */
struct over_limit : std::runtime_error {
	uint64_t by;
	explicit over_limit(uint64_t by) : std::runtime_error("limit"), by(by)
	{
	}
};
static APART void thrown_check(uint64_t value)
{
	if (value)
		throw over_limit(value);
}
static APART void thrown_finish()
{
	try {
		thrown_check(made);
	} catch (const over_limit &error) {
		result = error.by;
	}
}

/* lines: a deque of texts */
static std::deque<std::string> lines;
static APART void lines_add()
{
	std::string line(20, '.');
	for (size_t i = 0; i < 8; i++)
		line[4 + i] = static_cast<char>('a' + (made >> (4 * i + 8)) % 16);
	lines.push_back(std::move(line));
	if (lines.size() > 3)
		lines.pop_front();
}
static APART void lines_finish()
{
	uint64_t value = 0;
	for (size_t i = 0; i < 8; i++)
		value = value * 16 + static_cast<uint64_t>(lines.back()[4 + i] - 'a');
	result = value;
}
static APART void through_lines()
{
	lines_add();
	lines_finish();
}

static const road roads[] = {
	{"rows", through_rows},	      {"users", through_users},	    {"shapes", through_shapes},
	{"filters", through_filters}, {"ordered", through_ordered}, {"fields", through_fields},
	{"answer", through_answer},   {"timers", through_timers},   {"news", through_news},
	{"thrown", thrown_finish},    {"lines", through_lines},
};

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
