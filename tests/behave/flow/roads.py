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
    "most": (["finish_most", "fill_candidates", "make"], []),
    "own": (["finish_own", "keep_own", "make"], []),
}
# From `own`, of which each thread has its own copy.
OWN = {"own": (["keep_own", "keep_decoy", "make"], ["make_decoy"])}
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
# The roads of kinds.c and kinds.cc. Copying that is the last thing a function does is its caller's.
KINDS = {
    "ring": (["pop", "push", "make"], []),
    "scan": (["finish_number", "scan", "write_number", "make"], []),
    "strtoull": (["finish_number", "parse", "write_number", "make"], []),
    "row": (["finish_row", "parse_row", "write_row", "make"], ["field"]),
    "callback": (["finish_heard", "hear", "make"], ["notify", "publish"]),
    "jump": (["catch_it", "throw_it", "make"], []),
    "varargs": (["finish_picked", "pick", "make"], ["give"]),
    "many": (["finish_ninth", "many", "make"], ["give_many"]),
    "bits": (["finish_bits", "fill_bits", "make"], []),
    "pun": (["finish_whole", "write_real", "make"], []),
    "shift": (["finish_shifted", "insert_first", "make"], ["shift", "through_shift"]),
    "list": (["finish_list", "prepend", "make"], []),
    "reals": (["finish_scaled", "scale", "put_real", "make"], []),
    "sort": (["finish_sorted", "fill_entries", "make"], ["sort", "through_sort"]),
    "local": (["finish_local", "fill_local", "make"], []),
    "pipe": (["finish_received", "receive"], []),
    "shared": (["finish_shared", "put_shared", "make"], ["serve_shared"]),
}
KINDS_CPP = {
    "map": (["finish_map", "put_in_map", "make"], []),
    "names": (["finish_names", "put_in_names", "make"], []),
    "word": (["finish_phrase", "write_word", "make"], ["copy_word", "through_word"]),
    "virtual": (["finish_area", "set_side", "make"], []),
    "grown": (["finish_grown", "append", "make"], []),
    "lambda": (["finish_kept", "keep", "make"], []),
    "exception": (["finish_failure", "fail", "make"], []),
}
# The roads of passing.c.
PASSING = {
    "slots": (["finish_slot", "put", "make"], ["get", "fill_slots"]),
    "reversal": (["finish_row", "reverse", "fill_row", "make"], []),
    "insertion": (["finish_pairs", "sort", "fill_pairs", "make"], []),
    "registers": (["finish_second", "take_pair", "make"], ["make_pair"]),
    "check": (["finish_checked", "check", "make"], ["check_made"]),
    "copies": (["finish_far", "copy_between", "copy_near", "fill_near", "make"], []),
}
# The roads of onward.c: forwards from `made`, where all but what is allowed reads decoys.
ONWARD = {
    "slots": (["fill_slots", "finish_slot"], ["put"]),
    "ring": (["push_all", "finish_pop"], ["push"]),
    "stack": (["save_made", "finish_kept"], ["save", "restore", "keep"]),
    "search": (["fill_shelf", "choose", "finish_best"], []),
}
# The same from a block that make_packet() allocates.
PACKETS = {"packets": (["unpack", "announce", "finish_announced"], ["make_packet"])}
# The roads of further.c and further.cc, and the same forwards.
FURTHER = {
    "search": (["finish_noted", "probe", "fill_entries", "make"], []),
    "script": (["finish_script", "interpret", "load_variables", "make"], []),
    "code": (["finish_decoded", "decode", "encode", "make"], ["encode_all"]),
    "tree": (["finish_tree", "remove_root", "insert", "make"], ["grow"]),
    # Of the rows that are multiplied one is `made`, and each number of a column takes part.
    "product": (["finish_product", "multiply", "fill_left", "fill_right", "make"], []),
}
FURTHER_CPP = {
    "sort": (["finish_sorted", "fill_entries", "make"], ["sort_entries"]),
    "jobs": (["finish_job", "submit_all", "make"], []),
    "visit": (["finish_seen", "make_shapes", "make"], ["visit_all"]),
    "stream": (["finish_number"], ["parse_number", "print_number", "make"]),
}
FURTHER_WAYS = {
    "search": (["fill_entries", "probe", "finish_noted"], []),
    "script": (["load_variables", "interpret", "finish_script"], []),
    "code": (["encode_all", "decode", "finish_decoded"], ["encode"]),
    "tree": (["grow", "remove_root", "finish_tree"], ["insert"]),
    "product": (["fill_left", "multiply", "finish_product"], []),
}
FURTHER_CPP_WAYS = {
    "sort": (["fill_entries", "finish_sorted"], ["sort_entries"]),
    # A compiler may have the caller load what is given by reference.
    "jobs": (["submit_all"], ["finish_job", "work_all"]),
    "visit": (["make_shapes", "finish_seen"], ["visit_all"]),
    "stream": (["print_number"], ["parse_number", "finish_number"]),
}
# The roads of moves.c, and the same forwards. All amounts are part of the sum.
MOVES = {
    "page": (["finish_page", "copy_page", "fill_page", "make"], []),
    "mail": (["finish_mail", "send", "make"], ["take"]),
    "pool": (["finish_popped", "push", "make"], ["push_all"]),
    "reals": (["finish_real", "keep_real", "put_reals", "make"], ["half_of"]),
    "sum": (["finish_total", "take_bills", "fill_bills"], ["make", "make_decoy"]),
    "tokens": (["finish_token", "write_line", "make"], []),
    "block": (["finish_block", "put_in_block", "make"], ["grow_block", "through_block"]),
}
MOVES_WAYS = {
    "page": (["fill_page", "copy_page", "finish_page"], []),
    "mail": (["send_made", "take"], ["send"]),
    "pool": (["push_all", "finish_popped"], ["push"]),
    "reals": (["put_reals", "half_of", "finish_real"], []),
    "sum": (["fill_bills", "take_bills", "finish_total"], []),
    # strtok_r() reads all of the text.
    "tokens": (["write_line"], ["through_tokens", "finish_token"]),
    "block": (["put_in_block", "finish_block"], ["grow_block", "through_block"]),
}
# Forwards.
KINDS_WAYS = {
    "ring": (["push", "pop"], []),
    "callback": (["notify", "finish_heard"], ["publish", "hear"]),
    "jump": (["throw_it", "catch_it"], []),
    "varargs": (["give", "pick", "finish_picked"], []),
    "many": (["give_many", "many", "finish_ninth"], []),
    "bits": (["fill_bits", "finish_bits"], []),
    "pun": (["write_real", "finish_whole"], []),
    "shift": (["insert_first", "finish_shifted"], ["shift", "through_shift"]),
    "list": (["prepend", "finish_list"], []),
    "reals": (["put_real", "scale", "finish_scaled"], []),
    "sort": (["fill_entries", "finish_sorted"], ["sort", "through_sort"]),
    "local": (["fill_local", "finish_local"], []),
    "scan": (["write_number"], ["scan", "finish_number"]),
}
KINDS_CPP_WAYS = {
    "map": (["put_in_map", "finish_map"], []),
    "names": (["put_in_names", "finish_names"], []),
    "word": (["write_word", "finish_phrase"], ["copy_word", "through_word"]),
    "virtual": (["set_side", "area"], ["finish_area"]),
    "grown": (["append", "finish_grown"], []),
    "lambda": (["keep", "finish_kept"], []),
    "exception": (["fail", "finish_failure"], []),
}
# The roads of asked.c, asked.cc and replies.c, and the same forwards. What is printed, and what
# another process makes of what it is sent by a pipe, need not be told.
ASKED = {
    "messages": (["finish_message", "post", "make"], ["consume", "post_all"]),
    "document": (["finish_document", "read_number", "write_document", "make"], []),
    "items": (["finish_item", "add_item", "make"], ["add_items"]),
    # Where printing is the last thing that the function does, it may be its caller's.
    "print": (["scan_token", "print_line"], ["through_print", "make"]),
    "people": (["finish_people", "fill_people", "make"], []),
    "branches": (["finish_branch", "grow_branches", "make"], ["find_branch"]),
    # What functions return need not go through memory.
    "steps": (["finish_steps", "set_base", "make"], ["step_of"]),
    "packet": (["finish_packet", "put_on_wire", "fill_fields", "make"], []),
    "vectors": (["finish_weighed", "weigh", "fill_inputs", "make"], []),
    "failure": (["finish_failed", "fail_with", "make"], ["descend", "descend_made"]),
}
REPLIES = {
    "pipes": (["finish_answer", "ask_child"], ["serve_pipe", "make"]),
    "board": (["finish_board", "reply_board", "ask_board", "make"], ["serve_board"]),
}
ASKED_CPP = {
    "rows": (["finish_rows", "choose_rows", "fill_rows", "make"], []),
    "handlers": (["finish_handled", "make"], ["dispatch", "dispatch_all", "through_handlers"]),
    "accounts": (["finish_balance", "make"], ["saving", "open_accounts", "balance"]),
    "stages": (["finish_stages", "keep_input", "make"], ["through_stages"]),
}
ASKED_WAYS = {
    "messages": (["post_all", "consume", "finish_message"], ["post"]),
    # The parser chooses by each character what reads it.
    "document": (["write_document", "read_number", "finish_document"], ["read_document"]),
    "items": (["add_items", "finish_item"], ["add_item"]),
    "print": (["print_line"], ["through_print", "scan_token"]),
    "people": (["fill_people", "finish_people"], []),
    "branches": (["grow_branches", "find_branch"], ["finish_branch"]),
    "steps": (["set_base", "step_of"], ["finish_steps"]),
    # The whole word is read by both.
    "packet": (["fill_fields", "put_on_wire", "finish_packet"], ["finish_other_packet"]),
    "vectors": (["fill_inputs", "weigh", "finish_weighed"], []),
    "failure": (["descend_made", "finish_failed"], ["descend", "fail_with"]),
}
REPLIES_WAYS = {
    "pipes": (["ask_child"], ["serve_pipe", "finish_answer"]),
    "board": (["ask_board", "reply_board", "finish_board"], ["serve_board"]),
}
ASKED_CPP_WAYS = {
    "rows": (["fill_rows", "choose_rows", "finish_rows"], []),
    "handlers": (["dispatch_all"], ["dispatch", "finish_handled", "through_handlers"]),
    # free() looks at the block that is freed for its own mark, where the value was.
    "accounts": (["balance"], ["open_accounts", "saving", "finish_balance", "~saving"]),
    "stages": (["keep_input"], ["finish_stages", "through_stages"]),
}
# The roads of styles.c, habits.c and styles.cc, and the same forwards. What the last call of a
# function does may be its caller's.
STYLES = {
    "json": (["json_finish", "json_write", "make"], ["json_number"]),
    "ring": (["ring_run", "ring_submit", "make"], ["ring_worker", "ring_submit_all"]),
    "lru": (["lru_finish", "lru_set", "make"], ["lru_get", "lru_fill"]),
    "matrix": (["matrix_finish", "matrix_scale", "matrix_transpose", "matrix_fill", "make"], []),
    "machine": (["machine_finish", "machine_byte", "machine_emit", "make"], ["machine_write"]),
    "bump": (["bump_finish", "bump_record", "make"], ["bump_find", "bump_build"]),
    # Backwards a socket is an end.
    "echo": (["echo_finish"], ["echo_receive"]),
}
HABITS = {
    "conf": (["conf_finish", "conf_line", "conf_write", "make"], []),
    "log": (["log_finish", "log_event", "make"], ["log_all"]),
    "bits": (["bits_finish", "bits_swap", "bits_fill", "make"], []),
    "qsort": (["sort_finish", "sort_fill", "make"], []),
    "list": (["list_finish", "list_spawn", "make"], ["list_spawn_all"]),
    "mean": (["mean_finish", "mean_fill", "make"], ["mean_of"]),
    "nested": (["nested_finish", "nested_fill", "make"], ["nested_inner", "nested_outer"]),
}
STYLES_CPP = {
    "settings": (["settings_finish", "settings_fill", "make"], ["settings_get", "settings_put"]),
    "book": (["book_finish", "book_fill", "make"], ["book_sort", "through_book"]),
    "tree": (["tree_finish", "make"], ["tree_build", "eval", "number"]),
    "channel": (["channel_finish", "make"],
        ["channel_submit", "put", "take", "channel_work", "through_channel"]),
    "signal": (["signal_finish", "make"], ["signal_fire", "fire", "through_signal"]),
    "vec": (["vec_finish", "vec_add", "vec_fill", "make"], []),
    "cache": (["cache_finish", "make"], ["cache_fill", "get", "set"]),
    "words": (["words_finish", "words_join", "make"], ["words_split"]),
}
# The roads of returned.c. Of `kept` it is not known which of a loop's loads was kept.
RETURNED = {
    "line": (["finish_line", "write_digits", "make"], ["read_line", "write_line"]),
    "behind": (["finish_behind", "fill_box", "make"], ["twice"]),
    "turned": (["finish_turned", "fill_box", "make"], ["open_box", "twice"]),
    "two": (["finish_two", "fill_box", "fill_second", "make"], ["value_of"]),
    "kept": (["finish_kept"], ["pick", "put_one", "make"]),
    "digits": (["finish_digits", "digits_read", "digits_write", "make"], []),
}
STYLES_WAYS = {
    "json": (["json_write"], ["json_number", "json_finish", "json_tokenize"]),
    "ring": (["ring_submit_all", "ring_run"], ["ring_worker", "ring_submit"]),
    "lru": (["lru_fill", "lru_finish"], ["lru_get", "lru_set"]),
    "matrix": (["matrix_fill", "matrix_transpose", "matrix_scale", "matrix_finish"], []),
    "machine": (["machine_write", "machine_byte", "machine_finish"],
        ["machine_emit", "machine_feed"]),
    "bump": (["bump_build"], ["bump_record", "bump_find", "bump_finish"]),
    "echo": (["through_echo"], ["echo_send", "echo_serve", "echo_receive", "echo_finish"]),
}
HABITS_WAYS = {
    "conf": (["conf_write"], ["conf_line", "conf_finish"]),
    "log": (["log_all", "log_event", "log_finish"], []),
    # The whole word is read by both.
    "bits": (["bits_fill", "bits_swap", "bits_finish"], ["bits_finish_other"]),
    "qsort": (["sort_fill", "sort_finish"], []),
    "list": (["list_spawn_all", "list_finish"], ["list_spawn"]),
    "mean": (["mean_fill", "mean_of"], ["mean_finish"]),
    "nested": (["nested_fill", "nested_finish"],
        ["nested_inner", "nested_outer", "through_nested"]),
}
STYLES_CPP_WAYS = {
    "settings": (["settings_fill"], ["settings_put", "settings_get", "settings_finish"]),
    "book": (["book_fill", "book_finish"], ["book_sort", "through_book"]),
    # free() looks at the block that is freed for its own mark.
    "tree": (["tree_build"], ["number", "eval", "tree_finish", "~number", "~sum"]),
    "channel": (["channel_submit"], ["put", "take", "channel_work", "channel_finish"]),
    "signal": (["signal_fire", "signal_finish"], ["fire"]),
    "vec": (["vec_fill", "vec_add", "vec_finish"], []),
    "cache": (["cache_fill"], ["set", "get", "cache_finish"]),
    "words": (["words_join"], ["words_split", "words_finish"]),
}
# The roads of chores.c, tasks.c and chores.cc, and the same forwards.
CHORES = {
    "value": (["value_finish", "value_swap", "value_pair", "make"], ["through_value"]),
    "record": (["record_finish", "record_new", "make"], ["through_record"]),
    "orders": (["orders_finish", "orders_put", "make"],
        ["orders_get", "orders_serve", "through_orders"]),
    "frame": (["frame_decode", "frame_next", "frame_put", "frame_encode", "make"], []),
    "path": (["path_finish", "path_part", "make"], ["path_join", "through_path"]),
    "status": (["status_finish", "status_write", "make"], []),
    "sums": (["sums_finish", "sums_write", "make"],
        ["sums_primary", "sums_term", "sums_expression"]),
    "words": (["words_finish", "words_set", "make"], ["through_words"]),
    "events": (["events_finish", "events_keep", "events_post", "make"], ["events_dispatch"]),
    "scale": (["scale_finish", "scale_all", "scale_fill", "make"], []),
    "message": (["message_finish", "message_keep", "make"], ["message_send"]),
    "flags": (["flags_finish", "flags_fill", "make"], []),
    "failure": (["failure_finish", "failure_throw", "make"], ["failure_deep", "through_failure"]),
    "copy": (["copy_finish", "copy_link", "copy_fill", "make"], []),
    # The bytes are places in the table, of which the sum is made.
    "check": (["check_finish", "check_begin"], ["check_sum"]),
    "mix": (["mix_finish", "mix_in", "make"], []),
}
TASKS = {
    "stages": (["stages_finish", "stages_serve", "stages_ask", "make"], []),
    "buffers": (["buffers_finish", "buffers_fill", "make"], ["through_buffers"]),
    "screen": (["screen_finish", "screen_draw", "make"], []),
    "urgent": (["urgent_finish", "urgent_push", "make"], ["urgent_pop", "urgent_fill"]),
    # The letters are constants in a table, in which the number is a place.
    "hex": (["hex_finish", "hex_write"], ["hex_read", "hex_encode"]),
    "letters": (["letters_finish", "letters_put", "make"], ["through_letters"]),
    "text": (["text_finish", "text_add", "make"], ["text_write", "through_text"]),
    "file": (["file_finish"], []),
    "gap": (["gap_finish", "gap_insert", "make"], ["gap_fill"]),
    "columns": (["columns_finish", "columns_turn", "columns_fill", "make"], []),
    "decimal": (["decimal_finish", "decimal_double", "decimal_split", "make"],
        ["through_decimal"]),
    "ranks": (["ranks_finish", "ranks_fill", "make"], []),
    "worker": (["worker_finish", "worker_run", "worker_begin", "make"], ["through_worker"]),
}
CHORES_CPP = {
    "rows": (["rows_finish", "rows_fill", "make"], []),
    "users": (["users_finish", "users_set", "make"], ["through_users"]),
    "shapes": (["shapes_finish", "strip", "make"], ["area", "shapes_fill"]),
    "filters": (["filters_finish", "make"], ["filters_begin"]),
    "ordered": (["ordered_finish", "ordered_fill", "make"], ["ordered_sort"]),
    "fields": (["fields_finish", "fields_write", "make"], ["fields_get"]),
    "answer": (["answer_finish", "answer_make", "make"], ["through_answer"]),
    "timers": (["timers_finish", "timers_add", "make"], ["timers_fill"]),
    "news": (["news_finish", "notify", "news_write", "make"], ["news_tell"]),
    "thrown": (["thrown_finish", "over_limit", "make"], ["thrown_check"]),
    "lines": (["lines_finish", "lines_add", "make"], []),
}
CHORES_WAYS = {
    "value": (["value_pair", "value_swap", "value_finish"], ["through_value"]),
    "record": (["through_record", "record_finish"], ["record_new"]),
    "orders": (["through_orders", "orders_get", "orders_finish"], ["orders_put", "orders_serve"]),
    "frame": (["frame_encode", "frame_put", "frame_next", "frame_decode"], []),
    "path": (["path_part", "path_finish"], ["path_join", "through_path"]),
    "status": (["status_write", "status_finish"], []),
    "sums": (["sums_write", "sums_primary"], ["sums_term", "sums_expression", "sums_finish"]),
    "words": (["through_words", "words_finish"], ["words_set"]),
    "events": (["events_post", "events_dispatch", "events_finish"], ["events_keep"]),
    # Of each the first element is followed.
    "scale": (["scale_fill", "scale_all"], ["scale_finish"]),
    "message": (["message_send", "message_keep", "message_finish"], []),
    "flags": (["flags_fill", "flags_finish"], []),
    "failure": (["through_failure", "failure_finish"], ["failure_throw", "failure_deep"]),
    "copy": (["copy_fill", "copy_link", "copy_finish"], []),
    "check": (["check_fill", "check_sum"], []),
    "mix": (["mix_in", "mix_finish"], []),
}
TASKS_WAYS = {
    "stages": (["stages_ask", "stages_serve", "stages_finish"], []),
    "buffers": (["through_buffers", "buffers_finish"], ["buffers_fill"]),
    "screen": (["screen_draw", "screen_finish"], []),
    "urgent": (["urgent_fill", "urgent_pop"], ["urgent_push", "urgent_finish"]),
    "hex": (["hex_encode"], ["hex_write"]),
    "letters": (["through_letters", "letters_finish"], ["letters_put"]),
    "text": (["text_write", "text_finish"], ["text_add"]),
    "file": (["file_save"], []),
    "gap": (["gap_fill", "gap_insert", "gap_finish"], []),
    "columns": (["columns_fill", "columns_turn", "columns_finish"], []),
    "decimal": (["through_decimal", "decimal_double", "decimal_finish"], ["decimal_split"]),
    "ranks": (["ranks_fill", "ranks_finish"], []),
    "worker": (["worker_begin", "worker_run", "worker_finish"], []),
}
CHORES_CPP_WAYS = {
    "rows": (["rows_fill", "rows_finish"], []),
    "users": (["through_users", "users_finish"], ["users_set"]),
    "shapes": (["shapes_fill", "area"], ["strip", "shapes_finish"]),
    "filters": (["filters_finish"], ["filters_begin"]),
    "ordered": (["ordered_fill", "ordered_finish"], ["ordered_sort", "through_ordered"]),
    "fields": (["fields_write", "fields_get"], ["fields_finish"]),
    "answer": (["answer_make", "answer_finish"], ["through_answer"]),
    "timers": (["timers_fill", "timers_finish"], ["timers_add"]),
    "news": (["news_write", "news_tell", "news_finish"], ["notify"]),
    "thrown": (["thrown_finish"], ["thrown_check", "over_limit"]),
    "lines": (["lines_add", "lines_finish"], []),
}
LEVELS = ["O0", "O1", "O2", "O3"]


