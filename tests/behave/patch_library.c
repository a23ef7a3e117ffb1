/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of libc and libm as Debian compiled them: the copies of their first instructions do
 * what they do, also of those that we ourselves use while we replace them.
 */
#include "check.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>

/* ---- mathematics ------------------------------------------------------------------------ */

typedef double mathematical(double);

static const char *const mathematics[] = {
	"acos",	  "acosh",    "asin",	   "asinh", "atan",   "atanh",	   "cbrt",	  "ceil",
	"cos",	  "cosh",     "erf",	   "erfc",  "exp",    "exp10",	   "exp2",	  "expm1",
	"fabs",	  "floor",    "j0",	   "j1",    "lgamma", "log",	   "log10",	  "log1p",
	"log2",	  "logb",     "nearbyint", "rint",  "round",  "roundeven", "significand", "sin",
	"sinh",	  "sqrt",     "tan",	   "tanh",  "tgamma", "trunc",	   "y0",	  "y1",
	"nextup", "nextdown", "gamma",
};
#define MATHEMATICS (sizeof(mathematics) / sizeof(mathematics[0]))

__attribute__((noinline)) static double constant(double x)
{
	(void)x;
	return 4711;
}

static bool same(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Whether it could be replaced. */
static bool replace_mathematical(const char *name, mathematical *volatile old)
{
	static const double inputs[] = {0.25, 0.5, -0.75, 1, 3.5, 1e300};
	struct tl_patch_change change = {(void *)old, (void *)constant, NULL};
	double results[sizeof(inputs) / sizeof(inputs[0])];
	mathematical *original = NULL;
	tl_patch *patch;
	int err;

	change.original = (void **)&original;
	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		results[i] = old(inputs[i]);
	err = tl_patch_apply_all(&patch, &change, 1, 0);
	if (err) {
		CHECK_EQUAL(err, -EINVAL);
		printf("%s: %s\n", name, tl_explain(err));
		return false;
	}
	CHECK(!tl_patch_on_breakpoint(patch), "%s: %s", name, tl_patch_reason(patch));
	CHECK(same(old(0.5), 4711), "%s was not replaced", name);
	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		CHECK(same(original(inputs[i]), results[i]), "%s(%g)", name, inputs[i]);
	CHECK_OK(tl_patch_revert(patch));
	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++)
		CHECK(same(old(inputs[i]), results[i]), "%s(%g)", name, inputs[i]);
	return true;
}

static void check_mathematics(void)
{
	void *library = dlopen("libm.so.6", RTLD_NOW);
	unsigned replaced = 0, present = 0;

	CHECK(library, "%s", dlerror());
	for (size_t i = 0; i < MATHEMATICS; i++) {
		void *function = dlsym(library, mathematics[i]);

		present += function != NULL;
		replaced += function &&
			    replace_mathematical(mathematics[i], (mathematical *)function);
	}
	printf("%u of %u functions of libm replaced\n", replaced, present);
	CHECK(replaced * 10 >= present * 9, "%u of %u", replaced, present);
}

/* ---- what we use ourselves -------------------------------------------------------------- */

static void *(*original_malloc)(size_t size);
static void (*original_free)(void *block);
static size_t (*original_strlen)(const char *text);
static void *(*original_memcpy)(void *to, const void *from, size_t length);
static long allocations, releases, lengths, copies;
static volatile bool stop;

static void *counting_malloc(size_t size)
{
	__atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED);
	return original_malloc(size);
}

static void counting_free(void *block)
{
	__atomic_fetch_add(&releases, 1, __ATOMIC_RELAXED);
	original_free(block);
}

static size_t counting_strlen(const char *text)
{
	__atomic_fetch_add(&lengths, 1, __ATOMIC_RELAXED);
	return original_strlen(text);
}

static void *counting_memcpy(void *to, const void *from, size_t length)
{
	__atomic_fetch_add(&copies, 1, __ATOMIC_RELAXED);
	return original_memcpy(to, from, length);
}

static void *use_all(void *arg)
{
	volatile size_t length = 100;

	while (!stop) {
		char *block = malloc(length + 1);

		CHECK(block, "malloc");
		memset(block, 'x', length);
		block[length] = 0;
		memcpy(block, arg, length / 2);
		CHECK(strlen(block) == length, "strlen");
		free(block);
	}
	return NULL;
}

static struct tl_patch_change change_of(const char *name, void *new_fn, void *original)
{
	struct tl_patch_change change = {dlsym(RTLD_DEFAULT, name), new_fn, original};

	CHECK(change.old_fn, "%s", name);
	return change;
}

static void check_own_functions(void)
{
	static char text[200];
	struct tl_patch_change changes[] = {
		change_of("malloc", (void *)counting_malloc, &original_malloc),
		change_of("free", (void *)counting_free, &original_free),
		change_of("strlen", (void *)counting_strlen, &original_strlen),
		change_of("memcpy", (void *)counting_memcpy, &original_memcpy),
	};
	pthread_t threads[4];
	tl_patch *patch;

	memset(text, 'y', sizeof(text) - 1);
	for (int i = 0; i < 4; i++)
		CHECK(!pthread_create(&threads[i], NULL, use_all, text), "create");
	for (int i = 0; i < 200; i++) {
		CHECK_OK(tl_patch_apply_all(&patch, changes, 4, 0));
		usleep(100);
		CHECK_OK(tl_patch_revert(patch));
	}
	stop = true;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("%ld calls of malloc, %ld of free, %ld of strlen, %ld of memcpy counted\n",
	       allocations, releases, lengths, copies);
	CHECK(allocations && releases && lengths && copies, "not replaced");
}

int main(void)
{
	check_mathematics();
	check_own_functions();
	return 0;
}
