// SPDX-License-Identifier: Apache-2.0
// Programs as other people write them, in C++: see styles.c.
#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
#include "kinds.h"
namespace
{
uint64_t elsewhere;

// settings: map<string, string>, values as text by to_string, from_chars
std::map<std::string, std::string> settings;
APART void settings_put(const std::string &k, std::string v)
{
	settings[k] = std::move(v);
}
APART void settings_fill()
{
	settings_put("depth", std::to_string(decoy));
	settings_put("width", std::to_string(made));
	settings_put("height", std::to_string(decoy + 3));
}
APART uint64_t settings_get(const std::string &k)
{
	const std::string &s = settings.at(k);
	uint64_t v = 0;
	std::from_chars(s.data(), s.data() + s.size(), v);
	return v;
}
APART void settings_finish()
{
	result = settings_get("width");
}
APART void settings_finish_other()
{
	elsewhere = settings_get("depth");
}
void through_settings()
{
	settings_fill();
	settings_finish();
	settings_finish_other();
}

// sorted: std::sort of structures with a lambda
struct order {
	unsigned price;
	uint64_t amount;
};
std::vector<order> book;
APART void book_fill()
{
	book.clear();
	for (unsigned i = 0; i < 7; i++)
		book.push_back({(i * 5 + 3) % 7, decoy + i});
	book[3].amount = made; // price (18 % 7) = 4
}
APART void book_sort()
{
	std::sort(book.begin(), book.end(),
		  [](const order &a, const order &b) { return a.price < b.price; });
}
APART void book_finish()
{
	result = book[4].amount;
}
APART void book_finish_other()
{
	elsewhere = book[2].amount;
}
void through_book()
{
	book_fill();
	book_sort();
	book_finish();
	book_finish_other();
}

// shapes: unique_ptr, virtual, accumulate by a visitor
struct node {
	virtual ~node() = default;
	virtual uint64_t eval() const = 0;
};
struct number final : node {
	uint64_t v;
	explicit number(uint64_t n) : v(n)
	{
	}
	uint64_t eval() const override
	{
		return v;
	}
};
struct sum final : node {
	std::unique_ptr<node> l, r;
	sum(std::unique_ptr<node> a, std::unique_ptr<node> b) : l(std::move(a)), r(std::move(b))
	{
	}
	uint64_t eval() const override
	{
		return l->eval() + r->eval();
	}
};
std::unique_ptr<node> wanted_tree, other_tree;
APART void tree_build()
{
	wanted_tree = std::make_unique<sum>(std::make_unique<number>(made),
					    std::make_unique<number>(made >> 3));
	other_tree =
		std::make_unique<sum>(std::make_unique<number>(decoy), std::make_unique<number>(7));
}
APART void tree_finish()
{
	result = wanted_tree->eval();
}
APART void tree_finish_other()
{
	elsewhere = other_tree->eval();
}
void through_tree()
{
	tree_build();
	tree_finish();
	tree_finish_other();
}

// workers: a deque of structures, mutex
class channel
{
      public:
	void put(std::pair<int, uint64_t> p)
	{
		{
			std::lock_guard<std::mutex> g(m);
			q.push_back(p);
		}
		c.notify_one();
	}
	std::pair<int, uint64_t> take()
	{
		std::unique_lock<std::mutex> g(m);
		c.wait(g, [this] { return !q.empty(); });
		auto p = q.front();
		q.pop_front();
		return p;
	}

