"""A chart of a run, as SVG: a line for each workload, and on it a dot for each engine where its time stands beside ours.

The scale is logarithmic, ours is the line in the middle. The ground is transparent, and what is written takes a colour that reads on
light and on dark ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

from tests.bench.peers.engines import HOMES, OURS, OWN
from tests.bench.peers.outcomes import Outcome, Results
from tests.bench.peers.workloads import WORKLOADS, Workload
from tests.bench.report import seconds

WIDTH, LEFT, RIGHT, LINE, HEAD, FOOT = 940, 330, 30, 22, 64, 30
DOT = 5.5
TITLE = "Time to ours, on a logarithmic scale: right of the blue line ours is faster"
COLOURS = {
    "by hand": "#8a8a8a",
    "duckdb": "#e0a100",
    "pathway": "#3f9b6c",
    "egglog": "#c2517f",
    "kuzu": "#7b6bd0",
    "clingo": "#d0702b",
    "nemo": "#3aa0c0",
    "souffle": "#a07b4a",
    "souffle compiled": "#d24b3e",
}
STYLE = """text { fill: #1f2328; } .faint { fill: #656d76; } .line { stroke: #d0d7de; } .ours { stroke: #0969da; stroke-width: 2; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .faint { fill: #9198a1; } .line { stroke: #3d444d; } .ours { stroke: #4493f8; }
}"""


def draw(path: Path, results: Results) -> None:
    """Write the chart."""
    path.write_text(svg(lines(results)), encoding="utf-8")


def lines(results: Results) -> list[tuple[str, str, list[tuple[str, float]]]]:
    """For each workload its title, what ours takes, and of each peer its time to ours."""
    found = []
    for workload in WORKLOADS:
        outcomes = results.get(workload.name, ())
        ours = next((one.best(workload) for one in outcomes if one.engine == OURS), None)
        if ours is not None:
            found.append((f"{workload.name}: {workload.title}", seconds(ours), _ratios(workload, outcomes)))
    return found


def _ratios(workload: Workload, outcomes: Sequence[Outcome]) -> list[tuple[str, float]]:
    return [(one.engine, ratio) for one in outcomes if one.engine not in OWN and (ratio := one.ratio(workload)) is not None]


def svg(charts: Sequence[tuple[str, str, Sequence[tuple[str, float]]]]) -> str:
    """The text of the picture."""
    ratios = [ratio for _, _, dots in charts for _, ratio in dots] or [1.0]
    low, high = min(-1, math.floor(math.log10(min(ratios)))), max(1, math.ceil(math.log10(max(ratios))))
    wide = (WIDTH - LEFT - RIGHT) / (high - low)
    height = HEAD + LINE * len(charts) + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="11">',
        f"<style>{STYLE}</style>",
        f'<text x="6" y="16" font-size="14" font-weight="bold">{TITLE}</text>',
        *_legend([name for name in HOMES if name in {engine for _, _, dots in charts for engine, _ in dots}]),
    ]
    for power in range(low, high + 1):
        x = LEFT + (power - low) * wide
        label = "ours" if power == 0 else f"{10**power:,}×" if power > 0 else f"1/{10**-power:,}"
        parts.append(f'<line class="{"line" if power else "ours"}" x1="{x:.1f}" y1="{HEAD - 8}" x2="{x:.1f}" y2="{height - FOOT}"/>')
        parts.append(f'<text class="faint" x="{x:.1f}" y="{height - FOOT + 16}" text-anchor="middle">{label}</text>')
    for number, (title, ours, dots) in enumerate(charts):
        y = HEAD + LINE * number + LINE // 2
        parts.append(f'<text x="6" y="{y + 4}">{escape(title)}</text>')
        parts.append(f'<text class="faint" x="{LEFT - 8}" y="{y + 4}" text-anchor="end">{escape(ours)}</text>')
        parts.append(f'<line class="line" x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}"/>')
        for engine, ratio in dots:
            x = LEFT + (math.log10(ratio) - low) * wide
            parts.append(_dot(engine, x, y, f"{engine}: {ratio:.3g}×"))
    return "\n".join([*parts, "</svg>", ""])


def _dot(engine: str, x: float, y: float, label: str = "") -> str:
    title = f"<title>{escape(label)}</title>" if label else ""
    return f'<circle cx="{x:.1f}" cy="{y}" r="{DOT}" fill="{COLOURS[engine]}" fill-opacity="0.9">{title}</circle>'


def _legend(engines: Sequence[str]) -> list[str]:
    parts, x = [], 12.0
    for engine in engines:
        parts += [_dot(engine, x, 36), f'<text x="{x + 10:.1f}" y="40">{escape(engine)}</text>']
        x += 34 + 6.2 * len(engine)
    return parts
