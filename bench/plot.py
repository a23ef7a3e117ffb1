# SPDX-License-Identifier: Apache-2.0
"""Line plots as plain SVG, readable on light and dark pages. Standard library only."""
import math

COLOURS = ["#3366cc", "#dc3912", "#109618", "#990099", "#ff9900", "#0099c6"]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 720, 400, 70, 190, 40, 50


def _ticks(low, high, logarithmic):
    if logarithmic:
        return [10.0 ** e for e in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    step = 10 ** math.floor(math.log10((high - low) or 1))
    while (high - low) / step > 6:
        step *= 2
    return [low + step * i for i in range(int((high - low) / step) + 2)]


def _label(value):
    return f"{value:g}" if value < 1e6 else f"{value:.0e}"


def plot(path, title, x_label, y_label, series, log_x=False, log_y=False):
    """series: {name: [(x, y), …]}"""
    points = [p for line in series.values() for p in line]
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    x_ticks = sorted(set(xs)) if len(set(xs)) <= 8 else _ticks(min(xs), max(xs), log_x)
    y_ticks = _ticks(min(ys) if log_y else 0, max(ys), log_y)
    x_low, x_high, y_low, y_high = x_ticks[0], x_ticks[-1], y_ticks[0], y_ticks[-1]

    def place(value, low, high, begin, end, logarithmic):
        if logarithmic:
            value, low, high = math.log10(value), math.log10(low), math.log10(high)
        return begin + (value - low) / ((high - low) or 1) * (end - begin)

    def at_x(x):
        return place(x, x_low, x_high, LEFT, WIDTH - RIGHT, log_x)

    def at_y(y):
        return place(y, y_low, y_high, HEIGHT - BOTTOM, TOP, log_y)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           'font-family="sans-serif" font-size="12">',
           '<style>text{fill:#222}.g{stroke:#8884}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>',
           f'<text x="{LEFT}" y="22" font-size="15">{title}</text>']
    for y in y_ticks:
        out.append(f'<line class="g" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at_y(y):.1f}" y2="{at_y(y):.1f}"/>'
                   f'<text x="{LEFT - 6}" y="{at_y(y) + 4:.1f}" text-anchor="end">{_label(y)}</text>')
    for x in x_ticks:
        out.append(f'<text x="{at_x(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{_label(x)}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{x_label}</text>')
    out.append(f'<text transform="translate(16 {HEIGHT / 2}) rotate(-90)" text-anchor="middle">{y_label}</text>')
    for i, (name, line) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        path_points = " ".join(f"{at_x(x):.1f},{at_y(y):.1f}" for x, y in line)
        out.append(f'<polyline points="{path_points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{at_x(x):.1f}" cy="{at_y(y):.1f}" r="3" fill="{colour}"/>' for x, y in line]
        out.append(f'<rect x="{WIDTH - RIGHT + 12}" y="{TOP + 20 * i}" width="12" height="12" fill="{colour}"/>'
                   f'<text x="{WIDTH - RIGHT + 30}" y="{TOP + 10 + 20 * i}">{name}</text>')
    out.append("</svg>\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out))
