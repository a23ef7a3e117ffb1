/* SPDX-License-Identifier: Apache-2.0 */
/* The race is in a module loaded with dlopen() after the threads have started. */
#include "../harness.h"
#include <dlfcn.h>

typedef void step_fn(int);

static step_fn *step;

static void *run_plugin(void *arg)
{
	step_fn *fn;

	while (!(fn = __atomic_load_n(&step, __ATOMIC_ACQUIRE)) && running())
		nap(1000);
	while (running()) {
		fn((int)(intptr_t)arg);
		pace_warm();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char path[4096];
	void *module;

	harness_init(argc, argv, 3);
	harness_start(run_plugin, harness_threads);
	nap(50000);
	snprintf(path, sizeof(path), "%s.plugin.so", argv[0]);
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!module) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	__atomic_store_n(&step, (step_fn *)dlsym(module, "plugin_step"), __ATOMIC_RELEASE);
	return harness_finish();
}
