# SPDX-License-Identifier: Apache-2.0
"""The object that is shared and the statements that access it.

`Access.lines` are C and C++ alike; `c` is the thread's context. An object is NAME.FIELD or
NAME->FIELD; `place` decides which, and what sets it up."""

from draw import Draw


class Access:
    def __init__(self, kind, writes, lines):
        self.kind, self.writes, self.lines = kind, writes, lines


class Object:
    """Declaration, set-up and name of the object."""

    def __init__(self, plan, atomic_type=None):
        self.plan = plan
        self.atomic_type = atomic_type
        self.pointer = plan.place != "global"
        self.index = Draw(plan.seed, "element").between(1, 6)

    def expression(self):
        plan = self.plan
        if plan.place == "heap array":
            return f"{plan.name}[{self.index}].{plan.field}"
        return f"{plan.name}{'->' if self.pointer else '.'}{plan.field}"

    def member(self):
        plan = self.plan
        if plan.category == "scalar":
            return [f"{self.atomic_type or plan.scalar} {plan.field};"]
        if plan.category == "bit-field":
            return [f"unsigned {plan.field}_low : 3, {plan.field}_high : 7;"]
        if plan.category == "wide":
            return [f"struct wide {plan.field};"]
        return [f"char {plan.field}[64];"]

    def type_lines(self):
        plan = self.plan
        lines = [f"struct wide {{ unsigned long word[{plan.words}]; }};", "",
                 f"struct {plan.type} {{"]
        if plan.padding:
            lines.append(f"\tchar before[{plan.padding}];")
        return lines + [f"\t{line}" for line in self.member()] + ["\tlong after;", "};", ""]

    def declaration(self):
        return f"struct {self.plan.type} {'*' if self.pointer else ''}{self.plan.name}"

    def kinds(self):
        """The kinds of object that a finding may call it."""
        return {"global": ["global"], "heap": ["heap"], "heap array": ["heap"],
                "stack": ["stack"], "thread-local": ["tls"],
                "file mapping": ["other"]}[self.plan.place]

    def names(self):
        """What the finding's name for it may be."""
        plan = self.plan
        own = {"global": [plan.name], "stack": ["kept"], "thread-local": ["kept"]}
        return own.get(plan.place, [])

    def set_up(self):
        """Statements before any thread starts; what a keeper's own memory holds it sets itself."""
        plan = self.plan
        cast = f"(struct {plan.type} *)"
        if plan.place == "heap":
            return [f"{plan.name} = {cast}calloc(1, sizeof(*{plan.name}));"]
        if plan.place == "heap array":
            return [f"{plan.name} = {cast}calloc(8, sizeof(*{plan.name}));"]
        if plan.place == "file mapping":
            return ["FILE *file = tmpfile();", "",
                    "if (!file || ftruncate(fileno(file), 65536))", "\texit(2);",
                    f"{plan.name} = {cast}((char *)mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED,"
                    f" fileno(file), 0) + {64 * self.index});"]
        return []

    def kept(self):
        """Has a thread of its own the object in its stack or its thread-local memory?"""
        return self.plan.place in ("stack", "thread-local")


def scalar_writes(expression, kind, plan, draw):
    value = f"({plan.scalar})(c->turn * 7 + c->slot)"
    if kind == "plain":
        return [f"{expression} = {value};"]
    if plan.integer():
        return [draw.pick((f"{expression}++;", f"{expression} += {value};",
                           f"{expression} ^= {value};", f"{expression} -= 3;"))]
    return [draw.pick((f"{expression} += 1;", f"{expression} = {expression} * 2 + {value};"))]


def scalar_reads(expression, plan, draw):
    keep = "consume" if plan.integer() else "consume_real"
    return [draw.pick((f"{keep}({expression});",
                       f"c->words[5] += (unsigned long){expression};",
                       f"if ({expression} > ({plan.scalar})c->words[6])\n\t\tc->words[7]++;"))]


def scalar(expression, plan, draw, writes):
    if not writes:
        return Access("plain", False, scalar_reads(expression, plan, draw))
    kind = draw.pick(("plain", "update"))
    return Access(kind, True, scalar_writes(expression, kind, plan, draw))


def bit_field(expression, plan, draw, writes):
    name = expression + draw.pick(("_low", "_high"))
    if not writes:
        return Access("bit-field", False, [draw.pick((f"consume({name} + 0u);",
                                                      f"c->words[5] += {name};"))])
    return Access("bit-field", True,
                  [draw.pick((f"{name} = c->turn & 7;", f"{name}++;", f"{name} ^= 5;"))])


def wide(expression, plan, draw, writes):
    word = f"{expression}.word[{draw.below(plan.words)}]"
    if writes:
        return draw.pick((
            Access("wide", True, [f"memcpy(&{expression}, c->words + 8, sizeof({expression}));"]),
            Access("wide", True, ["struct wide fresh;", "",
                                  f"for (unsigned i = 0; i < {plan.words}; i++)",
                                  "\tfresh.word[i] = c->turn + i;", f"{expression} = fresh;"]),
            Access("plain", True, [f"{word} = c->turn;"]),
            Access("update", True, [f"{word} += c->turn;"])))
    return draw.pick((
        Access("wide", False, [f"memcpy(c->words + 16, &{expression}, sizeof({expression}));"]),
        Access("wide", False, [f"struct wide seen = {expression};", "",
                               f"for (unsigned i = 0; i < {plan.words}; i++)",
                               "\tc->words[24 + i] ^= seen.word[i];"]),
        Access("plain", False, [f"consume({word});"])))


