# SPDX-License-Identifier: Apache-2.0
"""Puts a program together: its files and how it is compiled. The object is filled by another file, so that
no compiler knows what is missing there. With COMPLETE=1 nothing is."""

from draw import Draw

LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */"
COMPILERS = {("gcc", "c"): "gcc", ("gcc", "c++"): "g++", ("clang", "c"): "clang", ("clang", "c++"): "clang++"}


def function(head, lines):
    return [head, "{", *("\t" + line if line else "" for line in lines), "}", ""]


class Program:
    """The text of one seed's program."""

    def __init__(self, plan):
        self.plan = plan
        self.values = Draw(plan.seed, "values")

    # ---- the object

    def type_lines(self):
        plan = self.plan
        if plan.shape == "element":
            return ["struct object {", f"\t{plan.element} value[{plan.count}];", "};"]
        if plan.shape == "bit-field":
            members = [f"\tunsigned value{i} : {width};" for i, width in enumerate(plan.widths)]
        else:
            members = [f"\t{kind} value{i};" for i, kind in enumerate(plan.types)]
        return ["struct object {", *members, "};"]

    def place(self, number):
        return f"value[{number}]" if self.plan.shape == "element" else f"value{number}"

    def fill_lines(self):
        """Every value but the missing one, which is written where `complete`."""
        lines = []
        for number in range(self.plan.count):
            store = f"object->{self.place(number)} = {self.values.between(0, 3)};"
            if number == self.plan.missing:
                lines += ["if (complete)", "\t" + store]
            else:
                lines.append(store)
        return lines

    # ---- what becomes of it

    def use_lines(self):
        """`object` points to it."""
        plan = self.plan
        value = f"object->{self.place(plan.missing)}"
        # A value of either side of it fits.
        most = 2 ** plan.widths[plan.missing] - 2 if plan.shape == "bit-field" else 90
        bound = self.values.between(1, most)
        branch = [f"if ({value} > {bound})", "\ttouch();"]
        return {
            "branch": branch,
            "loop bound": [f"for (long i = 0; i < ((long){value} & 7); i++)", "\ttouch();"],
            "index": [f"sink += table[(unsigned char){value}];"],
            "address": [f"const long *at = (const long *)((uintptr_t)table + 8 * (uintptr_t)(unsigned char){value});",
                        "sink += *at;"],
            "argument": [f"sink += lseek(-1, (long){value}, SEEK_SET);"],
            "printed": ["char text[64];", "",
                        f'snprintf(text, sizeof(text), "%d", (int){value});', "sink += text[0];"],
            "memcpy": self.copy_lines("memcpy(copy, object, length);", True) + branch,
            "assignment": self.copy_lines("*copy = *object;", False) + branch,
            "copy loop": self.copy_lines(self.loop_text(), False) + branch,
        }[plan.use]

    def loop_text(self):
        if self.plan.shape == "element":
            return f"for (int i = 0; i < {self.plan.count}; i++) copy->value[i] = object->value[i];"
        return "for (size_t i = 0; i < sizeof(*copy); i++) " \
               "((volatile char *)copy)[i] = ((const char *)object)[i];"

    def copy_lines(self, text, with_length):
        target = {"frame": ["struct object there, *copy = &there;"],
                  "static": ["static struct object there;", "struct object *copy = &there;"],
                  "heap": ["struct object *copy = (struct object *)malloc(sizeof(*copy));"]}[self.plan.target]
        return [*target, *(["size_t length = sizeof(*copy);"] if with_length else []), "",
                *(["HIDE(length);"] if with_length else []), "HIDE(copy);", text, "HIDE(copy);", "object = copy;"]

    # ---- who makes it

    def make_lines(self):
        return {
            "malloc": ["struct object *object = (struct object *)malloc(sizeof(*object));"],
            "new": ["struct object *object = new struct object;"],
            "frame": ["struct object there, *object = &there;"],
            "realloc": ["struct object *object = (struct object *)malloc(sizeof(*object) / 2);"],
        }[self.plan.object]

    def round_lines(self):
        plan = self.plan
        lines = [*self.make_lines(), ""]
        if plan.object == "realloc":
            lines += [f"for (int i = 0; i < {plan.count // 2}; i++)", "\tobject->value[i] = 1;",
                      "object = (struct object *)realloc(object, sizeof(*object));"]
        lines += ["fill(object, complete);", f"{self.first_user()}(object);"]
        if plan.object != "frame":
            lines.append("delete object;" if plan.object == "new" else "free(object);")
        return lines

    def first_user(self):
        return f"hand_{self.plan.through}" if self.plan.through else "use_object"

    def through_lines(self):
        lines = []
        for number in range(1, self.plan.through + 1):
            inner = f"hand_{number - 1}" if number > 1 else "use_object"
            lines += function(f"static NOINLINE void hand_{number}(const struct object *object)",
                              [f"{inner}(object);", "sink++;"])
        return lines

    def filler_lines(self):
        """Other code, which leaves its remains on the stack and in the heap."""
        lines = []
        for number in range(self.plan.filler):
            length = self.values.between(16, 400)
            lines += function(f"static NOINLINE void filler_{number}(void)",
                              [f"char bytes[{length}], *block = (char *)malloc({length});", "",
                               f"memset(bytes, {self.values.between(1, 255)}, sizeof(bytes));",
                               f"memset(block, {self.values.between(1, 255)}, {length});",
                               f"sink += bytes[sink & 7] + block[{self.values.below(length)}];",
                               "free(block);"])
        return lines

    def main_lines(self):
        plan = self.plan
        complete = {"once": "COMPLETE", "hot": "COMPLETE",
                    "rare": f"COMPLETE || i != {plan.rare_round}"}[plan.times]
        calls = [f"\tfiller_{number}();" for number in range(plan.filler)]
        return ["for (int i = 0; i < " + str(plan.rounds) + "; i++) {", *calls,
                f"\tone_round({complete});", "}", "return 0;"]

    # ---- files

    def use_function(self):
        return function("NOINLINE void use_object(const struct object *object)", self.use_lines())

    def files(self):
        plan = self.plan
        ending = "cpp" if plan.language == "c++" else "c"
        header = [LICENCE, "#ifndef PROGRAM_H", "#define PROGRAM_H", "", '#include "cases.h"',
                  "#include <unistd.h>", "", *self.type_lines(), "",
                  "extern long table[256];", "void fill(struct object *object, int complete);",
                  "void use_object(const struct object *object);", "#endif"]
        fill = [LICENCE, '#include "program.h"', "", "long table[256];", "",
                *function("void fill(struct object *object, int complete)", self.fill_lines())]
        main = [LICENCE, '#include "program.h"', "", *([] if plan.apart else self.use_function()),
                *self.through_lines(), *self.filler_lines(),
                *function("static NOINLINE void one_round(int complete)", self.round_lines()),
                *function("int main(void)", self.main_lines())]
        files = {"program.h": header, f"fill.{ending}": fill, f"main.{ending}": main}
        if plan.apart:
            files[f"use.{ending}"] = [LICENCE, '#include "program.h"', "", *self.use_function()]
        return {name: "\n".join(lines).rstrip("\n") + "\n" for name, lines in files.items()}

    def compile_lines(self):
        plan = self.plan
        sources = " ".join(name for name in self.files() if name != "program.h")
        compiler = COMPILERS[plan.compiler, plan.language]
        return [f"{compiler} -gdwarf-4 {plan.level} -w -DCOMPLETE={complete} -o {name} {sources}"
                for name, complete in (("wrong", 0), ("correct", 1))]