      private:
	std::mutex m;
	std::condition_variable c;
	std::deque<std::pair<int, uint64_t>> q;
};
channel *work;
APART void channel_finish(uint64_t v)
{
	result = v * 3;
}
APART void channel_finish_other(uint64_t v)
{
	elsewhere = v * 3;
}
APART void channel_work()
{
	for (;;) {
		auto p = work->take();
		if (p.first == 1)
			channel_finish(p.second);
		else
			channel_finish_other(p.second);
	}
}
APART void channel_submit()
{
	work->put({0, decoy});
	work->put({1, made});
	work->put({2, decoy + 1});
}
void through_channel()
{
	if (!work) {
		work = new channel;
		std::thread(channel_work).detach();
	}
	channel_submit();
}

// observers: shared_ptr, std::function that captures, signals
struct subject {
	std::vector<std::function<void(uint64_t)>> seen;
	void fire(uint64_t v)
	{
		for (auto &f : seen)
			f(v);
	}
};
struct meter {
	uint64_t last = 0;
};
std::shared_ptr<meter> wanted_meter, other_meter;
subject wanted_subject, other_subject;
APART void signal_fire()
{
	other_subject.fire(decoy);
	wanted_subject.fire(made);
}
APART void signal_finish()
{
	result = wanted_meter->last;
}
APART void signal_finish_other()
{
	elsewhere = other_meter->last;
}
void through_signal()
{
	if (!wanted_meter) {
		wanted_meter = std::make_shared<meter>();
		other_meter = std::make_shared<meter>();
		wanted_subject.seen.push_back([m = wanted_meter](uint64_t v) { m->last = v; });
		other_subject.seen.push_back([m = other_meter](uint64_t v) { m->last = v; });
	}
	signal_fire();
	signal_finish();
	signal_finish_other();
}

// expression templates
template <class E> struct expr {
	double operator[](size_t i) const
	{
		return static_cast<const E &>(*this)[i];
	}
};
struct vec : expr<vec> {
	std::array<double, 8> d{};
	double operator[](size_t i) const
	{
		return d[i];
	}
	template <class E> vec &operator=(const expr<E> &e)
	{
		for (size_t i = 0; i < 8; i++)
			d[i] = e[i];
		return *this;
	}
};
template <class A, class B> struct plus : expr<plus<A, B>> {
	const A &a;
	const B &b;
	plus(const A &x, const B &y) : a(x), b(y)
	{
	}
	double operator[](size_t i) const
	{
		return a[i] + b[i];
	}
};
template <class A, class B> plus<A, B> operator+(const expr<A> &a, const expr<B> &b)
{
	return {static_cast<const A &>(a), static_cast<const B &>(b)};
}
vec va, vb, vc, wanted_vec, other_vec;
double wanted_double;
APART void vec_fill()
{
	for (size_t i = 0; i < 8; i++) {
		va.d[i] = double(made >> 30);
		vb.d[i] = double(made >> 33);
		vc.d[i] = double(decoy >> 30);
	}
}
APART void vec_add()
{
	wanted_vec = va + vb;
	other_vec = vc + vc;
}
APART void vec_finish()
{
	wanted_double = wanted_vec[5];
	memcpy(&result, &wanted_double, 8);
}
APART void vec_finish_other()
{
	double d = other_vec[5];
	memcpy(&elsewhere, &d, 8);
}
void through_vec()
{
	vec_fill();
	vec_add();
	vec_finish();
	vec_finish_other();
}

// cache: list + unordered_map
class cache
{
	std::list<std::pair<uint64_t, uint64_t>> l;
	std::unordered_map<uint64_t, decltype(l)::iterator> m;

      public:
	void set(uint64_t k, uint64_t v)
	{
		auto i = m.find(k);
		if (i != m.end()) {
			i->second->second = v;
			l.splice(l.begin(), l, i->second);
			return;
		}
		if (l.size() >= 5) {
			m.erase(l.back().first);
			l.pop_back();
		}
		l.emplace_front(k, v);
		m[k] = l.begin();
	}
	uint64_t get(uint64_t k)
	{
		auto i = m.find(k);
		if (i == m.end())
			return 0;
		l.splice(l.begin(), l, i->second);
		return i->second->second;
	}
} the_cache;
APART void cache_fill()
{
	static uint64_t t;
	t++;
	for (uint64_t i = 0; i < 3; i++)
		the_cache.set(100 + (t + i * 7) % 30, decoy + i);
	the_cache.set(5, made);
	the_cache.set(6, decoy);
}
APART void cache_finish()
{
	result = the_cache.get(5);
}
APART void cache_finish_other()
{
	elsewhere = the_cache.get(6);
}
void through_cache()
{
	cache_fill();
	cache_finish();
	cache_finish_other();
}

// words: strings that are joined, split and hashed by name
std::vector<std::string> parts;
std::string line;
APART void words_join()
{
	line = "id=" + std::to_string(decoy) + ";sum=" + std::to_string(made) + ";end=1";
}
APART void words_split()
{
	parts.clear();
	size_t at = 0;
	while (at < line.size()) {
		size_t e = line.find(';', at);
		if (e == std::string::npos)
			e = line.size();
		parts.push_back(line.substr(at, e - at));
		at = e + 1;
	}
}
APART void words_finish()
{
	result = std::stoull(parts[1].substr(4));
}
APART void words_finish_other()
{
	elsewhere = std::stoull(parts[0].substr(3));
}
void through_words()
{
	words_join();
	words_split();
	words_finish();
	words_finish_other();
}

const road roads[] = {{"settings", through_settings}, {"book", through_book},
		      {"tree", through_tree},	      {"channel", through_channel},
		      {"signal", through_signal},     {"vec", through_vec},
		      {"cache", through_cache},	      {"words", through_words}};
} // namespace
int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