def octets(expression, plan, draw, writes):
    """Lengths are of the thread's own and change, so that calls stay calls."""
    at = draw.below(8)
    if writes:
        return draw.pick((
            Access("libc call", True, [f"memcpy({expression}, c->bytes, c->length + c->turn % 24);"]),
            Access("libc call", True,
                   [f"memset({expression}, 'a' + (int)(c->turn % 26), c->length + c->turn % 24);"]),
            Access("libc call", True, ["c->bytes[8 + c->turn % 16] = 0;",
                                       f"strcpy({expression}, (char *)c->bytes);"]),
            Access("libc call", True, [f"snprintf({expression}, 32, \"%lu\", (unsigned long)c->turn);"]),
            Access("string", True, [f"copy_octets({expression}, c->bytes, c->length + c->turn % 24);"]),
            Access("plain", True, [f"{expression}[{at}] = (char)('a' + c->turn % 26);"]),
            Access("update", True, [f"{expression}[{at}] ^= 3;"])))
    return draw.pick((
        Access("libc call", False, [f"memcpy(c->bytes + 64, {expression}, c->length + c->turn % 24);"]),
        Access("libc call", False, [f"c->words[5] += strlen({expression});"]),
        Access("libc call", False,
               [f"c->words[5] += memcmp({expression}, c->bytes, c->length + c->turn % 24) == 0;"]),
        Access("libc call", False, [f"c->words[5] += strcmp({expression}, (char *)c->bytes) == 0;"]),
        Access("libc call", False,
               [f"c->words[5] += memchr({expression}, 'q', c->length + c->turn % 24) != NULL;"]),
        Access("string", False, [f"copy_octets(c->bytes + 64, {expression}, c->length + c->turn % 24);"]),
        Access("plain", False, [f"consume({expression}[{at}]);"])))


MAKERS = {"scalar": scalar, "bit-field": bit_field, "wide": wide, "bytes": octets}


def sides(plan, obj, draw):
    """The writer's access and the other one's, which may write, too."""
    make = MAKERS[plan.category]
    expression = obj.expression()
    first = make(expression, plan, draw, plan.twin != "read only")
    second = make(expression, plan, draw, plan.twin != "read only" and draw.chance(35))
    return overlapping(plan, obj, first, second, draw)


def overlapping(plan, obj, first, second, draw):
    """Two plain accesses of different words or octets of the object would not race."""
    small = ("plain", "update")
    if plan.category in ("wide", "bytes") and first.kind in small and second.kind in small:
        again = MAKERS[plan.category]
        while second.kind in small:
            second = again(obj.expression(), plan, draw, second.writes)
    if plan.category == "bit-field" and not second.writes:
        # A bit-field's store touches the whole unit, its load the field alone in the language.
        field = "_low" if "_low" in first.lines[0] else "_high"
        second.lines = [line.replace("_low", field).replace("_high", field)
                        for line in second.lines]
    return first, second


def atomic_lines(plan, obj, access, style):
    """The same access as an atomic one of the given style."""
    expression, value = obj.expression(), f"({plan.scalar})(c->turn * 7 + c->slot)"
    relaxed = "__ATOMIC_RELAXED"
    if style == "sync builtins":
        if not access.writes:
            return [f"consume(__sync_fetch_and_add(&{expression}, 0));"]
        return [f"__sync_fetch_and_add(&{expression}, {value});"]
    if style == "relaxed in functions":
        if not access.writes:
            return [f"consume(peek(&{expression}));"]
        if access.kind == "plain":
            return [f"poke(&{expression}, {value});"]
        return [f"poke(&{expression}, ({plan.scalar})(peek(&{expression}) + {value}));"]
    if style == "atomic type":
        names = ("std::", ".load(std::memory_order_relaxed)") if plan.language == "c++" else None
        if names and not access.writes:
            return [f"consume({expression}.load(std::memory_order_relaxed));"]
        if names:
            verb = "store" if access.kind == "plain" else "fetch_add"
            return [f"{expression}.{verb}({value}, std::memory_order_relaxed);"]
        if not access.writes:
            return [f"consume(atomic_load_explicit(&{expression}, memory_order_relaxed));"]
        verb = "store" if access.kind == "plain" else "fetch_add"
        return [f"atomic_{verb}_explicit(&{expression}, {value}, memory_order_relaxed);"]
    if not access.writes:
        return [f"consume(__atomic_load_n(&{expression}, {relaxed}));"]
    if access.kind == "plain":
        return [f"__atomic_store_n(&{expression}, {value}, {relaxed});"]
    if style == "relaxed two steps":
        return [f"{plan.scalar} seen = __atomic_load_n(&{expression}, {relaxed});", "",
                f"__atomic_store_n(&{expression}, ({plan.scalar})(seen + {value}), {relaxed});"]
    return [f"__atomic_fetch_add(&{expression}, {value}, {relaxed});"]
