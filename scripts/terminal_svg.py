# SPDX-License-Identifier: Apache-2.0
"""What a terminal shows after some output, as an SVG picture: enough of ECMA-48 for programs that write
lines, colours and tables that refresh in place."""
import re
import unicodedata
from xml.sax.saxutils import escape

CELL_WIDTH, LINE_HEIGHT, FONT_SIZE, MARGIN = 7.8, 18, 13, 14
# The eight colours and their bright forms, on the background.
COLOURS = ["#3b4252", "#e06c75", "#8fbf6f", "#d8b06a", "#6fa8dc", "#c68adf", "#66bfc8", "#d8dee9",
           "#6b7488", "#f08a92", "#a8d68a", "#ecca8a", "#8fc1ee", "#dba6f0", "#86d9e0", "#ffffff"]
BACKGROUND, FOREGROUND = "#1e2430", "#d8dee9"
SEQUENCE = re.compile(r"\x1b\[([?0-9;]*)([@-~])|\x1b[()][A-Z0-9]|\x1b[=>78cDEHM]|\x1b\][^\x07]*\x07")
NO_BREAK = "\u00a0"
PLAIN = {"fg": None, "bg": None, "bold": False, "dim": False, "reverse": False}


class Screen:
    """A grid of cells, each a character and its style, that grows downwards."""

    def __init__(self, columns):
        self.columns = columns
        self.lines = [[]]
        self.row = self.column = 0
        self.style = dict(PLAIN)

    def put(self, character):
        if self.column >= self.columns:
            self.column = 0
            self.move(self.row + 1)
        line = self.lines[self.row]
        while len(line) <= self.column:
            line.append((" ", dict(PLAIN)))
        line[self.column] = (character, dict(self.style))
        self.column += 1

    def move(self, row, column=None):
        self.row = max(0, row)
        if column is not None:
            self.column = max(0, column)
        while len(self.lines) <= self.row:
            self.lines.append([])

    def erase_line(self, mode):
        line = self.lines[self.row]
        if mode == 0:
            del line[self.column:]
        else:
            line[:] = []

    def erase(self, mode):
        if mode == 0:
            self.erase_line(0)
            del self.lines[self.row + 1:]
        else:
            self.lines = [[] for _ in range(self.row + 1)]

    def colour(self, numbers):
        """SGR, ECMA-48 8.3.117."""
        numbers = list(numbers) or [0]
        while numbers:
            number = numbers.pop(0)
            if number == 0:
                self.style = dict(PLAIN)
            elif number in (1, 2, 7):
                self.style[{1: "bold", 2: "dim", 7: "reverse"}[number]] = True
            elif number == 22:
                self.style["bold"] = self.style["dim"] = False
            elif number == 27:
                self.style["reverse"] = False
            elif 30 <= number <= 37 or 90 <= number <= 97:
                self.style["fg"] = number % 10 + (8 if number >= 90 else 0)
            elif 40 <= number <= 47:
                self.style["bg"] = number - 40
            elif number in (39, 49):
                self.style["fg" if number == 39 else "bg"] = None
            elif number in (38, 48) and numbers[:1] == [5]:
                self.style["fg" if number == 38 else "bg"] = numbers[1] % 16
                del numbers[:2]

    def control(self, arguments, final):
        if arguments.startswith("?"):
            return
        numbers = [int(number or 0) for number in arguments.split(";")] if arguments else []
        first = numbers[0] if numbers else 0
        if final == "m":
            self.colour(numbers)
        elif final in "Hf":
            self.move((first or 1) - 1, (numbers[1] if len(numbers) > 1 and numbers[1] else 1) - 1)
        elif final in "ABCD":
            step = first or 1
            self.move(self.row + {"A": -step, "B": step}.get(final, 0),
                      self.column + {"C": step, "D": -step}.get(final, 0))
        elif final == "G":
            self.move(self.row, (first or 1) - 1)
        elif final == "J":
            self.erase(first)
        elif final == "K":
            self.erase_line(first)

    def feed(self, text):
        at = 0
        while at < len(text):
            match = SEQUENCE.match(text, at)
            if match:
                if match[2]:
                    self.control(match[1], match[2])
                at = match.end()
                continue
            character = text[at]
            at += 1
            if character == "\n":
                self.move(self.row + 1, 0)
            elif character == "\r":
                self.move(self.row, 0)
            elif character == "\b":
                self.move(self.row, self.column - 1)
            elif character == "\t":
                self.move(self.row, (self.column // 8 + 1) * 8)
            elif character >= " ":
                self.put(character)


def runs(line):
    """(first column, text, style) of equal style."""
    start = 0
    while start < len(line):
        end = start
        while end < len(line) and line[end][1] == line[start][1]:
            end += 1
        yield start, "".join(character for character, _ in line[start:end]), line[start][1]
        start = end


def span(line_number, first, text, style):
    x = MARGIN + first * CELL_WIDTH
    y = MARGIN + (line_number + 1) * LINE_HEIGHT - 5 + LINE_HEIGHT
    fg = FOREGROUND if style["fg"] is None else COLOURS[style["fg"]]
    bg = None if style["bg"] is None else COLOURS[style["bg"]]
    if style["reverse"]:
        fg, bg = bg or BACKGROUND, fg
    attributes = f' fill="{fg}"' + (' font-weight="bold"' if style["bold"] else "") + (
        ' opacity="0.65"' if style["dim"] else "")
    if bg:
        yield (f'<rect x="{x:.1f}" y="{y - LINE_HEIGHT + 5:.1f}" width="{len(text) * CELL_WIDTH:.1f}" '
               f'height="{LINE_HEIGHT}" fill="{bg}"/>')
    blanks = len(text) - len(text.lstrip())
    text = text.strip()
    if text:
        # Each run is stretched to its cells, whatever font is there. SVG joins blanks: not these.
        yield (f'<text x="{x + blanks * CELL_WIDTH:.1f}" y="{y:.1f}" '
               f'textLength="{len(text) * CELL_WIDTH:.1f}" lengthAdjust="spacingAndGlyphs"{attributes}>'
               f'{escape(text.replace(" ", NO_BREAK))}</text>')


def picture(text, title, columns=110):
    """The SVG of what a terminal of so many columns shows after `text`."""
    screen = Screen(columns)
    screen.feed(unicodedata.normalize("NFC", text))
    while screen.lines and not any(character.strip() for character, _ in screen.lines[-1]):
        screen.lines.pop()
    width = 2 * MARGIN + columns * CELL_WIDTH
    height = 2 * MARGIN + (len(screen.lines) + 1) * LINE_HEIGHT
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
             f'viewBox="0 0 {width:.0f} {height}" role="img" xml:space="preserve">',
             f"<title>{escape(title)}</title>",
             f'<rect width="100%" height="100%" rx="8" fill="{BACKGROUND}"/>',
             *(f'<circle cx="{MARGIN + 6 + 18 * i}" cy="{MARGIN + 4}" r="5.5" fill="{colour}"/>'
               for i, colour in enumerate(("#e06c75", "#d8b06a", "#8fbf6f"))),
             f'<g font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace" '
             f'font-size="{FONT_SIZE}">']
    for number, line in enumerate(screen.lines):
        for first, piece, style in runs(line):
            parts += span(number, first, piece, style)
    return "\n".join(parts + ["</g>", "</svg>", ""])
