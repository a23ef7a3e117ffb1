/* SPDX-License-Identifier: Apache-2.0 */
#include "history/cooldown.h"

static unsigned place_of(uint64_t address)
{
	return (address * 0x9e3779b97f4a7c15ull >> 32) % COOLDOWN_MAX;
}

void cooldown_begin(struct cooldowns *cooldowns, uint64_t address, bool by_writers, uint64_t now,
		    uint64_t pays)
{
	struct cooldown *cooldown = &cooldowns->address[place_of(address)];

	if (cooldown->address != address && cooldown->until > now + pays)
		return;
	*cooldown = (struct cooldown){
		.address = address, .until = now + pays, .by_writers = by_writers};
}

bool cooldown_is_on(const struct cooldowns *cooldowns, uint64_t address, bool sees_reads,
		    uint64_t now)
{
	const struct cooldown *cooldown = &cooldowns->address[place_of(address)];

	if (cooldown->address != address || now >= cooldown->until)
		return false;
	return cooldown->by_writers || sees_reads;
}
