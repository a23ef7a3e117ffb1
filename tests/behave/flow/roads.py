# SPDX-License-Identifier: Apache-2.0
"""The roads of flows.c: by case which functions write on the way, and which may besides."""
import os

import answers

ROADS = {
    "globals": (["finish_middle", "carry", "make"], []),
    "heap": (["finish_field", "fill_field", "make"], []),
    "struct": (["finish_field", "copy_record", "fill_field", "make"], []),
    "argument": (["finish_argument", "carry", "make"], ["pass_argument"]),
    "return": (["finish_return", "carry", "make"], ["fetch"]),
    "pointer": (["finish_pointer", "carry", "make"], ["fetch"]),
    # The C library's own function is left for the one that called it, or jumped to it.
    "memcpy": (["finish_table", "put_in_table", "make"], ["copy_others", "through_memcpy"]),
    "queue": (["take", "put", "make"], []),
    "parser": (["finish_parse", "read_line"], []),
    "counter": (["count"], []),
    "constant": (["finish_constant"], []),
    "hash": (["finish_lookup", "insert", "make"], []),
    "vector": (["finish_vector", "add_all", "put_in_source", "make"], []),
    "string": (["finish_text", "write_text", "make"], ["copy_text", "through_string"]),
}
# Which functions read on the way from `made`, by case.
WAYS = {
    "globals": (["carry", "finish_middle"], []),
    "heap": (["fill_field", "finish_field"], []),
    "argument": (["carry", "pass_argument"], ["finish_argument"]),
    "return": (["carry", "fetch"], []),
    "queue": (["put", "take"], []),
    "hash": (["insert", "finish_lookup"], []),
    "vector": (["put_in_source", "add_all", "finish_vector"], []),
}
LEVELS = ["O0", "O1", "O2", "O3"]


def writer(finding):
    """The function of the first frame outside the C library."""
    for frame in finding["accesses"][0]["stack"]:
        if "/libc.so" not in frame.get("module", "") and "function" in frame:
            return frame["function"]
    return "?"


def walk(trapline, program, case, seconds="3", roads=None, question=("from", "result")):
    """What is missing on the road, and what does not belong to it."""
    findings, said = answers.ask(trapline, list(question), [program, case, seconds])
    found = {writer(finding) for finding in findings if finding["kind"] == "flow-step"}
    wanted, allowed = (roads or ROADS)[case]
    # `seed`, of which all values are made, is written by run().
    return set(wanted) - found, found - set(wanted) - set(allowed) - {"run"}, said


def walk_on(trapline, program, case, seconds="3"):
    """The same forwards."""
    return walk(trapline, program, case, seconds, WAYS, ("to", "made"))


def program_of(directory, level):
    return os.path.join(directory, f"flow_flows_{level}")
