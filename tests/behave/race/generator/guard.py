# SPDX-License-Identifier: Apache-2.0
"""What stands around an access: the synchronisation of a race-free twin, or a racing program's
mistake."""


class Guard:
    """`shared`: (declaration, initialiser) of each object it needs; `set_up`: statements before the
    threads start; `around(side, writes, access)`: the access with what guards it."""

    def __init__(self, shared, set_up, around):
        self.shared, self.set_up, self.around = shared, set_up, around


def lock(declaration, set_up, enter, leave, initialiser=""):
    return Guard([(declaration, initialiser)], set_up,
                 lambda side, writes, access: [*enter, *braced(access), *leave])


def braced(lines):
    return ["{", *[f"\t{line}" if line else line for line in lines], "}"]


def nothing():
    return Guard([], [], lambda side, writes, access: access)


def pthread_mutex(kind=None, name="guard"):
    set_up = ["pthread_mutexattr_t attr;", "", "pthread_mutexattr_init(&attr);"]
    if kind == "recursive":
        set_up.append("pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);")
    if kind == "robust":
        set_up.append("pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);")
    set_up.append(f"pthread_mutex_init(&{name}, &attr);")
    enter = [f"pthread_mutex_lock(&{name});"]
    if kind == "trylock":
        enter = [f"while (pthread_mutex_trylock(&{name}))", "\tsched_yield();"]
    return lock(f"pthread_mutex_t {name}", set_up, enter, [f"pthread_mutex_unlock(&{name});"])


def rwlock(wrong=False):
    def around(_side, writes, access):
        verb = "wrlock" if writes and not wrong else "rdlock"
        return [f"pthread_rwlock_{verb}(&guard);", *braced(access),
                "pthread_rwlock_unlock(&guard);"]
    return Guard([("pthread_rwlock_t guard", "")], ["pthread_rwlock_init(&guard, NULL);"], around)


def spinning(enter, leave, declaration="unsigned guard"):
    return lock(declaration, [], enter, leave)


# The yield lets a holder run that lost its CPU.
EXCHANGE = (["while (__atomic_exchange_n(&guard, 1, __ATOMIC_ACQUIRE))", "\tsched_yield();"],
            ["__atomic_store_n(&guard, 0, __ATOMIC_RELEASE);"])
COMPARE = (["for (unsigned none = 0; !__atomic_compare_exchange_n(&guard, &none, 1, 0, __ATOMIC_ACQUIRE,",
            "\t\t\t\t__ATOMIC_RELAXED); none = 0)", "\tsched_yield();"],
           ["__atomic_store_n(&guard, 0, __ATOMIC_RELEASE);"])
TICKET = (["{", "\tunsigned mine = __atomic_fetch_add(&guard_next, 1, __ATOMIC_RELAXED);", "",
           "\twhile (__atomic_load_n(&guard, __ATOMIC_ACQUIRE) != mine)", "\t\tsched_yield();", "}"],
          ["__atomic_fetch_add(&guard, 1, __ATOMIC_RELEASE);"])
FUTEX = (["while (__atomic_exchange_n(&guard, 1, __ATOMIC_ACQUIRE))", "{",
          "\tstruct timespec soon = {0, 1000000};", "",
          "\tsyscall(SYS_futex, &guard, FUTEX_WAIT_PRIVATE, 1, &soon, NULL, 0);", "}"],
         ["__atomic_store_n(&guard, 0, __ATOMIC_RELEASE);",
          "syscall(SYS_futex, &guard, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);"])


def ticket():
    guard = spinning(*TICKET)
    guard.shared.append(("unsigned guard_next", ""))
    return guard


def turns(plan, load, store, declaration="unsigned turn", initialiser=""):
    """Each access in its thread's turn; who comes out of turn goes away without an access."""
    def around(_side, _writes, access):
        return [f"if ({load} == c->rank) {{", *[f"\t{line}" if line else line for line in access],
                f"\t{store.format(next=f'(c->rank + 1) % {plan.participants}')}", "}"]
    return Guard([(declaration, initialiser)], [], around)


def condition_turns(plan):
    def around(_side, _writes, access):
        following = f"(c->rank + 1) % {plan.participants}"
        return ["int mine;", "", "pthread_mutex_lock(&guard);", "mine = turn == c->rank;",
                "pthread_mutex_unlock(&guard);", "if (mine) {",
                *[f"\t{line}" if line else line for line in access],
                "\tpthread_mutex_lock(&guard);", f"\tturn = {following};",
                "\tpthread_cond_broadcast(&changed);", "\tpthread_mutex_unlock(&guard);", "}"]
    return Guard([("pthread_mutex_t guard", " = PTHREAD_MUTEX_INITIALIZER"),
                  ("pthread_cond_t changed", " = PTHREAD_COND_INITIALIZER"),
                  ("unsigned turn", "")], [], around)


