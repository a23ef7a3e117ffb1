/* SPDX-License-Identifier: Apache-2.0 */
/* A module is loaded, raced in and unloaded again, 200 times; see module_churn.module.c. */
#include "hostile.h"
#include <dlfcn.h>

static void *(*step)(void *);

static void *call_step(void *arg)
{
	for (int i = 0; i < 20; i++) {
		step(arg);
		nap(500);
	}
	return arg;
}

int main(int argc, char **argv)
{
	char path[4096];
	long total = 0;

	expect(argc == 1);
	snprintf(path, sizeof(path), "%s.module.so", argv[0]);
	noise_start();
	for (int i = 0; i < 200; i++) {
		void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		pthread_t threads[2];

		expect(module);
		step = (void *(*)(void *))dlsym(module, "module_step");
		expect(step);
		for (int j = 0; j < 2; j++)
			expect(pthread_create(&threads[j], NULL, call_step, NULL) == 0);
		for (int j = 0; j < 2; j++)
			expect(pthread_join(threads[j], NULL) == 0);
		total += *(int *)dlsym(module, "module_loads");
		expect(dlclose(module) == 0);
		expect(!dlopen(path, RTLD_NOW | RTLD_NOLOAD));
	}
	noise_stop();
	say("%ld fresh modules", total);
	return 0;
}
