# SPDX-License-Identifier: Apache-2.0
"""Code that the program runs beside its access: functions that read and write their thread's own
memory, constants, and what one group of threads shares under its lock."""

# Instructions with a memory operand that a statement compiles to, about, at -O2.
PER_STATEMENT = 2.5
STATEMENTS = 10
PER_ASSEMBLY = 40
MOST_COMPILED = 1000


def statement(draw):
    """One or more lines; `c` is the thread's context, `local` and `sum` are the function's own."""
    a, b, k = draw.below(64), draw.below(64), draw.below(1000)
    small, octet = draw.below(16), draw.below(200)
    return draw.pick((
        f"c->words[{a}] += c->words[{b}] ^ {k};",
        f"c->words[{a}] = c->words[{b}] * {k | 1} + sum;",
        f"sum += c->words[{a}] >> {k % 13};",
        f"c->bytes[{octet + 40}] ^= (unsigned char)(c->words[{a}] + {k});",
        f"c->bytes[{octet + 41}] = (unsigned char)sum;",
        f"sum += c->bytes[{octet}] * c->bytes[{octet + 50}];",
        f"c->reals[{small}] = c->reals[{(small + 3) % 16}] * 0.5 + (double){k};",
        f"local[{small % 8}] += sum + c->words[{b}];",
        f"sum ^= local[{small % 8}] + local[{(small + 5) % 8}];",
        f"sum += table[(sum + {k}) % 256];",
        f"if (c->words[{a}] & {1 << small})\n\t\tc->words[{b}] ^= table[{octet}];",
        f"c->chain[{small % 8}].value += c->chain[{small % 8}].next->value + {k};",
        f"for (unsigned i = 0; i < {small % 5 + 1}; i++)\n"
        f"\t\tsum += c->chain[(i + {k}) % 8].next->value;",
        f"memcpy(c->bytes + {octet % 100}, c->words + {a % 56}, {8 + small});",
    ))


def rare(draw):
    """What takes a lock, or is atomic: not in every function."""
    k = draw.below(16)
    return draw.pick((
        f"pthread_mutex_lock(&c->group->lock);\n\tc->group->count += sum & {k};\n"
        f"\tc->group->history[{k}] = sum;\n\tpthread_mutex_unlock(&c->group->lock);",
        f"__atomic_fetch_add(&statistics[{k}], 1, __ATOMIC_RELAXED);",
        f"sum += __atomic_load_n(&statistics[{k}], __ATOMIC_RELAXED);",
    ))


def function(number, draw, statements):
    lines = [f"WORK void work_{number}(struct context *c)", "{",
             "\tunsigned long sum = c->turn, local[8] = {0};", ""]
    for _ in range(statements):
        lines.append(f"\t{statement(draw)}")
    if draw.chance(12):
        lines.append(f"\t{rare(draw)}")
    if number and draw.chance(25):
        # The number called is of those that call nobody, so that one round stays short.
        lines.append(f"\tleaf_{draw.below(min(number, 8))}(c);")
    return lines + ["\tc->words[sum % 64] += sum + local[sum % 8];", "}", ""]


def leaf(number, draw):
    return [f"WORK void leaf_{number}(struct context *c)", "{",
            f"\tc->words[{draw.below(64)}] += c->words[{draw.below(64)}];",
            f"\tc->bytes[{draw.below(256)}]++;", "}", ""]