def token(plan, descriptor):
    """A token in a pipe of each participant; who has none goes away without an access."""
    size = "8" if descriptor == "eventfd" else "1"
    if descriptor == "pipe":
        set_up = [f"for (unsigned i = 0; i < {plan.participants}; i++)",
                  "\tif (pipe2(tokens[i], O_NONBLOCK))", "\t\texit(2);"]
    else:
        set_up = [f"for (unsigned i = 0; i < {plan.participants}; i++)",
                  "\ttokens[i][0] = tokens[i][1] = eventfd(0, EFD_NONBLOCK);"]
    set_up += ["uint64_t one = 1;", "", f"if (write(tokens[0][1], &one, {size}) != {size})",
               "\texit(2);"]

    def around(_side, _writes, access):
        following = f"tokens[(c->rank + 1) % {plan.participants}][1]"
        return ["uint64_t coin = 1;", "", f"if (read(tokens[c->rank][0], &coin, {size}) == {size}) {{",
                *[f"\t{line}" if line else line for line in access],
                f"\tif (write({following}, &coin, {size}) != {size})", "\t\texit(2);", "}"]
    return Guard([(f"int tokens[{plan.participants}][2]", "")], set_up, around)


def cpp_lock(kind):
    def around(_side, writes, access):
        how = {"std::mutex": "std::lock_guard<std::mutex>",
               "std::shared_mutex": "std::unique_lock<std::shared_mutex>" if writes
               else "std::shared_lock<std::shared_mutex>"}[kind]
        return [f"{how} held(guard);", "", *access]
    return Guard([(f"{kind} guard", "")], [], around)


def twin(plan):
    """The guard of a race-free program; those that change the access itself need none."""
    acquire = ("__atomic_load_n(&turn, __ATOMIC_ACQUIRE)",
               "__atomic_store_n(&turn, {next}, __ATOMIC_RELEASE);")
    makers = {
        "mutex": pthread_mutex, "recursive mutex": lambda: pthread_mutex("recursive"),
        "robust mutex": lambda: pthread_mutex("robust"),
        "trylock": lambda: pthread_mutex("trylock"), "rwlock": rwlock,
        "spinlock": lambda: lock("pthread_spinlock_t guard", ["pthread_spin_init(&guard, 0);"],
                                 ["pthread_spin_lock(&guard);"], ["pthread_spin_unlock(&guard);"]),
        "semaphore": lambda: lock("sem_t guard", ["sem_init(&guard, 0, 1);"],
                                  ["while (sem_wait(&guard))", "\t;"], ["sem_post(&guard);"]),
        "exchange lock": lambda: spinning(*EXCHANGE),
        "compare-exchange lock": lambda: spinning(*COMPARE),
        "ticket lock": ticket, "futex lock": lambda: spinning(*FUTEX),
        "acquire-release turns": lambda: turns(plan, *acquire),
        "sequentially consistent turns": lambda: turns(
            plan, "__atomic_load_n(&turn, __ATOMIC_SEQ_CST)",
            "__atomic_store_n(&turn, {next}, __ATOMIC_SEQ_CST);"),
        "condition turns": lambda: condition_turns(plan),
        "pipe token": lambda: token(plan, "pipe"), "eventfd token": lambda: token(plan, "eventfd"),
        "std::mutex": lambda: cpp_lock("std::mutex"),
        "std::shared_mutex": lambda: cpp_lock("std::shared_mutex"),
        "std::atomic turns": lambda: turns(plan, "turn.load(std::memory_order_acquire)",
                                           "turn.store({next}, std::memory_order_release);",
                                           "std::atomic<unsigned> turn", "{0}"),
        "std::atomic_flag lock": lambda: lock(
            "std::atomic_flag guard", [],
            ["while (guard.test_and_set(std::memory_order_acquire))", "\tsched_yield();"],
            ["guard.clear(std::memory_order_release);"], " = ATOMIC_FLAG_INIT"),
        "barrier": lambda: Guard(
            [("pthread_barrier_t meeting", ""), ("int last", "")],
            [f"pthread_barrier_init(&meeting, NULL, {plan.participants});"],
            lambda side, writes, access: access),
    }
    return makers.get(plan.twin, nothing)()


def one_side(plan):
    made = pthread_mutex()
    locked = 0 if plan.seed % 2 else 1
    return Guard(made.shared, made.set_up,
                 lambda side, writes, access: made.around(side, writes, access)
                 if side == locked else access), locked


def different():
    first, second = pthread_mutex(), pthread_mutex(name="other_guard")
    return Guard(first.shared + second.shared,
                 ["pthread_mutex_init(&other_guard, NULL);", "pthread_mutex_init(&guard, NULL);"],
                 lambda side, writes, access: (first, second)[side].around(side, writes, access))


def too_early():
    return Guard([("pthread_mutex_t guard", ""), ("unsigned long guarded", "")],
                 ["pthread_mutex_init(&guard, NULL);"],
                 lambda side, writes, access: ["pthread_mutex_lock(&guard);", "guarded++;",
                                               "pthread_mutex_unlock(&guard);", *access])


def mistake(plan):
    """The guard of a racing program, and for each side: are its own threads kept apart?"""
    if plan.mistake == "one side locks":
        guard, locked = one_side(plan)
        return guard, [side == locked for side in (0, 1)]
    if plan.mistake == "different locks":
        return different(), [True, True]
    if plan.mistake == "unlocked too early":
        return too_early(), [False, False]
    if plan.mistake == "write under read lock":
        return rwlock(wrong=True), [False, False]
    if plan.mistake == "one side atomic":
        atomic = plan.seed % 2
        return nothing(), [side == atomic for side in (0, 1)]
    return nothing(), [False, False]
