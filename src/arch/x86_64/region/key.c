/* SPDX-License-Identifier: Apache-2.0 */
#include "region/key.h"

#include "base/syscall.h"

#include <cpuid.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/*
 * The extended area of a signal frame is in XSAVE's standard format, whatever format the kernel
 * uses for itself: Intel SDM volume 1, 13.4; Linux, arch/x86/kernel/fpu/signal.c and
 * include/uapi/asm/sigcontext.h (struct _fpx_sw_bytes).
 */
#define SOFTWARE_BYTES_AT 464
#define FRAME_MAGIC 0x46505853u /* FP_XSTATE_MAGIC1 */
#define PRESENT_AT 512		/* XSTATE_BV: components not in their initial state */
#define FEATURE_PKRU 9

struct software_bytes {
	uint32_t magic;
	uint32_t extended_size;
	uint64_t features;
	uint32_t xstate_size;
};

int region_key = -1;

static uint32_t pkru_offset; /* in the standard format: CPUID leaf 0xD */

bool region_key_possible(void)
{
	uint32_t eax, ebx, ecx, edx;

	if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(ecx & bit_OSPKE))
		return false;
	if (!__get_cpuid_count(0xd, FEATURE_PKRU, &eax, &ebx, &ecx, &edx) || !eax)
		return false;
	pkru_offset = ebx;
	return true;
}

int region_key_allocate(void)
{
	int key;

	if (region_key >= 0)
		return 0;
	if (!region_key_possible())
		return -ENOTSUP;
	key = (int)raw_syscall3(SYS_pkey_alloc, 0, PKEY_DISABLE_ACCESS, 0);
	if (key < 0)
		return key == -ENOSYS || key == -EINVAL ? -ENOTSUP : key;
	__atomic_store_n(&region_key, key, __ATOMIC_RELEASE);
	return 0;
}

static inline char *saved_area(const ucontext_t *context)
{
	char *area = (char *)context->uc_mcontext.fpregs;
	struct software_bytes software;

	if (!area)
		return NULL;
	memcpy(&software, area + SOFTWARE_BYTES_AT, sizeof(software));
	if (software.magic != FRAME_MAGIC || !(software.features & 1u << FEATURE_PKRU) ||
	    pkru_offset + sizeof(uint32_t) > software.xstate_size)
		return NULL;
	return area;
}

static uint64_t present_of(const char *area)
{
	uint64_t present;

	memcpy(&present, area + PRESENT_AT, sizeof(present));
	return present;
}

/* A component that is not present is in its initial state: every key open. */
bool region_key_read_saved(const ucontext_t *context, uint32_t *rights)
{
	const char *area = saved_area(context);

	if (!area)
		return false;
	*rights = 0;
	if (present_of(area) & 1u << FEATURE_PKRU)
		memcpy(rights, area + pkru_offset, sizeof(*rights));
	return true;
}

bool region_key_change_saved(ucontext_t *context, uint32_t clear, uint32_t set, uint32_t *before)
{
	char *area = saved_area(context);
	uint64_t present;
	uint32_t pkru;

	if (!area || !region_key_read_saved(context, before))
		return false;
	pkru = (*before & ~clear) | set;
	present = present_of(area) | 1u << FEATURE_PKRU;
	memcpy(area + PRESENT_AT, &present, sizeof(present));
	memcpy(area + pkru_offset, &pkru, sizeof(pkru));
	return true;
}
