/* SPDX-License-Identifier: Apache-2.0 */
/* Built with AddressSanitizer, whose runtime ends a program in which a library was loaded before
 * it: as it is started and as its child executes it, where AddressSanitizer must find an overflow.
 */
#include "hostile.h"

#include <dlfcn.h>

static void overflow(void)
{
	volatile char *block = malloc(8);

	block[8] = 1;
}

static void execute(const char *who, const char *path, char *const environment[])
{
	char *const arguments[] = {"sanitized", "overflow", NULL};
	pid_t child = fork();

	if (child == 0) {
		execve(path, arguments, environment);
		_exit(1);
	}
	say_end(who, child);
}

int main(int argc, char **argv)
{
	char preloaded[4096] = "";
	char *const overflows[] = {"ASAN_OPTIONS=exitcode=42", NULL};
	char *const preloads[] = {"ASAN_OPTIONS=detect_leaks=0", preloaded, NULL};
	Dl_info runtime;

	(void)argv;

	if (argc > 1) {
		overflow();
		return 0;
	}
	noise_start();
	nap(300000);
	execute("who overflows", "/proc/self/exe", overflows);
	expect(dladdr(dlsym(RTLD_DEFAULT, "__asan_init"), &runtime));
	snprintf(preloaded, sizeof(preloaded), "LD_PRELOAD=%s", runtime.dli_fname);
	execute("whom the runtime is preloaded into", "/bin/true", preloads);
	noise_stop();
	return 0;
}
