// SPDX-License-Identifier: Apache-2.0
// What people ask about, in C++: see asked.c.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "kinds.h"

namespace
{

uint64_t elsewhere;

// rows that are filtered into another vector
struct row {
	uint64_t kind, amount;
};

std::vector<row> rows, chosen;

APART void fill_rows()
{
	rows.clear();
	for (uint64_t i = 0; i < 6; i++)
		rows.push_back({i % 3, decoy + i});
	rows[4].kind = 7;
	rows[4].amount = made;
}

APART void choose_rows()
{
	chosen.clear();
	for (const row &each : rows)
		if (each.kind > 1)
			chosen.push_back(each);
}

APART void finish_rows()
{
	result = chosen[1].amount;
}

APART void finish_other_rows()
{
	elsewhere = chosen[0].amount + chosen[2].amount;
}

void through_rows()
{
	fill_rows();
	choose_rows();
	finish_rows();
	finish_other_rows();
}

// functions by name
std::unordered_map<std::string, std::function<void(uint64_t)>> handlers;

APART void finish_handled(uint64_t value)
{
	result = value + 3;
}

APART void finish_other_handled(uint64_t value)
{
	elsewhere = value + 3;
}

APART void dispatch(const std::string &name, uint64_t value)
{
	handlers.at(name)(value);
}

APART void dispatch_all()
{
	dispatch("other", decoy);
	dispatch("wanted", made);
	dispatch("other", decoy + 1);
}

void through_handlers()
{
	if (handlers.empty()) {
		handlers["wanted"] = [](uint64_t value) { finish_handled(value); };
		handlers["other"] = [](uint64_t value) { finish_other_handled(value); };
	}
	dispatch_all();
}

// objects that are owned, and visited
struct account {
	virtual ~account() = default;
	virtual uint64_t balance() const = 0;
};

struct checking final : account {
	explicit checking(uint64_t value) : cash(value)
	{
	}
	uint64_t balance() const override
	{
		return cash + 1;
	}
	uint64_t cash;
};

struct saving final : account {
	explicit saving(uint64_t value) : lent(value)
	{
	}
	uint64_t balance() const override
	{
		return lent + 2;
	}
	uint64_t lent;
};

std::map<int, std::unique_ptr<account>> accounts;

APART void open_accounts()
{
	accounts.clear();
	accounts[5] = std::make_unique<checking>(decoy);
	accounts[2] = std::make_unique<saving>(made);
	accounts[9] = std::make_unique<checking>(decoy + 1);
}

APART void finish_balance()
{
	result = accounts.at(2)->balance();
}

APART void finish_other_balance()
{
	elsewhere = accounts.at(5)->balance();
}

void through_accounts()
{
	open_accounts();
	finish_balance();
	finish_other_balance();
}

// what may be there, and what a list of steps made of it
std::vector<std::function<std::optional<uint64_t>(uint64_t)>> stages;
uint64_t kept_input;

APART void keep_input()
{
	kept_input = made;
}

APART void finish_stages()
{
	std::optional<uint64_t> value = kept_input;

	for (const auto &stage : stages) {
		value = stage(*value);
		if (!value)
			return;
	}
	result = *value;
}

void through_stages()
{
	if (stages.empty()) {
		stages.emplace_back([](uint64_t value) { return std::optional(value | 1); });
		stages.emplace_back([](uint64_t value) { return std::optional(value * 7); });
	}
	keep_input();
	finish_stages();
}

const road roads[] = {{"rows", through_rows},
		      {"handlers", through_handlers},
		      {"accounts", through_accounts},
		      {"stages", through_stages}};

} // namespace

int main(int argc, char **argv)
{
	return run_road(roads, sizeof(roads) / sizeof(roads[0]), argc, argv);
}