LIBRARIES = ("/libc.so", "/libm.so", "/libstdc++.so", "/libtrapline")
TEMPLATES = ("std::", "__gnu_cxx::", "operator", "lambda", "_M_")


def writer(finding):
    """The function of the first frame outside the libraries and their templates; None: no such."""
    for frame in finding["accesses"][0]["stack"]:
        # Clang names the namespace that has no name, which compilers write in brackets.
        name = frame.get("function", "").replace("(anonymous namespace)::", "")
        if (name and not any(part in frame.get("module", "") for part in LIBRARIES)
                and not frame.get("file", "").startswith("/usr/include/c++/")
                and not any(part in name for part in TEMPLATES)):
            return name.split("(")[0].split("<")[0].split("::")[-1]
    return None


# The roads of blocks.c, from and to the blocks of make_node().
BLOCKS = {"node": (["fill_node", "make"], [])}
BLOCKS_WAYS = {"node": (["finish_node"], [])}


def walk(trapline, program, case, seconds="3", roads=None, question=("from", "result")):
    """What is missing on the road, and what does not belong to it."""
    findings, said = answers.ask(trapline, list(question), [program, case, seconds])
    found = {writer(finding) for finding in findings if finding["kind"] == "flow-step"}
    wanted, allowed = (roads or ROADS)[case]
    # `seed`, of which all values are made, is written by run().
    return set(wanted) - found, found - set(wanted) - set(allowed) - {"run", None}, said


