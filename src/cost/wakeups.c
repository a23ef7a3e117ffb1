/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/wakeups.h"

#include "base/clock.h"

void wakeups_arm(struct wakeups *wakeups, uint64_t now)
{
	if (wakeups->armed++ == 0)
		wakeups->armed_since = now;
}

void wakeups_silence(struct wakeups *wakeups, uint64_t now)
{
	if (--wakeups->armed == 0)
		wakeups->armed_time += now - wakeups->armed_since;
}

void wakeups_silence_single(struct wakeups *wakeups, double rate, uint64_t time)
{
	wakeups->single += rate * (double)time / (double)SECOND;
}

void wakeups_count(struct wakeups *wakeups, uint64_t now, uint64_t count, uint64_t cpu_time)
{
	double seconds = (double)(now - wakeups->counted_at + 1) / (double)SECOND;

	if (wakeups->counted_at && count >= wakeups->counted && cpu_time >= wakeups->cpu_time) {
		double more = (double)(count - wakeups->counted);

		wakeups->rate = more / seconds;
		wakeups->switched += more;
		wakeups->cpus = (double)(cpu_time - wakeups->cpu_time) / seconds / (double)SECOND;
		bound_look(&wakeups->bound, more, cpu_time - wakeups->cpu_time);
	}
	wakeups->counted = count;
	wakeups->cpu_time = cpu_time;
	wakeups->counted_at = now;
}

double wakeups_price(const struct wakeups *wakeups, const struct prices *prices)
{
	return bound_price(&wakeups->bound, (double)atomic_load(&prices->wakeup));
}

double wakeups_timer_share(const struct wakeups *wakeups, const struct prices *prices)
{
	double dear = wakeups->rate * (double)atomic_load(&prices->timer);

	return dear > 0 ? dear / (dear + wakeups->cpus * (double)SECOND) : 0;
}

static uint64_t take_armed_time(struct wakeups *wakeups, uint64_t now)
{
	uint64_t time = wakeups->armed_time;

	if (wakeups->armed) {
		time += now - wakeups->armed_since;
		wakeups->armed_since = now;
	}
	wakeups->armed_time = 0;
	return time;
}

struct wakeups_cost wakeups_charge(struct wakeups *wakeups, const struct prices *prices,
				   uint64_t now, uint64_t sampled)
{
	double armed = (double)take_armed_time(wakeups, now) / (double)SECOND;
	double while_armed = wakeups->rate * armed + wakeups->single;
	double price = (double)atomic_load(&prices->wakeup);
	double samples = wakeups->cpus * (double)sampled / (double)prices->period;
	double timer = wakeups_timer_share(wakeups, prices) * wakeups->cpus * (double)sampled;
	double idle = wakeups->switched * (wakeups->open ? PRICE_OPEN : PRICE_CLOSED);

	wakeups->single = wakeups->switched = 0;
	return (struct wakeups_cost){
		.wakeups = bound_charge(&wakeups->bound, while_armed, price) + timer,
		.samples = samples * (double)atomic_load(&prices->sample),
		.idle = idle,
	};
}
