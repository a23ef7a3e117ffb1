/* SPDX-License-Identifier: Apache-2.0 */
/* A C++ program against the installed library: every header, and a callback that is a lambda. */
#include <trapline/trapline.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

static volatile int watched;
static volatile unsigned hits;

int main()
{
	constexpr unsigned writes = 100;
	tl_spec spec{};
	tl_event *event = nullptr;
	const char *required = std::getenv("TRAPLINE_REQUIRE_HARDWARE");

	spec.size = sizeof(spec);
	spec.addr = const_cast<const int *>(&watched);
	spec.len = sizeof(watched);
	spec.access = TL_WRITE;
	spec.scope = TL_THREAD;
	int err = tl_event_open(
		&event, &spec, [](tl_hit *, void *) { hits = hits + 1; }, nullptr);
	if (err < 0) {
		std::fprintf(stderr, "tl_event_open: %s\n", tl_explain(err));
		return required && std::strcmp(required, "1") == 0 ? 1 : 77;
	}
	for (unsigned i = 0; i < writes; i++)
		watched = static_cast<int>(i);
	err = tl_event_close(event);
	std::printf("%u hits of %u writes\n", hits, writes);
	return err || hits != writes;
}