def walk_on(trapline, program, case, seconds="3"):
    """The same forwards."""
    return walk(trapline, program, case, seconds, WAYS, ("to", "made"))


def walk_kinds(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, {**KINDS, **KINDS_CPP})


def walk_passing(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, PASSING)


def walk_further(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, {**FURTHER, **FURTHER_CPP})


def walk_further_on(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, {**FURTHER_WAYS, **FURTHER_CPP_WAYS},
                ("to", "made"))


def walk_kinds_on(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, {**KINDS_WAYS, **KINDS_CPP_WAYS},
                ("to", "made"))


def walk_moves(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, MOVES)


def walk_moves_on(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, MOVES_WAYS, ("to", "made"))


def walk_asked(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, {**ASKED, **ASKED_CPP, **REPLIES})


def walk_asked_on(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, {**ASKED_WAYS, **ASKED_CPP_WAYS, **REPLIES_WAYS},
                ("to", "made"))


def walk_returned(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, RETURNED)


def walk_styles(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, {**STYLES, **HABITS, **STYLES_CPP})


def walk_styles_on(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, {**STYLES_WAYS, **HABITS_WAYS, **STYLES_CPP_WAYS},
                ("to", "made"))


def walk_chores(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, {**CHORES, **TASKS, **CHORES_CPP})


def walk_chores_on(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, {**CHORES_WAYS, **TASKS_WAYS, **CHORES_CPP_WAYS},
                ("to", "made"))


def walk_onward(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, ONWARD, ("to", "made"))


def walk_packets(trapline, program, seconds="3"):
    return walk(trapline, program, "packets", seconds, PACKETS, ("to", "heap:48@make_packet"))


def walk_blocks(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, BLOCKS, ("from", "heap:72@make_node+32:8"))


def walk_blocks_on(trapline, program, case, seconds="3"):
    return walk(trapline, program, case, seconds, BLOCKS_WAYS, ("to", "heap:72@make_node+32:8"))


def program_of(directory, level, name="flows"):
    return os.path.join(directory, f"flow_{name}_{level}")
