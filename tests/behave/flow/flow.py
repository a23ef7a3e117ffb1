#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trapline flow share` tells true sharing from false and none, in threads and processes; `waste`
agrees with an exhaustive count. A sample: tests/behave/flow/run does all.

usage: tests/behave/flow/flow.py build/trapline SHARING WASTING COUNTED FLOWS UNREAD KINDS PASSING ONWARD
FURTHER MOVES ASKED STYLES"""
import os
import sys
import unittest

import answers
import roads

TRAPLINE, SHARING, WASTING, COUNTED, FLOWS, UNREAD, KINDS, PASSING, ONWARD, FURTHER, MOVES, ASKED, STYLES = (
    os.path.abspath(sys.argv.pop(1)) for _ in range(13))

KINDS_O3 = roads.program_of(os.path.dirname(KINDS), "O3", "kinds")


def until_complete(walk):
    """A busy machine leaves little time to watch: what is missing may come in more of it, what is
    strange never may."""
    missing, strange, said = walk("2")
    if missing and not strange:
        missing, strange, said = walk("8")
    return missing, strange, said


class Roads(unittest.TestCase):
    def assert_complete(self, walk, program, *case):
        missing, strange, said = until_complete(lambda seconds: walk(TRAPLINE, program, *case, seconds))
        self.assertEqual((missing, strange), (set(), set()), said)


class Share(unittest.TestCase):
    def expect(self, actors, kind, distance, wanted):
        found, said = answers.sharing(TRAPLINE, SHARING, actors, kind, distance)
        self.assertEqual(sorted(set(found)), wanted, said)

    def test_counters_on_one_line_are_shared_falsely(self):
        self.expect("thread", "false", 8, ["false-sharing"])

    def test_one_counter_is_shared_truly(self):
        self.expect("fork", "true", 0, ["true-sharing"])

    def test_counters_on_their_own_lines_are_not_shared(self):
        self.expect("thread", "none", 128, [])

    def test_the_text_says_what_its_shares_are(self):
        import subprocess
        result = subprocess.run([TRAPLINE, "flow", "share", "--aggressive", "--", SHARING, "thread",
                                 "false", "8", "2"], capture_output=True, text=True, check=False)
        self.assertIn("not of time", result.stdout + result.stderr)


class Waste(unittest.TestCase):
    def test_shares_agree_with_an_exhaustive_count(self):
        errors = answers.waste_errors(TRAPLINE, WASTING, COUNTED, ["half-dead", "clean"])
        # A busy machine takes few samples.
        self.assertLess(max(error for error, _ in errors.values()), 12, errors)


class Unread(unittest.TestCase):
    def test_by_who_allocated(self):
        findings, said = answers.ask(TRAPLINE, ["unread"], [UNREAD, "4"])
        shares = {finding["accesses"][0]["stack"][0]["function"]: finding for finding in findings
                  if finding["kind"] == "unread-memory"}
        self.assertEqual(set(shares), {"never_read", "quarter_read", "untouched"}, said)
        for name, percent in (("never_read", 100), ("quarter_read", 75), ("untouched", 100)):
            low, high = (float(shares[name][bound]) for bound in ("low", "high"))
            self.assertLessEqual(low, percent + 8, (name, shares[name]))
            self.assertGreaterEqual(high, percent - 8, (name, shares[name]))
        self.assertEqual({name: float(found["block-bytes"]) for name, found in shares.items()},
                         {"never_read": 64, "quarter_read": 32, "untouched": 1000})


class From(Roads):
    def follow(self, case):
        self.assert_complete(roads.walk, FLOWS, case)

    def test_through_a_structure_that_is_copied(self):
        self.follow("struct")

    def test_what_a_function_made_that_was_called_by_a_pointer(self):
        self.follow("pointer")

    def test_from_one_thread_to_another(self):
        self.follow("queue")

    def test_each_threads_own_copy(self):
        missing, strange, said = roads.walk(TRAPLINE, FLOWS, "own", "3", roads.OWN, ("from", "own"))
        self.assertEqual((missing & {"keep_own", "keep_decoy"}, strange), (set(), set()), said)

    def follow_kind(self, case):
        self.assert_complete(roads.walk_kinds, KINDS, case)

    def test_through_a_call_by_a_pointer(self):
        self.follow_kind("callback")

    def test_from_the_text_that_a_number_was_read_from(self):
        self.follow_kind("strtoull")

    def test_what_a_function_returned_that_jumped_on(self):
        self.follow_kind("row")

    def test_from_the_text_that_sscanf_has_read(self):
        self.follow_kind("scan")

    def expect_nothing_strange(self, case, program=KINDS):
        _, strange, said = roads.walk_kinds(TRAPLINE, program, case, "2")
        self.assertEqual(strange, set(), said)

    def test_a_loop_that_keeps_one_of_many(self):
        self.expect_nothing_strange("varargs")

    def test_a_load_that_came_to_no_store(self):
        # The last load before the store may be one of another pass.
        self.expect_nothing_strange("varargs", KINDS_O3)

    def test_the_one_of_several_that_was_chosen(self):
        program = roads.program_of(os.path.dirname(FLOWS), "O3")
        _, strange, said = roads.walk(TRAPLINE, program, "most", "2")
        self.assertEqual(strange, set(), said)

    def test_the_one_of_several_that_one_store_was_made_of(self):
        program = roads.program_of(os.path.dirname(FLOWS), "O0")
        _, strange, said = roads.walk(TRAPLINE, program, "most", "4")
        self.assertEqual(strange, set(), said)

    def test_an_instruction_that_two_watches_see(self):
        self.expect_nothing_strange("many")

    def test_two_values_in_one_vector(self):
        self.expect_nothing_strange("pun")

    def pass_through(self, case):
        self.assert_complete(roads.walk_passing, PASSING, case)

    def test_the_one_of_many_that_pass_through_a_parameter(self):
        self.pass_through("slots")

    def test_the_one_of_many_that_pass_through_a_loops_variable(self):
        self.pass_through("reversal")

    def test_what_changes_places_before_it_is_read(self):
        _, strange, said = roads.walk_passing(TRAPLINE, PASSING, "insertion", "2")
        self.assertEqual(strange, set(), said)

    def test_the_second_word_that_a_function_returns(self):
        program = roads.program_of(os.path.dirname(PASSING), "O2", "passing")
        self.assert_complete(roads.walk_passing, program, "registers")

    def follow_further(self, case):
        self.assert_complete(roads.walk_further, FURTHER, case)

    def test_what_the_c_library_calls_back(self):
        self.follow_further("search")

    def test_from_a_function_s_blocks(self):
        program = roads.program_of(os.path.dirname(ONWARD), "O2", "onward")
        self.assert_complete(roads.walk_packets, program)

    def test_from_blocks_whose_memory_is_given_out_again(self):
        program = roads.program_of(os.path.dirname(ONWARD), "O2", "blocks")
        self.assert_complete(roads.walk_blocks, program, "node")

    def test_through_an_interpreters_stack(self):
        self.follow_further("script")

    def test_a_node_that_is_given_what_another_held(self):
        self.follow_further("tree")

    def follow_move(self, case, level="O2"):
        program = roads.program_of(os.path.dirname(MOVES), level, "moves")
        self.assert_complete(roads.walk_moves, program, case)

    def test_what_is_exchanged(self):
        self.follow_move("mail")

    def test_by_a_string_instruction(self):
        self.follow_move("page")

    def ask_about(self, case, level="O2"):
        program = roads.program_of(os.path.dirname(ASKED), level, "asked")
        self.assert_complete(roads.walk_asked, program, case)

    def test_a_zero_with_which_the_code_does_not_go_on(self):
        self.ask_about("steps")

    def test_through_a_hash_table_that_grows(self):
        self.ask_about("items")

    def follow_style(self, case, name):
        program = roads.program_of(os.path.dirname(STYLES), "O2", name)
        self.assert_complete(roads.walk_styles, program, case)

    def test_what_a_function_was_given_that_has_called_another(self):
        self.follow_style("nested", "habits")

    def test_through_a_function_that_others_call_by_another_way(self):
        if os.path.exists(roads.program_of(os.path.dirname(STYLES), "O2", "styles_cpp")):
            self.follow_style("tree", "styles_cpp")

    def test_what_a_search_returns_or_nothing(self):
        self.follow_style("bump", "styles")

    def test_what_another_caller_has_made_of_its_text(self):
        program = roads.program_of(os.path.dirname(STYLES), "O0", "styles_cpp")
        if os.path.exists(program):
            _, strange, said = roads.walk_styles(TRAPLINE, program, "settings", "4")
            self.assertEqual(strange, set(), said)

    def test_through_a_cache(self):
        self.follow_style("lru", "styles")

    def follow_chore(self, case, level, name="chores"):
        program = roads.program_of(os.path.dirname(STYLES), level, name)
        self.assert_complete(roads.walk_chores, program, case)

    def test_a_part_of_a_frame_of_bytes(self):
        # The bytes are not aligned, and calls return by way of the stack's slot that they go to.
        self.follow_chore("frame", "O3")

    def test_a_field_beside_another_in_one_byte(self):
        self.follow_chore("flags", "O2")

    def test_what_another_process_has_stored_to_memory_that_both_share(self):
        self.follow_chore("stages", "O2", "tasks")

    def test_a_register_that_a_function_has_not_set_is_no_source(self):
        program = roads.program_of(os.path.dirname(STYLES), "O1", "chores")
        findings, said = answers.ask(TRAPLINE, ["from", "result"], [program, "message", "3"])
        ends = [text for finding in findings if roads.writer(finding) == "message_keep"
                for name, text in finding.items() if name.startswith("end-")]
        self.assertFalse([text for text in ends if "constant" in text], said)

    def follow_returned(self, case):
        program = roads.program_of(os.path.dirname(FLOWS), "O2", "returned")
        self.assert_complete(roads.walk_returned, program, case)

    def test_a_text_that_is_read_for_two_callers(self):
        self.follow_returned("line")

    def test_a_register_that_changes_behind_a_call(self):
        self.follow_returned("behind")

    def test_a_register_that_leads_elsewhere_behind_a_call(self):
        self.follow_returned("turned")

    def test_two_calls_of_one_function(self):
        self.follow_returned("two")

    def test_a_variable_of_whose_values_a_loop_keeps_one(self):
        self.follow_returned("kept")

    def test_a_number_that_a_loop_makes_of_digits(self):
        self.follow_returned("digits")



class To(Roads):
    def test_through_a_structure_on_the_heap(self):
        self.assert_complete(roads.walk_on, FLOWS, "heap")

    def test_through_memmove(self):
        self.assert_complete(roads.walk_kinds_on, KINDS, "shift")


    def go_onward(self, case, level):
        program = roads.program_of(os.path.dirname(ONWARD), level, "onward")
        self.assert_complete(roads.walk_onward, program, case)

    def test_the_one_of_many_that_pass_through_a_parameter(self):
        self.go_onward("slots", "O0")

    def test_the_one_of_two_that_a_function_returns_in_turn(self):
        self.go_onward("stack", "O2")

    def test_elements_that_hold_either_in_turn(self):
        self.go_onward("ring", "O2")

    def test_the_one_that_a_search_keeps(self):
        self.go_onward("search", "O2")

    def move(self, case):
        self.assert_complete(roads.walk_moves_on, MOVES, case)

    def test_into_what_a_call_by_a_pointer_leads_to(self):
        program = roads.program_of(os.path.dirname(STYLES), "O2", "chores")
        missing, strange, said = until_complete(
            lambda seconds: roads.walk_chores_on(TRAPLINE, program, "events", seconds))
        self.assertEqual((missing, strange), (set(), set()), said)
        # The same call leads there with another value.
        self.assertNotIn("events_forget", said)

    def test_a_sum_of_many(self):
        self.move("sum")

    def test_a_real_number_that_a_function_returns(self):
        self.move("reals")

    def test_through_an_interpreters_stack(self):
        self.assert_complete(roads.walk_further_on, FURTHER, "script")


class Expression(unittest.TestCase):
    def ask(self, *words):
        import subprocess
        return subprocess.run([TRAPLINE, "flow", *words], capture_output=True, text=True, timeout=60,
                              check=False)

    def ask_in_time(self, *words):
        # A program waits for a bounded time, and where a machine is too busy for that it runs, and is said to.
        result = self.ask(*words)
        for _ in range(3):
            if "runs unwatched" in result.stderr:
                result = self.ask(*words)
        return result

    def test_one_that_means_nothing_is_refused_before_the_program_runs(self):
        for question in "from", "to":
            for name in "no_such_name", "environ->no_such_name":
                result = self.ask_in_time(question, name, "--", "sh", "-c", "echo begun")
                self.assertEqual((result.returncode, result.stdout), (2, ""), result)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertIn(name, result.stderr)

    def test_a_name_that_is_near_and_one_that_may_come(self):
        result = self.ask("from", "resul", "--", FLOWS, "counter", "0.1")
        self.assertIn("there is result", result.stderr)
        self.assertIn("--later", result.stderr)

    def test_a_name_that_comes_with_another_program(self):
        script = ["sh", "-c", f"{FLOWS} most 0.5; exit 3"]
        self.assertEqual(self.ask_in_time("from", "candidates", "--", *script).returncode, 2)
        result = self.ask("from", "candidates", "--later", "--aggressive", "--", *script)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("fill_candidates", result.stderr + result.stdout)

    def test_one_that_never_comes(self):
        result = self.ask("to", "no_such_name", "--later", "--", FLOWS, "counter", "0.1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("no_such_name", result.stderr)

    def test_a_library_that_is_named_is_waited_for(self):
        result = self.ask("from", "libnone.so:name", "--", FLOWS, "counter", "0.1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("libnone.so:name", result.stderr)

    def test_a_process_that_runs_already_goes_on(self):
        import subprocess
        with subprocess.Popen([FLOWS, "counter", "3"]) as program:
            result = self.ask("from", "no_such_name", "-p", str(program.pid))
            self.assertIsNone(program.poll())
            self.assertEqual(program.wait(), 0)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("no_such_name", result.stderr)


class Command(unittest.TestCase):
    def test_a_question_must_be_asked(self):
        import subprocess
        result = subprocess.run([TRAPLINE, "flow", "--", "true"], capture_output=True, text=True,
                                check=False)
        self.assertEqual(result.returncode, 2)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)


if __name__ == "__main__":
    if answers.must_skip(TRAPLINE):
        print("no hardware watchpoints here; see `trapline doctor`")
        sys.exit(answers.SKIP)
    unittest.main()
