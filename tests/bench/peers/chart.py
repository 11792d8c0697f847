"""A chart of a run, as SVG: for each workload a bar for each engine, on a logarithmic scale of seconds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from tests.bench.peers.engines import MODULES, OURS
from tests.bench.peers.workloads import WORKLOADS
from tests.bench.report import seconds, times

if TYPE_CHECKING:
    from tests.bench.peers.suite import Outcome

WIDTH, LEFT, RIGHT = 900, 150, 190  # of the picture, of the names, of the figures at the ends of bars
BAR, GAP, HEAD, FOOT = 13, 30, 44, 34
COLOURS = ("#1d5fa8", "#8a8a8a", "#e0a100", "#3f9b6c", "#b5527a", "#7b6bb8", "#c96a2b", "#4aa3b5", "#8c6d46", "#5f5f5f")


def draw(path: Path, results: Mapping[str, Sequence[Outcome]]) -> None:
    """Write the chart."""
    path.write_text(svg(bars(results)), encoding="utf-8")


def bars(results: Mapping[str, Sequence[Outcome]]) -> dict[str, list[tuple[str, float, str]]]:
    """By title, the engines with their seconds and what stands at the end of the bar; the fastest first."""
    titles = {workload.name: workload for workload in WORKLOADS}
    charts = {}
    for name, outcomes in results.items():
        workload = titles[name]
        what = "median transaction" if workload.changes else "whole process" if workload.measure == "wall" else workload.measure
        lines = []
        for outcome in outcomes:
            best, ratio = outcome.best(workload), outcome.ratio(workload)
            if best is not None:
                apart = " with loading" if outcome.whole and what == "evaluation" else ""
                lines.append((outcome.engine, best, seconds(best) + apart + (f", {times(ratio)} ours" if ratio else "")))
        charts[f"{name}: {workload.title} ({what})"] = sorted(lines, key=lambda line: line[1])
    return {title: lines for title, lines in charts.items() if lines}


def svg(charts: Mapping[str, Sequence[tuple[str, float, str]]]) -> str:
    """The text of the picture."""
    colours = dict(zip(MODULES, COLOURS, strict=True))
    values = [value for lines in charts.values() for _, value, _ in lines] or [1.0]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    wide = (WIDTH - LEFT - RIGHT) / max(1, high - low)
    height = HEAD + sum(GAP + BAR * len(lines) for lines in charts.values()) + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        '<text x="10" y="20" font-size="14" font-weight="bold">Seconds on a logarithmic scale; shorter is faster</text>',
    ]
    for power in range(low, high + 1):
        at = LEFT + (power - low) * wide
        parts.append(f'<line x1="{at:.1f}" y1="{HEAD - 10}" x2="{at:.1f}" y2="{height - FOOT}" stroke="#dddddd"/>')
        parts.append(f'<text x="{at:.1f}" y="{height - FOOT + 16}" text-anchor="middle" fill="#555555">{seconds(10.0**power)}</text>')
    y = HEAD
    for title, lines in charts.items():
        parts.append(f'<text x="10" y="{y + 12}" font-weight="bold">{escape(title)}</text>')
        y += GAP - 12
        for engine, value, label in lines:
            length = max(1.0, (math.log10(value) - low) * wide)
            weight = ' font-weight="bold"' if engine == OURS else ""
            parts.append(f'<text x="{LEFT - 6}" y="{y + 10}" text-anchor="end"{weight}>{escape(engine)}</text>')
            parts.append(f'<rect x="{LEFT}" y="{y + 1}" width="{length:.1f}" height="{BAR - 2}" fill="{colours[engine]}"/>')
            parts.append(f'<text x="{LEFT + length + 5:.1f}" y="{y + 10}"{weight}>{escape(label)}</text>')
            y += BAR
        y += 12
    return "\n".join([*parts, "</svg>", ""])
