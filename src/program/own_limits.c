/* SPDX-License-Identifier: Apache-2.0 */
#include "program/own_limits.h"

#include <sys/resource.h>

struct lifted {
	struct rlimit found;
	bool is; /* `found` is not what holds now */
};

static struct lifted descriptors, file_size;

static void restore(int resource, struct lifted *lifted)
{
	if (lifted->is)
		setrlimit(resource, &lifted->found);
	lifted->is = false;
}

bool own_limits_allow_descriptors(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &descriptors.found) ||
	    descriptors.found.rlim_cur >= OWN_DESCRIPTORS_LEAST)
		return true;
	most = descriptors.found;
	if (most.rlim_max < OWN_DESCRIPTORS_LEAST)
		most.rlim_max = OWN_DESCRIPTORS_LEAST;
	most.rlim_cur = most.rlim_max;
	descriptors.is = !setrlimit(RLIMIT_NOFILE, &most);
	return descriptors.is;
}

static void lift_file_size(void)
{
	struct rlimit most = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};

	if (getrlimit(RLIMIT_FSIZE, &file_size.found))
		return;
	file_size.is = !setrlimit(RLIMIT_FSIZE, &most);
	if (file_size.is)
		return;
	most.rlim_cur = most.rlim_max = file_size.found.rlim_max;
	file_size.is = !setrlimit(RLIMIT_FSIZE, &most);
}

int own_limits_create_area(struct area **area, int *fd)
{
	int err;

	lift_file_size();
	err = area_create(area, fd);
	restore(RLIMIT_FSIZE, &file_size);
	return err;
}

void own_limits_inherit(void)
{
	restore(RLIMIT_NOFILE, &descriptors);
}
