/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock that a signal handler may take: its holder has every signal blocked, so a handler never
 * waits for the thread it interrupted; and a holder that fork() left behind in the parent, or that
 * was killed, is found dead and robbed.
 */
#ifndef BASE_LOCK_H
#define BASE_LOCK_H

#include "base/syscall.h"

#include <errno.h>
#include <stdbool.h>

struct owner_lock {
	pid_t owner; /* kernel thread id; 0: free; OWNER_ANONYMOUS */
};

/*
 * Set once a seccomp filter of the program's forbids a call that is made here: from then on owners
 * have no name and waiting makes no call. Nobody can be found dead then: who has waited for some
 * seconds takes the lock, which is held for the time of a few system calls. Others who need not
 * know the thread's id do not ask for it then.
 */
extern bool owner_lock_anonymous __attribute__((visibility("hidden")));
#define OWNER_ANONYMOUS (-1)
#define OWNER_LOCK_SPINS 200000000u

#define OWNER_LOCK_WAIT_NS 20000

static inline bool owner_lock_take(struct owner_lock *lock, pid_t expected, pid_t self)
{
	return __atomic_compare_exchange_n(&lock->owner, &expected, self, false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static inline void owner_lock_wait(uint64_t let_in)
{
	uint64_t all = ~0ull;

	if (let_in)
		raw_sigprocmask(SIG_UNBLOCK, &let_in, NULL);
	raw_nanosleep(OWNER_LOCK_WAIT_NS);
	if (let_in)
		raw_sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Returns the signal mask to hand to owner_unlock(). The signals of `let_in` arrive while the lock
 * is waited for: the holder may want an answer to one. Their handlers take no lock. */
static inline uint64_t owner_lock_letting(struct owner_lock *lock, uint64_t let_in)
{
	uint64_t all = ~0ull, before;
	bool anonymous = __atomic_load_n(&owner_lock_anonymous, __ATOMIC_RELAXED);
	pid_t self = anonymous ? OWNER_ANONYMOUS : raw_gettid();

	raw_sigprocmask(SIG_SETMASK, &all, &before);
	if (anonymous) {
		for (unsigned i = 0; i < OWNER_LOCK_SPINS && !owner_lock_take(lock, 0, self); i++)
			__builtin_ia32_pause();
		__atomic_store_n(&lock->owner, self, __ATOMIC_RELAXED);
		return before;
	}
	while (!owner_lock_take(lock, 0, self)) {
		pid_t owner = __atomic_load_n(&lock->owner, __ATOMIC_RELAXED);

		if (owner > 0 && raw_syscall3(SYS_tgkill, raw_getpid(), owner, 0) == -ESRCH &&
		    owner_lock_take(lock, owner, self))
			break;
		owner_lock_wait(let_in);
	}
	return before;
}

static inline uint64_t owner_lock(struct owner_lock *lock)
{
	return owner_lock_letting(lock, 0);
}

static inline void owner_unlock(struct owner_lock *lock, uint64_t before)
{
	__atomic_store_n(&lock->owner, 0, __ATOMIC_RELEASE);
	raw_sigprocmask(SIG_SETMASK, &before, NULL);
}

#endif
