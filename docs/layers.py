#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draw docs/layers.svg, the picture of the layers, and print it.

usage: docs/layers.py >docs/layers.svg"""

# (room, what it holds) from the ground up; a row's rooms stand side by side.
BOTH = [[("base", "system calls, counters")], [("insn", "one instruction")],
        [("event", "perf events, slots")], [("record", "plain data")]]
INSIDE = [[("unwind", "callers, in a handler")], [("signal", "ours and the program's")], [("region", "memory of any size")],
          [("trap", "events, delivery")],
          [("safepoint", ""), ("patch", ""), ("throttle", "")],
          [("agent", "the preload library")], [("allowance", "to run, to be held")],
          [("contact", "with the controller")], [("mask", "SIGTRAP's"), ("allocation", "of blocks")],
          [("handler", ""), ("execution", ""), ("guard", "")], [("life", "of a watched process")]]
OUTSIDE = [[("memory", ""), ("session", ""), ("inject", "ptrace")], [("mangling", ""), ("libc", ""), ("slice", "")],
           [("elf", "hostile files"), ("source", "its text")], [("module", "address → file"), ("dwarf", "units, lines")],
           [("symbol", "names, lines, variables")], [("atomicity", "meant or not?")],
           [("reader", "a confined process")], [("cost", "prices, budget")],
           [("process", "what the kernel tells of one")], [("program", "area, entries, counts")],
           [("target", "one watched, its slots")], [("sample", "rings, windows, look-ahead")],
           [("hit", ""), ("limit", ""), ("observe", ""), ("account", "")],
           [("history", ""), ("notice", "upcalls"), ("arrival", "")],
           [("explore", "ways, by name"), ("placed", "by tools")],
           [("usage", ""), ("aim", ""), ("hold", "")], [("choice", "the next watch")], [("team", "beginning together")],
           [("answer", "to a held thread")], [("strategy", "what is due")],
           [("lasting", "each hit told")], [("graft", "a fix from outside")], [("control", "the loop")], [("tool", "interface of detectors")],
           [("race", ""), ("heap", ""), ("stack", "")], [("uninit", ""), ("traffic", ""), ("watch", "")],
           [("flow", "where from, where to")],
           [("jsonl", "both ways"), ("suppression", "")], [("store", "many findings")], [("report", "text, HTML, SARIF")], [("cli", "trapline COMMAND")]]
WIDTH, ROW, GAP, MARGIN, TOP = 250, 46, 8, 24, 66
STYLE = """
  svg { font: 14px system-ui, sans-serif; color-scheme: light dark; }
  .sheet { fill: #ffffff; } .name { fill: #1a1a1a; font-weight: 600; } .note { fill: #555555; font-size: 12px; }
  .inside { fill: #fde9d9; stroke: #c4692b; } .outside { fill: #dcebfb; stroke: #2f6fb3; }
  .both { fill: #e6efe0; stroke: #5b8a3c; } .arrow { stroke: #555555; stroke-width: 1.5; fill: none; }
  .head { fill: #555555; }
  @media (prefers-color-scheme: dark) {
    .sheet { fill: #16181c; } .name { fill: #f0f0f0; } .note { fill: #b4b8bf; }
    .inside { fill: #4a2c17; stroke: #e0935c; } .outside { fill: #17324d; stroke: #6fa8e0; }
    .both { fill: #26361c; stroke: #93c072; } .arrow { stroke: #b4b8bf; } .head { fill: #b4b8bf; }
  }"""


def box(x, y, width, kind, name, note):
    middle = x + width / 2
    yield f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{ROW}" rx="6"/>'
    yield f'<text class="name" x="{middle:.0f}" y="{y + (20 if note else 28):.0f}" text-anchor="middle">{name}</text>'
    if note:
        yield f'<text class="note" x="{middle:.0f}" y="{y + 37:.0f}" text-anchor="middle">{note}</text>'


def column(x, floor, kind, title, rows):
    for height, rooms in enumerate(rows):
        y = floor - (height + 1) * (ROW + GAP) + GAP
        width = (WIDTH - GAP * (len(rooms) - 1)) / len(rooms)
        for place, (name, note) in enumerate(rooms):
            yield from box(x + place * (width + GAP), y, width, kind, name, note)
    top = floor - len(rows) * (ROW + GAP)
    yield f'<text class="name" x="{x + WIDTH / 2:.0f}" y="{top - 8:.0f}" text-anchor="middle">{title}</text>'


def main():
    columns = [("inside", "inside the watched program", INSIDE), ("both", "both", BOTH),
               ("outside", "outside: trapline", OUTSIDE)]
    floor = TOP + max(len(rows) for _, _, rows in columns) * (ROW + GAP)
    width, height = 2 * MARGIN + 3 * WIDTH + 2 * 40, floor + 44
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
          'aria-label="The rooms of Trapline: what runs inside the watched program, outside it, or both">')
    print("<!-- drawn by docs/layers.py -->")
    print(f"<style>{STYLE}\n</style>")
    print(f'<rect class="sheet" width="{width}" height="{height}"/>')
    for place, (kind, title, rows) in enumerate(columns):
        for line in column(MARGIN + place * (WIDTH + 40), floor, kind, title, rows):
            print(line)
    print(f'<text class="note" x="{width / 2:.0f}" y="{floor + 28}" text-anchor="middle">'
          'A room includes only rooms below it, of its own column or of the middle one.</text>')
    print("</svg>")


if __name__ == "__main__":
    main()
