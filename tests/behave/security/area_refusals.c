/* SPDX-License-Identifier: Apache-2.0 */
/* Which files a program takes for the area that its environment leads it to, and which it must not.
 */
#include "record/area.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static int attach(int fd)
{
	struct area *area;
	char locator[AREA_LOCATOR];
	int err;

	snprintf(locator, sizeof(locator), "%d:%d", (int)getpid(), fd);
	err = area_attach(&area, locator);
	if (!err)
		area_unmap(area);
	return err;
}

static void expect(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "area_refusals: not so: %s\n", what);
	exit(1);
}

/* A copy of a true area in a file that is sealed or not. */
static int copy_of(const struct area *area, int sealed)
{
	int fd = memfd_create("copy", MFD_ALLOW_SEALING);

	expect(write(fd, area, sizeof(*area)) == sizeof(*area), "the area can be copied");
	if (sealed)
		expect(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), "and sealed");
	return fd;
}

static void test_owners(int fd)
{
	int status;

	if (getuid() != 0)
		return;
	expect(!fchown(fd, NOBODY - 1, NOBODY - 1), "its owner can be changed");
	expect(attach(fd) == -EPERM, "another user's is refused, by root too");
	if (fork() == 0) {
		expect(!setresgid(NOBODY, NOBODY, NOBODY) && !setresuid(NOBODY, NOBODY, NOBODY),
		       "privilege can be dropped");
		_exit(attach(fd) == 0);
	}
	wait(&status);
	expect(status == 0, "and by somebody else");
}

int main(void)
{
	static const char *const nonsense[] = {
		"", "1", "1:", ":3", "a:b", "1:2:3", "-1:-1", "1:3x", "9999999999:1", "../1:2",
	};
	struct area *area;
	int fd, small;

	expect(!area_create(&area, &fd), "an area can be made");
	expect(!attach(fd), "a true one is taken");
	expect(!attach(copy_of(area, 1)), "a sealed copy is as good");
	expect(attach(copy_of(area, 0)) == -EINVAL, "what may be cut short under us is refused");
	small = memfd_create("small", MFD_ALLOW_SEALING);
	expect(attach(small) == -EINVAL, "what is too small is refused");
	expect(attach(99) < 0, "what is not open is refused");
	area->magic ^= 1;
	expect(attach(fd) == -EINVAL, "what is no area is refused");
	area->magic ^= 1;
	for (unsigned i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++)
		expect(area_attach(&area, nonsense[i]) < 0, nonsense[i]);
	test_owners(copy_of(area, 1));
	return 0;
}