def instruction(draw):
    """Lines of assembly with one or two memory operands in the context, whose address is in rdi; they
    leave all registers alone but for rax, rcx, rdx, xmm0 and the flags."""
    word, other, octet = 8 * draw.below(64), 8 * draw.below(64), 512 + draw.below(256)
    real, register = 768 + 8 * draw.below(16), draw.pick(("a", "c", "d"))
    return draw.pick((
        [f"movq {word}(%rdi), %r{register}x"],
        [f"movq %r{register}x, {word}(%rdi)"],
        [f"addq %r{register}x, {word}(%rdi)"],
        [f"xorq {word}(%rdi), %r{register}x"],
        [f"movzbl {octet}(%rdi), %e{register}x"],
        [f"movb %{register}l, {octet}(%rdi)"],
        [f"incl {word}(%rdi)"],
        [f"cmpq ${draw.below(99)}, {word}(%rdi)", f"cmovneq {other}(%rdi), %r{register}x"],
        [f"movsd {real}(%rdi), %xmm0", f"addsd {768 + 8 * draw.below(16)}(%rdi), %xmm0"],
        [f"movups {word & ~15 if word < 496 else 480}(%rdi), %xmm0"],
        [f"testb $4, {octet}(%rdi)", "jne 1f", f"movl {word}(%rdi), %eax", "1:"],
    ))


def assembly(count, draw):
    """Functions asm_0, asm_1 … of some 40 instructions, and the table of them. Compiling as much C
    takes minutes; what is sampled and watched is the same."""
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */",
             "/* As compilers make them: each works on its thread's own memory. */", "\t.text"]
    for number in range(count):
        lines += [f"\t.type asm_{number}, @function", f"asm_{number}:", "\t.cfi_startproc"]
        for _ in range(PER_ASSEMBLY):
            lines += [f"\t{line}" for line in instruction(draw)]
        lines += ["\tret", "\t.cfi_endproc", f"\t.size asm_{number}, . - asm_{number}"]
    lines += ["\t.section .data.rel.ro.local, \"aw\"", "\t.globl asm_works", "\t.hidden asm_works",
              "\t.balign 8", "asm_works:"]
    lines += [f"\t.quad asm_{number}" for number in range(count)]
    return lines + ["\t.section .note.GNU-stack, \"\", @progbits"]


def counts(plan):
    """How many functions of C, and of assembly."""
    compiled = max(1, round(min(plan.code, MOST_COMPILED) / (PER_STATEMENT * STATEMENTS)))
    return compiled, max(0, plan.code - MOST_COMPILED) // PER_ASSEMBLY


def source(plan, draw):
    """Lines of the file."""
    count, assembled = counts(plan)
    statements = STATEMENTS if plan.code > 10 else 3
    lines = ["/* SPDX-License-Identifier: Apache-2.0 */", '#include "program.h"', "",
             "#define WORK static __attribute__((noinline))", "",
             "static const unsigned char table[256] = {1, 7, 19, 33, 70, 91, 130, 201};",
             "static unsigned long statistics[16];", ""]
    leaves = min(count, 8)
    for number in range(leaves):
        lines += leaf(number, draw)
    for number in range(count):
        lines += function(number, draw, statements)
    lines += ["typedef void work(struct context *c);", "",
              f"static work *const works[{count}] = {{"]
    lines += [f"\t{', '.join(f'work_{n}' for n in range(at, min(at + 8, count)))},"
              for at in range(0, count, 8)]
    lines += ["};", ""]
    if assembled:
        lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif",
                  f"extern work *const asm_works[{assembled}];",
                  "#ifdef __cplusplus", "}", "#endif", ""]
    return lines + step(plan, count, assembled)


def step(plan, count, assembled):
    """A round of work: the next few functions. A stride without a common divisor with their number
    comes by all of them."""
    total = count + assembled
    stride = next(s for s in range(total // 2 + 1, 2 * total + 2) if coprime(s, total))
    call = "works[c->position](c);"
    if assembled:
        call = f"(c->position < {count} ? works[c->position] : asm_works[c->position - {count}])(c);"
    return ["void work_step(struct context *c)", "{", "\tc->turn++;",
            f"\tfor (unsigned i = 0; i < {plan.fan}; i++) {{",
            f"\t\tc->position = (c->position + {stride}) % {total};", f"\t\t{call}", "\t}", "}"]


def coprime(a, b):
    while b:
        a, b = b, a % b
    return a == 1
